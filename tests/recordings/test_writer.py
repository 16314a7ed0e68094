"""A recording shows every flushed frame and nothing else, whenever and however its writer ends.

The kill tests run this file as a program: it imports once, then forks writers and
kills them, so that a hundred kills take a few seconds.
"""

import errno
import itertools
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot import recordings
from sandlot.errors import RecordingError, SandlotError
from sandlot.recordings import Frame, Quantity, Writer
from sandlot.recordings.columns import Column
from sandlot.recordings.frames import ONCE
from sandlot.recordings.logs import import_log

QUANTITIES = {
    "time": Quantity("s", "time since the start"),
    "heights": Quantity("m", "height of the ground", ("y", "x"), (48, 64), "int32"),
    "speeds": Quantity("m/s", "speed of each wheel", ("wheel",), (4,), "float32"),
    "done": Quantity("1", "task is done", dtype="bool"),
    "survey": Quantity("m", "height of the whole ground", ("row", "column"), (5, 7), "float32", every=3),
}


def frame(number: int) -> Frame:
    """Zeros in frame 0, so that Zarr is tempted to leave out a chunk; then something that does not compress."""
    noise = number * np.arange(1, 1 + 48 * 64, dtype=np.uint32) * np.uint32(2654435761)
    return {
        "time": np.array(0.1 * number),
        "heights": noise.astype(np.int32).reshape(48, 64),
        "speeds": np.full(4, number, np.float32),
        "done": np.array(number % 3 == 1),
        "survey": np.full((5, 7), 0.5 * number, np.float32),
    }


def writer(path: Path, chunk: int = 256) -> Writer:
    return Writer(path, QUANTITIES, settings={"depth": 2, "tags": ["a"]}, seed=7, world="Water-v0", chunk=chunk)


def check(dataset: xr.Dataset, frames: int) -> None:
    assert dataset.sizes["time"] == frames
    for name, quantity in QUANTITIES.items():
        every = {"every": quantity.every} if quantity.every > 1 else {}
        assert dataset[name].dims == (f"time_{name}" if every else "time", *quantity.dims)
        assert dataset[name].dtype == quantity.dtype
        assert dataset[name].attrs == {"units": quantity.units, "long_name": quantity.long_name, **every}
        numbers = range(0, frames, quantity.every)
        for number, value in zip(numbers, dataset[name].values, strict=True):
            np.testing.assert_array_equal(value, frame(number)[name], err_msg=f"{name} of frame {number}")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_constant_quantity_is_kept_once(tmp_path: Path) -> None:
    quantities = {"time": QUANTITIES["time"], "angles": Quantity("rad", "angles", ("beam",), (5,), every=ONCE)}
    with Writer(tmp_path / "a", quantities, settings={}, seed=None, world="a", chunk=4) as out:
        for number in range(11):
            out.append({"time": np.array(0.1 * number), "angles": np.full(5, float(number))})
    dataset = recordings.open(tmp_path / "a")
    np.testing.assert_array_equal(dataset["angles"], np.zeros((1, 5)))
    assert dataset["angles"].encoding["chunks"] == (1, 5)
    assert dataset.sizes["time"] == 11


def test_settings_can_be_amended(tmp_path: Path) -> None:
    with writer(tmp_path / "a") as out:
        out.append(frame(0))
        out.flush()
        with pytest.raises(ValueError, match="plain JSON"):
            out.amend({"a": {1, 2}})
        out.amend({"depth": 3})
        assert recordings.settings(recordings.open(tmp_path / "a")) == {"depth": 2, "tags": ["a"]}
    assert recordings.settings(recordings.open(tmp_path / "a")) == {"depth": 3}
    check(recordings.open(tmp_path / "a"), 1)


@pytest.mark.parametrize("frames", [0, 1, 8, 19])
def test_closed_recording_is_plain_zarr(tmp_path: Path, frames: int) -> None:
    with writer(tmp_path / "deep" / "a", chunk=8) as out:
        for number in range(frames):
            out.append(frame(number))
    assert out.frames == frames
    for consolidated in (True, False):
        check(xr.open_zarr(tmp_path / "deep" / "a", consolidated=consolidated, chunks=None), frames)
    check(recordings.open(tmp_path / "deep" / "a"), frames)
    assert names(tmp_path / "deep") == ["a"]


