"""Triangles are filled as a plain loop over all pixels fills them; shadows fall where something is above."""

import numpy as np

from sandlot.worlds.raster import cast_shadows, fill


def twin(points, colours, faces, opacity, depths, image):
    """The same, pixel by pixel, with the shares from areas."""

    def area(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])

    for face in faces:
        corners = points[face]
        whole = area(*corners)
        if (corners[:, 2] <= 0.0).any() or abs(whole) <= 1e-12:
            continue
        for row, column in np.ndindex(depths.shape):
            place = np.array([column + 0.5, row + 0.5])
            shares = np.array([area(place, *corners[[1, 2]]), area(place, *corners[[2, 0]]), 0.0]) / whole
            shares[2] = 1.0 - shares[0] - shares[1]
            near = np.float32(shares @ corners[:, 2])
            if (shares < 0.0).any() or near <= depths[row, column]:
                continue
            if opacity >= 1.0:
                depths[row, column] = near
            mixed = opacity * (shares @ colours[face]) + (1.0 - opacity) * image[row, column]
            image[row, column] = np.clip(mixed, 0.0, 255.0).astype(np.uint8)


def test_triangles_are_filled_as_by_the_twin():
    rng = np.random.default_rng(1)
    points = np.column_stack([rng.uniform(-4.0, 20.0, (12, 2)), rng.uniform(-0.1, 1.0, 12)])
    colours = rng.uniform(0.0, 255.0, (12, 3)).astype(np.float32)
    faces = rng.integers(0, 12, (9, 3))
    ours, theirs = ((np.zeros((15, 17), np.float32), np.full((15, 17, 3), 90, np.uint8)) for _ in range(2))
    for opacity in (1.0, 0.4):
        fill(points, colours, faces, opacity, *ours)
        twin(points, colours, faces, opacity, *theirs)
    assert (ours[0] > 0.0).sum() > 50
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6)
    # Rounding down may differ in the last digit of a colour.
    assert np.abs(ours[1].astype(int) - theirs[1]).max() <= 1


def test_what_lies_under_something_is_dark():
    """A camera 1 m above the ground looks straight down, the light does as well; one texel hides a column of ground."""
    depths, image = np.ones((9, 9), np.float32), np.full((9, 9, 3), 200, np.uint8)
    eye = np.array([0.0, 0.0, 1.0])
    rays = np.array([[-4.5, 4.5, -1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    axes = np.array([[1.0, 0.0, 0.0, 4.5], [0.0, 1.0, 0.0, 4.5], [0.0, 0.0, 1.0, 10.0]])
    lit = np.zeros((9, 9), np.float32)
    lit[4, 4] = 10.5  # half a metre above the ground
    cast_shadows(depths, image, eye, rays, lit, axes, 0.1, 0.1)
    assert (image[4, 4] == 180).all(), "one of nine texels, each a tenth as bright"
    assert (image[3:6, 3:6] == 180).all()
    assert (image[:, 6:] == 200).all()
    lit[4, 4] = 10.05  # within the grain
    cast_shadows(depths, image, eye, rays, lit, axes, 0.1, 0.1)
    assert (image[3:6, 3:6] == 180).all()
