import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sandlot.errors import PlaceError, SandlotError
from sandlot.places.terrains import TERRAINS, from_image, heap, hills, seam


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0.5, 20), st.floats(0, 50), st.floats(0, 1))
def test_hills_span_their_relief(ny, nx, size, relief, roughness):
    field = hills((ny, nx), np.random.default_rng(0), size, relief, roughness)
    assert field.shape == (ny, nx)
    assert field.min() == 0.0
    if ny * nx > 1:
        assert field.max() == pytest.approx(relief)


def test_hills_repeat_by_seed_and_differ_between_seeds():
    first, again, other = (hills((16, 16), np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.parametrize("roughness", [0.0, 0.5, 1.0])
def test_tileable_hills_have_no_seam_and_others_do(roughness):
    for seed in range(5):
        whole, cut = (
            hills((96, 128), np.random.default_rng(seed), 10, 1.0, roughness, tileable) for tileable in (True, False)
        )
        assert np.ptp(whole) == pytest.approx(1.0)
        assert seam(whole) < 2.0
        assert seam(cut) > 4.0


def test_seam_compares_the_step_across_edges_with_those_inside():
    assert seam(np.zeros((4, 5))) == 0.0
    ramp = np.tile(np.arange(10.0), (6, 1))
    assert seam(ramp) == seam(ramp.T) == 9.0
    wave = np.tile(np.sin(2 * np.pi * np.arange(50) / 50), (3, 1))
    assert seam(wave) == pytest.approx(1.0, abs=0.5)
    assert seam(np.array([[0.0, 1.0]])) == 1.0


def steepness(size, roughness):
    """Mean slope over standard deviation [1/cell], on terrains much larger than a hill."""
    fields = [hills((256, 256), np.random.default_rng(seed), size, 1.0, roughness) for seed in range(3)]
    return np.mean([np.abs(np.diff(field, axis=0)).mean() / field.std() for field in fields])


def test_hills_of_twice_the_size_are_half_as_steep():
    assert steepness(4, 0) / steepness(8, 0) == pytest.approx(2.0, rel=0.1)


def test_roughness_adds_detail():
    assert steepness(8, 1.0) > 2 * steepness(8, 0.5) > 2 * steepness(8, 0.0)


def test_a_heap_stands_in_the_middle_of_flat_ground():
    field = heap((21, 21), radius=5, relief=10)
    assert field[10, 10] == field.max() == 10
    assert field[0].max() == field[:, 0].max() == 0
    assert np.array_equal(field, field.T)


@pytest.mark.parametrize(("dtype", "white"), [(np.uint8, 255), (np.uint16, 65535)])
def test_an_image_becomes_heights_with_its_top_row_last(tmp_path, dtype, white):
    pixels = np.zeros((4, 6), dtype)
    pixels[0, 0] = white
    Image.fromarray(pixels).save(tmp_path / "a.png")
    field = from_image(tmp_path / "a.png", relief=9)
    assert field.shape == (4, 6)
    assert field[3, 0] == 9
    assert field.sum() == 9


def test_heights_of_a_colour_image_are_its_brightness(tmp_path):
    Image.new("RGB", (3, 3), (255, 255, 255)).save(tmp_path / "a.png")
    assert from_image(tmp_path / "a.png", relief=5).min() == 5


def test_a_bad_image_is_explained_in_one_line(tmp_path):
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64), np.uint8)).save(tmp_path / "whole.png")
    (tmp_path / "text.png").write_text("hello")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:1000])
    for name in ("missing.png", "text.png", "empty.png", "cut.png", "."):
        with pytest.raises(SandlotError, match="image") as error:
            from_image(tmp_path / name)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("shape", [(150, 150), (600, 600)])
def test_terrains_a_and_b_are_fixed_and_differ_in_character(shape):
    slopes = {}
    for name, terrain in TERRAINS.items():
        one, other = (terrain.heights(shape, 0.01) for _ in range(2))
        assert np.array_equal(one, other)
        assert seam(one) < 2.0
        slopes[name] = np.degrees(np.arctan(np.hypot(*np.gradient(one, 0.01))))
    assert slopes["A"].max() < 15.0
    assert 20.0 < slopes["B"].max() < 30.0  # below the angle of repose
    assert np.diff(slopes["B"]).std() > 2.5 * np.diff(slopes["A"]).std()


def test_an_image_is_tileable_only_if_its_edges_fit(tmp_path):
    x = np.arange(64)
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * x / 64) * np.ones((48, 1))
    for name, field, kind in (("wave", wave, np.uint16), ("ramp", np.tile(x / 63, (48, 1)), np.uint8)):
        Image.fromarray((field * np.iinfo(kind).max).astype(kind)).save(tmp_path / f"{name}.png")
    assert np.ptp(from_image(tmp_path / "wave.png", 0.1, tileable=True)) == pytest.approx(0.1, rel=1e-3)
    assert from_image(tmp_path / "ramp.png", 0.1).shape == (48, 64)
    with pytest.raises(PlaceError, match=r"63 times as steep as inside; allowed: 3$"):
        from_image(tmp_path / "ramp.png", 0.1, tileable=True)