def test_recording_says_where_it_comes_from(tmp_path: Path) -> None:
    writer(tmp_path / "a").close()
    attributes = json.loads((tmp_path / "a" / "zarr.json").read_text())["attributes"]
    assert attributes.pop("created").endswith("+00:00")
    assert attributes.pop("version")
    assert json.loads(attributes.pop("settings")) == {"depth": 2, "tags": ["a"]}
    assert attributes == {
        "format": "sandlot recording",
        "format_version": 1,
        "world": "Water-v0",
        "seed": 7,
        "frames": 0,
    }


@settings(max_examples=25, deadline=None)
@given(chunk=st.integers(1, 5), actions=st.lists(st.sampled_from(["append", "append", "flush", "look"]), max_size=15))
def test_only_flushed_frames_are_seen(chunk: int, actions: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a"
        appended = flushed = 0
        with writer(path, chunk) as out:
            for action in [*actions, "look"]:
                if action == "append":
                    out.append(frame(appended))
                    appended += 1
                elif action == "flush":
                    out.flush()
                surveys, between = divmod(appended + 2, 3)  # one in frames 0, 3, 6 ...
                if action == "flush" or appended % chunk == 0 or (between == 0 and surveys % chunk == 0):
                    flushed = appended
                assert out.frames == flushed
                if action == "look":
                    check(recordings.open(path), flushed)
        check(recordings.open(path), appended)


def test_frames_before_an_exception_are_kept(tmp_path: Path) -> None:
    def interrupted() -> None:
        with writer(tmp_path / "a") as out:
            out.append(frame(0))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    check(recordings.open(tmp_path / "a"), 1)


def test_appended_arrays_may_be_reused(tmp_path: Path) -> None:
    with writer(tmp_path / "a") as out:
        reused = {name: value.copy() for name, value in frame(0).items()}
        for number in range(3):
            for name, value in frame(number).items():
                reused[name][...] = value
            out.append(reused)
    check(recordings.open(tmp_path / "a"), 3)


@settings(max_examples=15, deadline=None)
@given(every=st.integers(1, 7), size=st.integers(0, 3), chunk=st.integers(1, 5), flushes=st.sets(st.integers(0, 30)))
def test_a_sparse_quantity_survives_any_flush(every: int, size: int, chunk: int, flushes: set[int]) -> None:
    """After each flush the recording is opened as if its writer had been killed there."""
    quantities = {
        "time": QUANTITIES["time"],
        "survey": Quantity("m", "ground", ("x",), (size,), "int64", every=every),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a"
        with Writer(path, quantities, settings={}, seed=None, world="Terrain-v0", chunk=chunk) as out:
            for number in range(31):
                out.append({"time": np.array(0.1 * number), "survey": np.full(size, number)})
                if number in flushes:
                    out.flush()
                    assert out.frames == number + 1
                if out.frames == number + 1:
                    survey = recordings.open(path)["survey"].load()
                    assert survey.values.tolist() == [size * [k] for k in range(0, number + 1, every)]
                    assert survey[survey.dims[0]].values.tolist() == [0.1 * k for k in range(0, number + 1, every)]


def test_a_large_sparse_quantity_has_small_chunks(tmp_path: Path) -> None:
    large = Quantity("m", "ground", ("y", "x"), (600, 600), "float32", every=1000)
    quantities = {"time": QUANTITIES["time"], "survey": large}
    with Writer(tmp_path / "a", quantities, settings={}, seed=None, world="Terrain-v0") as out:
        for number in range(300):
            out.append({"time": np.array(0.1 * number), "survey": np.full((600, 600), number, np.float32)})
    assert names(tmp_path / "a" / "survey") == ["c.0.0.0", "zarr.json"]
    array = json.loads((tmp_path / "a" / "survey" / "zarr.json").read_text())
    assert array["chunk_grid"]["configuration"]["chunk_shape"] == [2, 600, 600]
    assert names(tmp_path / "a" / "time") == ["c.0", "c.1", "zarr.json"]


def test_axis_of_length_zero(tmp_path: Path) -> None:
    quantities = {"time": QUANTITIES["time"], "hits": Quantity("m", "obstacles hit", ("obstacle", "axis"), (0, 2))}
    with Writer(tmp_path / "a", quantities, settings={}, seed=None, world="Indoor-v0") as out:
        out.append({"time": np.array(0.0), "hits": np.zeros((0, 2))})
    assert recordings.open(tmp_path / "a")["hits"].shape == (1, 0, 2)


def test_existing_path_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("mine")
    writer(tmp_path / "recording").close()
    for name in ("empty", "file", "recording"):
        with pytest.raises(SandlotError, match=f"{name} already exists; choose another path"):
            writer(tmp_path / name)
    with pytest.raises(SandlotError, match="already exists"):
        writer(Path())
    assert names(tmp_path) == ["empty", "file", "recording"]
    assert (tmp_path / "file").read_text() == "mine"


def test_path_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SandlotError, match=r"^cannot write .*file/a: Not a directory$"):
        writer(tmp_path / "file" / "a")
    assert names(tmp_path) == ["file"]


def test_failed_flush_can_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "a"
    out = writer(path, chunk=2)
    for number in range(3):
        out.append(frame(number))
    heights = path.joinpath("heights").rename(tmp_path / "away")
    path.joinpath("heights").write_text("in the way")
    with pytest.raises(SandlotError, match=r"^could not write recording .*a: [^\n]*$"):
        out.append(frame(3))
    assert out.frames == 2
    path.joinpath("heights").unlink()
    heights.rename(path / "heights")
    check(recordings.open(path), 2)
    out.append(frame(4))
    assert out.frames == 4
    out.close()
    check(recordings.open(path), 5)


def test_another_thread_writes_the_same_files(tmp_path: Path) -> None:
    for background in (False, True):
        path = tmp_path / str(background)
        out = Writer(path, QUANTITIES, settings={}, seed=7, world="a", chunk=4, background=background)
        for number in range(23):
            out.append(frame(number))
            if number == 9:
                out.flush()
                assert out.frames == 10
        out.close()
        check(recordings.open(path), 23)
    for name in QUANTITIES:
        chunks = names(tmp_path / "True" / name)
        assert chunks == names(tmp_path / "False" / name)
        for chunk in chunks:
            one, other = ((tmp_path / each / name / chunk).read_bytes() for each in ("True", "False"))
            assert one == other


def test_what_another_thread_could_not_write_is_raised_later_and_kept(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a"
    out = Writer(path, QUANTITIES, settings={}, seed=7, world="a", chunk=2, background=True)
    for number in range(2):
        out.append(frame(number))
    out.flush()

    def refuse(column):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Column, "write", refuse)
        out.append(frame(2))
        out.append(frame(3))  # begins to write both
        out.append(frame(4))
        with pytest.raises(RecordingError, match=r"no space left .* holds the 2 frames before"):
            out.append(frame(5))
        with pytest.raises(RecordingError, match="no space left"):
            out.append(frame(6))  # is not taken
    check(recordings.open(path), 2)
    out.append(frame(6))
    out.close()
    check(recordings.open(path), 7)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "no space left on the disk of "),
        (errno.EDQUOT, "no space left on the disk of "),
        (errno.EROFS, "is on a read-only medium"),
    ],
)
def test_a_full_or_read_only_disk_is_named_and_flushed_frames_are_kept(tmp_path, monkeypatch, number, said):
    out = writer(tmp_path / "a", chunk=2)
    for each in range(3):
        out.append(frame(each))

    def refuse(column):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(Column, "write", refuse)
        with pytest.raises(RecordingError, match=said) as error:
            out.append(frame(3))
        assert "holds the 2 frames before" in str(error.value)
        assert "damaged" not in str(error.value)
    check(recordings.open(tmp_path / "a"), 2)
    out.close()
    check(recordings.open(tmp_path / "a"), 4)


