import numpy as np
import pytest

from boostbench.data.descriptors.hog_pyramid import ORIENTATIONS, deskew, hog_pyramid

RNG = np.random.default_rng(0)


def covariance(image):
    """Return the ink-weighted covariance of rows and columns, and the centre of the ink."""
    row, column = np.mgrid[: image.shape[0], : image.shape[1]]
    mean = (image * row).sum() / image.sum(), (image * column).sum() / image.sum()
    both = (image * (row - mean[0]) * (column - mean[1])).sum() / image.sum()
    return both, mean


def bar(lean, size=28):
    """Return a bar that is slanted by `lean` columns per row."""
    row, column = np.mgrid[:size, :size] - (size - 1) / 2
    return np.exp(-((column - lean * row) ** 2) / 4) * (abs(row) < 8)


@pytest.mark.parametrize("lean", [-0.5, 0.0, 0.3])
def test_slanted_ink_is_deskewed(lean):
    image = bar(lean)
    upright = deskew(image[None])[0]
    assert covariance(upright)[0] == pytest.approx(0, abs=0.05)
    assert covariance(upright)[1] == pytest.approx(covariance(image)[1], abs=0.05)
    np.testing.assert_allclose(upright, bar(0.0), atol=0.06)


def test_images_without_ink_stay():
    images = np.zeros((2, 28, 28))
    images[1, 5] = 1.0
    np.testing.assert_array_equal(deskew(images), images)
    assert not hog_pyramid(images)[0].any()


def test_pyramid_equals_loops():
    image = RNG.integers(0, 256, (28, 28))
    pixels = deskew(image[None] / 255)[0]
    expected = []
    for side, step in ((4, 2), (7, 3), (14, 7)):
        for top in range(0, 29 - side, step):
            for first_column in range(0, 29 - side, step):
                block = np.zeros(ORIENTATIONS)
                for i in range(top, top + side):
                    for j in range(first_column, first_column + side):
                        down = pixels[i + 1, j] - pixels[i - 1, j] if 0 < i < 27 else 0.0
                        right = pixels[i, j + 1] - pixels[i, j - 1] if 0 < j < 27 else 0.0
                        angle = np.degrees(np.arctan2(down, right)) % 180 / 20
                        for one in (int(angle), int(angle) + 1):
                            block[one % 9] += np.hypot(down, right) * (1 - abs(angle - one))
                expected += list(block / np.sqrt((block**2).sum() + 1))
    [descriptors] = hog_pyramid(image[None].astype(float))
    assert len(descriptors) == 2178
    np.testing.assert_allclose(descriptors, expected, atol=1e-9)


def test_directions_of_edges():
    across = np.tile(255.0 * (np.arange(28) > 13), (28, 1))
    # Both stand upright already, so that nothing is sheared.
    for image, orientations in ((across, [0]), (across.T, [4, 5])):
        strengths = hog_pyramid(image[None]).reshape(-1, ORIENTATIONS).sum(axis=0)
        assert np.flatnonzero(strengths).tolist() == orientations
        assert np.ptp(strengths[orientations]) == pytest.approx(0)
