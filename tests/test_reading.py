"""Reading TOML, JSON and YAML: bounded in bytes and nesting, from regular files only."""

import os
import time

import pytest

from sandlot.errors import PlaceError, SandlotError, SettingError, os_reason
from sandlot.reading import MAX_NESTING, parse_json, parse_toml, read_bytes, read_json, read_toml, read_yaml

READERS = {"toml": read_toml, "json": read_json, "yaml": read_yaml}
DEEP = {
    "toml": [
        "a = " + 50_000 * "[",
        "a = " + 200 * "[" + 200 * "]",
        "[" + ".".join(50_000 * "a") + "]",
        ".".join(50_000 * "a") + " = 1",
        200 * "{a=",
    ],
    "json": [50_000 * "[", 50_000 * '{"a":', 200 * "[" + 200 * "]", '{"a":' * 200 + "1" + "}" * 200],
    "yaml": [2_000 * "[", 2_000 * "{", 2_000 * "- ", 2_000 * "? "],
}


def said(read, *arguments, **options) -> str:
    with pytest.raises(SandlotError) as caught:
        read(*arguments, **options)
    assert len(str(caught.value)) < 400
    assert type(caught.value) is options.get("error", SettingError)
    return str(caught.value)


@pytest.mark.parametrize("kind", READERS)
def test_deep_nesting_is_refused(tmp_path, kind):
    for number, text in enumerate(DEEP[kind]):
        path = tmp_path / f"{number}.{kind}"
        path.write_text(text)
        assert str(path) in said(READERS[kind], path, error=PlaceError)


def test_moderate_nesting_is_fine():
    text = MAX_NESTING * "[" + MAX_NESTING * "]"
    assert [parse_json(text[1:-1])] == [parse_toml(f"a = {text[1:-1]}")["a"]]
    assert parse_json(text)
    with pytest.raises(ValueError, match="nested more than"):
        parse_json(f"[{text}]")


@pytest.mark.parametrize(
    "text", ["a: &a 1\nb: 2\n", "a: &a [1]\nb: *a\n", "a: {<<: {b: 1}}\n", "<<: {a: 1}\n", "a: &a {}\nb: {<<: *a}\n"]
)
def test_anchors_and_merge_keys_are_refused(tmp_path, text):
    (tmp_path / "a.yaml").write_text(text)
    assert "not allowed" in said(read_yaml, tmp_path / "a.yaml")


def test_a_merge_key_bomb_takes_no_time(tmp_path):
    levels = "".join(f"l{n}: &l{n} {{<<: [{', '.join(9 * [f'*l{n - 1}'])}]}}\n" for n in range(1, 9))
    (tmp_path / "a.yaml").write_text("l0: &l0 {a: 1}\n" + levels)
    began = time.process_time()
    said(read_yaml, tmp_path / "a.yaml")
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize("kind", READERS)
def test_files_that_are_too_large_are_refused(tmp_path, kind):
    (tmp_path / "a").write_text(" " * 101)
    assert "more than 100 bytes" in said(READERS[kind], tmp_path / "a", 100)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_only_regular_files_are_read(tmp_path, make):
    make(tmp_path / "a")
    assert said(read_bytes, tmp_path / "a").endswith((": it is not a regular file", ": it is a directory"))


@pytest.mark.parametrize("kind", READERS)
def test_a_message_quotes_little_of_the_input(tmp_path, kind):
    (tmp_path / "a").write_text("]" + "x" * 5000)
    assert "xxxxxxxxxx" * 10 not in said(READERS[kind], tmp_path / "a")


def test_other_errors_of_the_disk_keep_their_reason():
    assert os_reason(PermissionError(13, "Permission denied"), "a") == "Permission denied"