def test_a_real_limit_of_the_file_size_is_named(tmp_path: Path) -> None:
    """The operating system refuses files of more than 8 kB, as it would on a full disk."""
    path = tmp_path / "a"
    subprocess.run([sys.executable, __file__, "of_a_size_limit", path], check=True, timeout=120)
    said = (tmp_path / "said").read_text()
    assert said.startswith(f"could not write recording {path}: no space left for {path}")
    check(recordings.open(path), 1)
    assert not list(path.rglob("*.partial"))


def test_an_import_onto_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("time,range_0\n1,2\n")

    def refuse(column):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Column, "write", refuse)
    with pytest.raises(RecordingError, match="no space left on the disk of"):
        import_log(tmp_path / "a.csv", tmp_path / "a", partial=True)
    assert names(tmp_path) == ["a.csv"]


def test_wrong_frame_and_closed_writer(tmp_path: Path) -> None:
    out = writer(tmp_path / "a")
    with pytest.raises(ValueError, match="frame has"):
        out.append({"time": np.array(0.0)})
    out.close()
    out.close()
    with pytest.raises(ValueError, match="is closed"):
        out.append(frame(0))
    check(recordings.open(tmp_path / "a"), 0)


@pytest.mark.parametrize(
    ("quantities", "message"),
    [
        ({}, "needs a quantity 'time'"),
        ({"time": Quantity("m", "a length")}, "needs a quantity 'time'"),
        ({"time": Quantity("s", "times", ("x",), (2,))}, "needs a quantity 'time'"),
        ({"a/b": Quantity("m", "a path")}, "cannot name a quantity"),
        ({"a": Quantity("m", "history", ("time",), (2,))}, "'time' is added"),
        ({"time": Quantity("s", "time", every=2)}, "in every frame"),
        ({"a": Quantity("m", "a", every=2), "time_a": Quantity("m", "b")}, "is the time axis"),
        ({"a": Quantity("m", "a", every=2), "b": Quantity("m", "b", ("time_a",), (2,))}, "'time' is added"),
        ({"a": Quantity("m", "square", ("x", "x"), (2, 2))}, "must differ"),
        ({"a": Quantity("m", "a", ("x",), (2,)), "b": Quantity("m", "b", ("x",), (3,))}, "dim 'x' has length 3 in b"),
    ],
)
def test_quantities_that_do_not_fit(tmp_path: Path, quantities: dict[str, Quantity], message: str) -> None:
    if quantities and "time" not in quantities:
        quantities = {"time": Quantity("s", "time since the start"), **quantities}
    with pytest.raises(ValueError, match=message):
        Writer(tmp_path / "a", quantities, settings={}, seed=None, world="Water-v0")
    assert names(tmp_path) == []


