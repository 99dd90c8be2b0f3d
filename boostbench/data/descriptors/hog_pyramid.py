"""Descriptors of handwritten digits: de-skewed, then histograms of gradients at three levels."""

import numpy as np

ORIENTATIONS = 9
# Sides of the blocks of each level, and how far apart they are: half of the side, rounded down.
_BLOCK_SIDES = (4, 7, 14)
# Strength of gradients, of pixels from 0 to 1, that a block needs to be more than noise.
_NOISE_LEVEL = 1.0


def hog_pyramid(images: np.ndarray) -> np.ndarray:
    """Describe images of digits as MCBoost, Section IV-D, does.

    The paper counts 2172 features of 28 x 28 pixels, and does not say which orientations, distances
    and norms make them. Here a block is a histogram of 9 unsigned orientations, a gradient is
    divided among the two that are nearest, and a histogram is divided by its Euclidean norm.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        Gray, from 0 to 255; ink is bright.

    Returns
    -------
    ndarray of shape (n_images, n_features), dtype=float64
        Blocks of 4 x 4, 7 x 7 and 14 x 14 pixels every 2, 3 and 7 pixels, by level, row and column:
        2178 numbers for 28 x 28 pixels.
    """
    histograms = _gradient_histograms(deskew(images / 255.0))
    sums = np.pad(histograms.cumsum(axis=1).cumsum(axis=2), [(0, 0), (1, 0), (1, 0), (0, 0)])
    levels = []
    for side in _BLOCK_SIDES:
        rows, columns = (
            np.arange(0, length - side + 1, side // 2)[:, None] + [0, side]
            for length in images.shape[1:]
        )
        corners = sums[:, rows][:, :, :, columns]
        blocks = np.diff(np.diff(corners, axis=2), axis=4)[:, :, 0, :, 0]
        norms = np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + _NOISE_LEVEL**2)
        levels.append((blocks / norms).reshape(len(images), -1))
    return np.concatenate(levels, axis=1)


def deskew(images: np.ndarray) -> np.ndarray:
    """Shear images along their rows until ink does not lean any more.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        Ink is bright, the background 0.

    Returns
    -------
    ndarray of shape (n_images, height, width), dtype=float64
        The covariance of rows and columns, by ink, is 0, up to interpolation; the centre of the ink
        stays where it is.
    """
    n_images, height, width = images.shape
    row, column = np.arange(height), np.arange(width)
    ink = images.sum(axis=(1, 2))
    ink[ink == 0] = 1.0
    row_offset = row - (images.sum(axis=2) @ row / ink)[:, None]
    column_offset = column - (images.sum(axis=1) @ column / ink)[:, None]
    covariance = np.einsum("nij,ni,nj->n", images, row_offset, column_offset)
    variance = np.einsum("nij,ni->n", images, row_offset**2)
    slope = np.divide(covariance, variance, out=np.zeros(n_images), where=variance > 0)
    # Where each pixel comes from, between two pixels of its row.
    source = column + (slope[:, None] * row_offset)[:, :, None]
    lower = np.floor(source)
    fraction = source - lower
    padded = np.pad(images, [(0, 0), (0, 0), (1, 1)])

    def pixels(columns):
        positions = np.clip(columns + 1, 0, width + 1).astype(int)
        return np.take_along_axis(padded, positions, axis=2)

    return (1 - fraction) * pixels(lower) + fraction * pixels(lower + 1)


def _gradient_histograms(images: np.ndarray) -> np.ndarray:
    """Return the histogram of each pixel, of shape (n_images, height, width, ORIENTATIONS)."""
    vertical, horizontal = np.zeros_like(images), np.zeros_like(images)
    vertical[:, 1:-1] = images[:, 2:] - images[:, :-2]
    horizontal[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    magnitude = np.hypot(vertical, horizontal)
    orientation = np.arctan2(vertical, horizontal) % np.pi * (ORIENTATIONS / np.pi)
    lower = np.floor(orientation)
    fraction = orientation - lower
    histograms = np.zeros((*images.shape, ORIENTATIONS))
    for bins, share in ((lower, 1 - fraction), (lower + 1, fraction)):
        bin_indices = bins.astype(int)[..., None] % ORIENTATIONS
        np.put_along_axis(histograms, bin_indices, (share * magnitude)[..., None], axis=-1)
    return histograms
