"""Descriptors of handwritten digits: deskewing, then histograms of gradients at three levels."""

import numpy as np

ORIENTATIONS = 9
# Side of a block at each level, in pixels. The distance of blocks is half the side, rounded down.
_BLOCK_SIDES = (4, 7, 14)
# Norm below which a block counts as noise, for pixels from 0 to 1.
_NOISE_LEVEL = 1.0


def hog_pyramid(images: np.ndarray) -> np.ndarray:
    """Return the descriptors of digits of MCBoost, Section IV-D.

    The paper counts 2172 features for 28 x 28 pixels, without the orientations, distances and norms
    that lead to this number. Here a block is a histogram of 9 unsigned orientations, a gradient is
    divided among the two nearest orientations, and a histogram is divided by its Euclidean norm.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        Gray, from 0 to 255, with bright ink.

    Returns
    -------
    ndarray of shape (n_images, n_features), dtype=float64
        Histograms of blocks of 4 x 4, 7 x 7 and 14 x 14 pixels every 2, 3 and 7 pixels, ordered by
        level, row and column: 2178 features for 28 x 28 pixels.
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
    """Shear images along their rows, so that the ink is upright.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        Bright ink on a background of 0.

    Returns
    -------
    ndarray of shape (n_images, height, width), dtype=float64
        Images in which the ink-weighted covariance of rows and columns is 0, up to interpolation,
        and the centre of the ink is unchanged.
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
    # Position that each pixel is interpolated from, between two pixels of its row.
    source = column + (slope[:, None] * row_offset)[:, :, None]
    lower = np.floor(source)
    fraction = source - lower
    padded = np.pad(images, [(0, 0), (0, 0), (1, 1)])

    def pixels(columns):
        positions = np.clip(columns + 1, 0, width + 1).astype(int)
        return np.take_along_axis(padded, positions, axis=2)

    return (1 - fraction) * pixels(lower) + fraction * pixels(lower + 1)


def _gradient_histograms(images: np.ndarray) -> np.ndarray:
    """Return a histogram per pixel, of shape (n_images, height, width, ORIENTATIONS)."""
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