def test_a_quantity_is_kept_at_least_every_so_often() -> None:
    with pytest.raises(ValueError, match="kept every 0 frames; at least 1"):
        Quantity("m", "height", every=0)


def test_settings_and_chunk_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="settings must be plain JSON"):
        Writer(tmp_path / "a", QUANTITIES, settings={"depth": np.zeros(2)}, seed=None, world="Water-v0")
    with pytest.raises(ValueError, match="at least 1"):
        writer(tmp_path / "a", chunk=0)
    assert names(tmp_path) == []


# Killed processes. Functions whose names start with "die" run in the forked processes.


def check_survivors(folder: Path) -> list[int]:
    """Check what each killed writer left; returns numbers of frames, -1 where nothing was created yet."""
    found = []
    for log in sorted(folder.glob("*.log")):
        promised = max(map(int, log.read_text().split()), default=-1)
        path = log.with_suffix("")
        frames = recordings.open(path).sizes["time"] if path.exists() else -1
        assert frames >= promised
        if frames >= 0:
            check(recordings.open(path), frames)
            check(xr.open_zarr(path, chunks=None), frames)
        found.append(frames)
    return found


def test_killed_at_random_moments(tmp_path: Path) -> None:
    subprocess.run([sys.executable, __file__, "at_random_moments", tmp_path], check=True, timeout=120)
    found = check_survivors(tmp_path)
    assert len(found) == 60
    assert max(found) > 0


