"""Opening a recording gives the frames and their origin, or one line that says what is wrong with it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

from sandlot import recordings
from sandlot.errors import SandlotError
from sandlot.recordings import Quantity, Writer
from sandlot.recordings.frames import ONCE

QUANTITIES = {
    "time": Quantity("s", "time since the start", dtype="int64"),
    "soil": Quantity("unit", "soil in each cell", ("y", "x"), (3, 4), "int16"),
    "reward": Quantity("1", "reward"),
    "survey": Quantity("unit", "soil of the whole ground", ("row",), (2,), "int16", every=2),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A recording of 10 frames in chunks of 4."""
    path = tmp_path / "recording"
    with Writer(
        path, QUANTITIES, settings={"size": {"x": 4, "y": 3}}, seed=2**100, world="Leveling-v0", chunk=4
    ) as out:
        for number in range(10):
            out.append(
                {
                    "time": np.array(number),
                    "soil": np.full((3, 4), number, np.int16),
                    "reward": np.array(np.nan if number == 5 else number / 2),
                    "survey": np.full(2, number, np.int16),
                }
            )
    return path


def fails(path: Path, reason: str) -> None:
    with pytest.raises(SandlotError) as caught:
        recordings.open(path)
    line = str(caught.value)
    assert str(path) in line
    assert reason in line
    assert "\n" not in line


