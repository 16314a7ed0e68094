"""Videos: in real time, as fast as told, in each format; mistakes are found before the work."""

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from sandlot.errors import MissingExtraError, RecordingError, SettingError
from sandlot.worlds import video
from sandlot.worlds.record import record_world
from sandlot.worlds.video import Video


def pictures(count, shape=(40, 60)):
    """Pictures that become brighter."""
    return [np.full((*shape, 3), 5 * k, np.uint8) for k in range(count)]


def write(path, steps_a_second, count, speed=1.0, shape=(40, 60)):
    with Video(path, steps_a_second, speed) as film:
        for each in pictures(count, shape):
            film.add(lambda each=each: each)
    return film


@pytest.mark.parametrize(
    ("steps_a_second", "speed", "every", "rate"),
    [(100.0, 1.0, 4, 25.0), (4.0, 1.0, 1, 4.0), (50.0, 1.0, 2, 25.0), (4.0, 10.0, 2, 20.0), (30.0, 1.0, 1, 30.0)],
)
def test_an_mp4_plays_in_real_time_or_as_much_faster_as_told(tmp_path, steps_a_second, speed, every, rate):
    film = write(tmp_path / "a.mp4", steps_a_second, 40, speed)
    assert (film.every, film.rate) == (every, rate)
    reader = imageio_ffmpeg.read_frames(str(tmp_path / "a.mp4"))
    about = next(reader)
    assert about["size"] == (60, 40)
    assert about["fps"] == pytest.approx(rate, abs=0.01)
    brightness = [np.frombuffer(each, np.uint8).mean() for each in reader]
    assert brightness == pytest.approx([5 * k for k in range(0, 40, every)], abs=4.0)


@pytest.mark.parametrize(("suffix", "count", "every"), [(".gif", 8, 4), (".webp", 10, 3)])
def test_moving_pictures_last_as_long_as_the_steps(tmp_path, suffix, count, every):
    path = tmp_path / f"a{suffix}"
    write(path, 50.0, 30)
    durations = []
    with Image.open(path) as image:
        assert image.n_frames == count
        for k in range(image.n_frames):
            image.seek(k)
            image.load()
            durations.append(image.info["duration"])
            assert np.asarray(image.convert("RGB")).mean() == pytest.approx(5 * every * k, abs=3.0)
    assert sum(durations) == pytest.approx(20 * every * count, abs=10)


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_pictures_of_another_size_are_cut_or_padded(tmp_path, suffix):
    with Video(tmp_path / f"a{suffix}", 10.0) as film:
        for shape in ((40, 60), (44, 50)):
            film.add(lambda shape=shape: np.zeros((*shape, 3), np.uint8))


def test_nothing_is_left_of_a_video_that_failed(tmp_path):
    def fail():
        raise RuntimeError

    film = Video(tmp_path / "a.mp4", 10.0)
    with pytest.raises(RuntimeError), film:
        film.add(fail)
    assert not list(tmp_path.iterdir())


def test_mistakes_are_found_before_anything_is_recorded(tmp_path, monkeypatch):
    def record(name, **given):
        record_world("leveling", tmp_path / "rec", 5, video=tmp_path / name, **given)

    with pytest.raises(SettingError, match=r"a video ends in \.mp4, \.gif, \.webp"):
        record("a.avi")
    with pytest.raises(SettingError, match="video speed of 0"):
        record("a.mp4", video_speed=0.0)
    (tmp_path / "old.gif").touch()
    with pytest.raises(RecordingError, match="already exists"):
        record("old.gif")

    def missing(module, extra):
        raise MissingExtraError(f"this needs {module}; install it with: pip install 'sandlot[{extra}]'")

    monkeypatch.setattr(video, "need", missing)
    with pytest.raises(MissingExtraError, match=r"sandlot\[video\]"):
        record("a.mp4")
    assert not (tmp_path / "rec").exists()


def test_a_recording_has_its_video(tmp_path):
    facts = record_world("leveling", tmp_path / "rec", 40, video=tmp_path / "a.gif", video_speed=2.0)
    assert facts["video"] == str(tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 9, "every fifth of 41 frames, for 60 steps a second at 12.5 pictures a second"
        assert max(image.size) == 480