@pytest.mark.filterwarnings("error")
def test_killed_before_every_change_on_disk(tmp_path: Path) -> None:
    subprocess.run([sys.executable, __file__, "before_every_change", tmp_path], check=True, timeout=120)
    found = check_survivors(tmp_path)
    assert found == sorted(found)
    assert set(found) == {-1, 0, 1, 2, 4, 5}
    for path in tmp_path.glob("*[0-9]"):  # what was left half-written must not make Zarr warn either
        xr.open_zarr(path, consolidated=False, chunks=None, drop_variables=QUANTITIES)


def die_at_random_moments(folder: Path) -> None:
    rng = random.Random(20)
    for number in range(60):
        log = folder / f"{number:03}.log"
        child = fork_writer(log, chunk=16, frames=10**6, flush_every=rng.choice([5, 1000]))
        if number % 2:  # else it dies young, most likely during creation
            while not log.stat().st_size:
                time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.1 if number % 2 else 0.06))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def die_before_every_change(folder: Path) -> None:
    for change in itertools.count(1):
        child = fork_writer(folder / f"{change:03}.log", chunk=2, frames=5, flush_every=5, last_change=change)
        if os.waitpid(child, 0)[1] == 0:
            return


def die_of_a_size_limit(path: Path) -> None:
    out = writer(path, chunk=1)
    out.append(frame(0))  # zeros, which compress
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**13, resource.RLIM_INFINITY))
    try:
        out.append(frame(1))
    except RecordingError as error:
        path.with_name("said").write_text(str(error))


def fork_writer(log: Path, chunk: int, frames: int, flush_every: int, last_change: int | None = None) -> int:
    """Start a writer that logs each number of frames it has flushed; returns its process id."""
    promises = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    if child := os.fork():
        os.close(promises)
        return child
    if last_change:
        die_before(last_change, log.parent)
    with writer(log.with_suffix(""), chunk) as out:
        for number in range(frames):
            os.write(promises, b"%d\n" % out.frames)
            out.append(frame(number))
            if number % flush_every == 0:
                out.flush()
    os.write(promises, b"%d\n" % out.frames)
    os._exit(0)


def die_before(last_change: int, folder: Path) -> None:
    """Kill this process when it is about to open, move or make a file in ``folder`` for the given time."""
    changes = itertools.count(1)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        changing = event in {"open", "os.rename", "os.mkdir"} and str(arguments[0]).startswith(str(folder))
        if changing and next(changes) == last_change:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


if __name__ == "__main__":
    globals()[f"die_{sys.argv[1]}"](Path(sys.argv[2]))


@pytest.mark.parametrize("background", [False, True])
def test_frames_written_in_place_are_kept_as_appended_ones(tmp_path, background):
    with Writer(
        tmp_path / "a", QUANTITIES, settings={}, seed=0, world="Water-v0", chunk=8, background=background
    ) as made:
        number = 0
        for wanted in (1, 5, 2, 8, 3, 1, 1, 8, 8):
            rows = made.room()
            count = min(wanted, len(rows["time"]), made.until_sparse)
            frames = [frame(number + k) for k in range(count)]
            assert set(rows) == set(QUANTITIES) - {"survey"}
            for name, values in rows.items():
                values[:count] = [each[name] for each in frames]
            made.filled(count, frames[-1])
            number += count
            if wanted == 2:
                made.append(frame(number))
                made.flush()
                number += 1
    check(recordings.open(tmp_path / "a").load(), number)


def test_more_frames_in_place_than_up_to_the_next_sparse_one_are_refused(tmp_path):
    with writer(tmp_path / "a") as made:
        made.append(frame(0))
        assert made.until_sparse == 3
        with pytest.raises(ValueError, match="at most 3"):
            made.filled(4, frame(4))
    with pytest.raises(ValueError, match="closed"):
        made.room()