def change(file: Path, alter: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(file.read_text())
    alter(content)
    file.write_text(json.dumps(content))


def test_dataset(path: Path) -> None:
    dataset = recordings.open(path)
    assert set(dataset.coords) == {"time", "time_survey"}
    assert set(dataset.data_vars) == {"soil", "reward", "survey"}
    assert dataset["time"].attrs == {"units": "s", "long_name": "time since the start"}
    assert dataset["soil"].dtype == np.int16
    assert dataset["soil"].sel(time=7).values.tolist() == [[7] * 4] * 3
    np.testing.assert_array_equal(dataset["reward"], [0, 0.5, 1, 1.5, 2, np.nan, 3, 3.5, 4, 4.5])


def test_a_sparse_quantity_has_its_own_time_axis(path: Path) -> None:
    dataset = recordings.open(path)
    assert dataset["survey"].dims == ("time_survey", "row")
    assert dataset["time_survey"].values.tolist() == [0, 2, 4, 6, 8]
    assert dataset["time_survey"].attrs["units"] == "s"
    assert dataset["survey"].sel(time_survey=6).values.tolist() == [6, 6]
    assert dataset["survey"].attrs["every"] == 2


def test_attributes(path: Path) -> None:
    dataset = recordings.open(str(path))
    attributes = dataset.attrs
    assert recordings.settings(dataset) == {"size": {"x": 4, "y": 3}}
    assert attributes["seed"] == 2**100
    assert attributes["world"] == "Leveling-v0"
    assert attributes["frames"] == 10
    assert {"version", "created"} < set(attributes)


def test_frames_of_an_episode_are_selected_by_time(tmp_path: Path) -> None:
    quantities = {
        "time": Quantity("s", "time since the start"),
        "episode": Quantity("1", "number of the episode", dtype="int64"),
        "survey": Quantity("m", "now and then", every=3),
        "bearings": Quantity("rad", "never changes", every=ONCE),
    }
    lengths = (4, 3, 5)
    frames = [(time, number) for number, length in enumerate(lengths) for time in range(length)]
    with Writer(tmp_path / "a", quantities, settings={}, seed=0, world="Indoor-v0") as out:
        for row, (time, number) in enumerate(frames):
            values = {"time": float(time), "survey": float(row), "bearings": 0.25}
            out.append({**{name: np.array(each) for name, each in values.items()}, "episode": np.array(number)})
    recording = recordings.open(tmp_path / "a")
    for number, length in enumerate(lengths):
        mine = recordings.episode(recording, number)
        assert mine["time"].values.tolist() == list(range(length))
        assert mine["episode"].sel(time=slice(1, 2)).values.tolist() == [number] * 2
        assert mine["bearings"].values.tolist() == [0.25]
        kept = [row for row in range(0, len(frames), 3) if frames[row][1] == number]
        assert mine["survey"].values.tolist() == kept
        assert mine["time_survey"].values.tolist() == [frames[row][0] for row in kept]
    with pytest.raises(SandlotError, match="no episode 3; its episodes: 0 to 2"):
        recordings.episode(recording, 3)


def test_a_recording_without_episodes_is_one(path: Path) -> None:
    xr.testing.assert_equal(recordings.episode(recordings.open(path), 0), recordings.open(path))


@pytest.mark.parametrize("every", [ONCE, 2**31])
def test_what_is_kept_once_can_be_kept_as_netcdf(tmp_path: Path, every: int) -> None:
    """Earlier versions wrote 2**31, which netCDF-3 cannot hold."""
    quantities = {"time": QUANTITIES["time"], "bearings": Quantity("rad", "never changes", every=every)}
    with Writer(tmp_path / "a", quantities, settings={}, seed=0, world="Indoor-v0") as out:
        for number in range(3):
            out.append({"time": np.array(number, QUANTITIES["time"].dtype), "bearings": np.array(0.25)})
    recordings.open(tmp_path / "a").to_netcdf(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc") as read:
        assert read["bearings"].values.tolist() == [0.25]


@pytest.mark.parametrize("seed", [None, 7])
def test_it_can_be_kept_as_netcdf(tmp_path: Path, seed: int | None) -> None:
    quantities = {**QUANTITIES, "exploded": Quantity("1", "whether it has", dtype="bool")}
    given = {"size": {"x": 4, "y": 3}, "note": None}
    with Writer(tmp_path / "a", quantities, settings=given, seed=seed, world="Leveling-v0") as out:
        for number in range(3):
            zeros = {name: np.zeros(each.shape, each.dtype) for name, each in quantities.items()}
            out.append({**zeros, "time": np.array(number)})
    recording = recordings.open(tmp_path / "a")
    recording.to_netcdf(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc") as read:
        xr.testing.assert_equal(read.load(), recording.load())
        assert recordings.settings(read) == given
        assert read.attrs == recording.attrs
        assert read.attrs.get("seed") == seed


def test_frames_are_read_when_used(path: Path) -> None:
    dataset = recordings.open(path)
    (path / "soil" / "c.0.0.0").write_bytes(b"garbled")
    assert dataset["soil"][4:].values.min() == 4
    with pytest.raises(RuntimeError):
        dataset["soil"].load()


def test_one_changed_bit_is_noticed(path: Path) -> None:
    chunk = path / "reward" / "c.1"
    garbled = bytearray(chunk.read_bytes())
    garbled[len(garbled) // 2] ^= 1
    chunk.write_bytes(garbled)
    with pytest.raises(RuntimeError):
        recordings.open(path)["reward"].load()


def test_unfinished_recording(tmp_path: Path) -> None:
    path = tmp_path / "a"
    out = Writer(path, {"time": QUANTITIES["time"]}, settings={}, seed=None, world="Leveling-v0")
    assert recordings.open(path).sizes["time"] == 0
    out.append({"time": np.array(0)})
    out.flush()
    out.append({"time": np.array(1)})
    before = recordings.open(path)
    out.close()
    assert before["time"].values.tolist() == [0]
    assert recordings.open(path)["time"].values.tolist() == [0, 1]


def test_nothing_there(tmp_path: Path) -> None:
    fails(tmp_path / "nothing", "there is no recording")


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.nc").write_text("")
    fails(tmp_path / "a.nc", "is a file; a recording is a directory")


def test_another_directory(tmp_path: Path) -> None:
    fails(tmp_path, "is not a Zarr store")


def test_another_zarr_store(tmp_path: Path) -> None:
    xr.Dataset({"a": ("x", [1, 2])}).to_zarr(tmp_path / "dataset", zarr_format=3, consolidated=False)
    zarr.create_array(tmp_path / "array", shape=(2,), dtype="int8")
    fails(tmp_path / "dataset", "is a Zarr store but not a recording")
    fails(tmp_path / "array", "is a Zarr store but not a recording")


def test_newer_format(path: Path) -> None:
    change(path / "zarr.json", lambda root: root["attributes"].update(format_version=2))
    fails(path, "has recording format 2, newer than 1, the newest known here; update Sandlot")


@pytest.mark.parametrize("content", ["", '{"zarr_format": 3, "attr', "[1]", "\x00\x00"])
def test_damaged_root(path: Path, content: str) -> None:
    (path / "zarr.json").write_text(content)
    fails(path, "is damaged: its zarr.json cannot be understood")


@pytest.mark.parametrize(
    "alter",
    [
        lambda root: root.pop("consolidated_metadata"),
        lambda root: root["attributes"].pop("format_version"),
        lambda root: root["attributes"].update(settings="{"),
        lambda root: root["consolidated_metadata"]["metadata"]["soil"].update(data_type="soup"),
        lambda root: root["consolidated_metadata"]["metadata"]["soil"].update(shape=[9, 3, 4]),
        lambda root: root["consolidated_metadata"]["metadata"]["soil"].pop("chunk_grid"),
        lambda root: root["consolidated_metadata"]["metadata"]["survey"].update(shape=[4, 2]),
    ],
)
def test_damaged_metadata(path: Path, alter: Callable[[dict[str, Any]], object]) -> None:
    change(path / "zarr.json", alter)
    fails(path, "is damaged")


def test_deeply_nested_metadata(path: Path) -> None:
    (path / "zarr.json").write_text(100_000 * "[" + 100_000 * "]")
    fails(path, "is damaged: its zarr.json cannot be understood")
    change_settings = 5_000 * '{"a":' + "1" + 5_000 * "}"
    (path / "soil" / "zarr.json").write_text(change_settings)
    fails(path, "is damaged")


@pytest.mark.parametrize("name", QUANTITIES)
def test_missing_array(path: Path, name: str) -> None:
    shutil.rmtree(path / name)
    fails(path, "is damaged")


def test_damaged_array(path: Path) -> None:
    (path / "soil" / "zarr.json").write_text("{")
    fails(path, "is damaged")


@pytest.mark.parametrize("garble", [Path.unlink, lambda chunk: chunk.write_bytes(b"")])
def test_missing_chunk(path: Path, garble: Callable[[Path], object]) -> None:
    garble(path / "soil" / "c.2.0.0")
    fails(path, "is damaged: soil of frames 8 to 9 is missing")


def test_missing_chunk_of_a_sparse_quantity(path: Path) -> None:
    (path / "survey" / "c.0.0").unlink()
    fails(path, "is damaged: survey of frames 0 to 6 is missing")


def test_garbled_time(path: Path) -> None:
    (path / "time" / "c.1").write_bytes(b"garbled")
    fails(path, "is damaged")
