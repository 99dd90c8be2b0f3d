"""Descriptors of handwritten digits: de-skewed, then histograms of gradients at three levels."""

import numpy as np

ORIENTATIONS = 9
# Sides of the blocks of each level, and how far apart they are: half of the side, rounded down.
_LEVELS = (4, 7, 14)
# Strength of gradients, of pixels from 0 to 1, that a block needs to be more than noise.
_FLOOR = 1.0


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
    histograms = _gradients(deskewed(images / 255.0))
    sums = np.pad(histograms.cumsum(axis=1).cumsum(axis=2), [(0, 0), (1, 0), (1, 0), (0, 0)])
    levels = []
    for side in _LEVELS:
        rows, columns = (
            np.arange(0, length - side + 1, side // 2)[:, None] + [0, side]
            for length in images.shape[1:]
        )
        corners = sums[:, rows][:, :, :, columns]
        blocks = np.diff(np.diff(corners, axis=2), axis=4)[:, :, 0, :, 0]
        strength = np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + _FLOOR**2)
        levels.append((blocks / strength).reshape(len(images), -1))
    return np.concatenate(levels, axis=1)


def deskewed(images: np.ndarray) -> np.ndarray:
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
    down = row - (images.sum(axis=2) @ row / ink)[:, None]
    right = column - (images.sum(axis=1) @ column / ink)[:, None]
    covariance = np.einsum("nij,ni,nj->n", images, down, right)
    variance = np.einsum("nij,ni->n", images, down**2)
    lean = np.divide(covariance, variance, out=np.zeros(n_images), where=variance > 0)
    # Where each pixel comes from, between two pixels of its row.
    source = column + (lean[:, None] * down)[:, :, None]
    left = np.floor(source)
    share = source - left
    wide = np.pad(images, [(0, 0), (0, 0), (1, 1)])

    def pixels(columns):
        at = np.clip(columns + 1, 0, width + 1).astype(int)
        return np.take_along_axis(wide, at, axis=2)

    return (1 - share) * pixels(left) + share * pixels(left + 1)


def _gradients(images: np.ndarray) -> np.ndarray:
    """Return the histogram of each pixel, of shape (n_images, height, width, ORIENTATIONS)."""
    down, right = np.zeros_like(images), np.zeros_like(images)
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    right[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    strength = np.hypot(down, right)
    orientation = np.arctan2(down, right) % np.pi * (ORIENTATIONS / np.pi)
    lower = np.floor(orientation)
    share = orientation - lower
    histograms = np.zeros((*images.shape, ORIENTATIONS))
    for bins, part in ((lower, 1 - share), (lower + 1, share)):
        at = bins.astype(int)[..., None] % ORIENTATIONS
        np.put_along_axis(histograms, at, (part * strength)[..., None], axis=-1)
    return histograms
