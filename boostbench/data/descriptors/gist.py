"""GIST-like descriptors of images: the strength of edges by scale, orientation and cell."""

import numpy as np
from scipy import fft

_SCALES, _ORIENTATIONS, _CELLS = 4, 8, 4
# Width in pixels of the mirrored margin, which avoids edges at the border.
_MARGIN = 8


def gist(images: np.ndarray) -> np.ndarray:
    """Return the average strength of edges of 4 scales and 8 orientations in 4 x 4 cells.

    Local contrast is normalised, the image is filtered by log-Gabor-like functions of the
    frequency, and the magnitudes are averaged in each cell.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        Gray, from 0 to 255.

    Returns
    -------
    ndarray of shape (n_images, 512), dtype=float64

    References
    ----------
    A. Oliva and A. Torralba, "Modeling the shape of the scene", IJCV 42, 2001. The constants
    are taken from the authors' program LMgist; the margin is narrower, as the images are small.
    """
    n_images, *size = images.shape
    margins = [(0, 0), (_MARGIN, _MARGIN), (_MARGIN, _MARGIN)]
    logarithms = np.log1p(np.pad(images, margins, mode="symmetric").astype(np.float64))
    low_pass = _gaussian(logarithms.shape[1:])
    logarithms -= fft.ifft2(fft.fft2(logarithms) * low_pass).real
    deviation = np.sqrt(np.abs(fft.ifft2(fft.fft2(logarithms**2) * low_pass)))
    spectra = fft.fft2(logarithms / (0.2 + deviation))
    rows, columns = (np.arange(length) * _CELLS // length for length in size)
    row_weights, column_weights = (
        (np.arange(_CELLS)[:, None] == cell) / np.bincount(cell)[:, None]
        for cell in (rows, columns)
    )
    averages = []
    for band_pass in _filters(logarithms.shape[1:]):
        magnitude = np.abs(fft.ifft2(spectra * band_pass))
        cropped = magnitude[:, _MARGIN : _MARGIN + size[0], _MARGIN : _MARGIN + size[1]]
        averages.append(row_weights @ cropped @ column_weights.T)
    return np.stack(averages, axis=1).reshape(n_images, -1)


def _frequencies(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and column frequencies of a discrete transform, in cycles per pixel."""
    return fft.fftfreq(shape[0])[:, None], fft.fftfreq(shape[1])[None]


def _gaussian(shape: tuple[int, int]) -> np.ndarray:
    """Return a low-pass filter whose response is one half at 4 cycles per image."""
    vertical, horizontal = _frequencies(shape)
    cycles = np.hypot(vertical * shape[0], horizontal * shape[1])
    return np.exp2(-((cycles / 4) ** 2))


def _filters(shape: tuple[int, int]):
    """Yield the filters, from the finest to the coarsest scale."""
    vertical, horizontal = _frequencies(shape)
    radius, angle = np.hypot(vertical, horizontal), np.arctan2(vertical, horizontal)
    sharpness = 16 * _ORIENTATIONS**2 / 32**2
    for scale in range(_SCALES):
        centre = 0.3 / 1.85**scale
        radial = np.exp(-10 * 0.35 * (radius / centre - 1) ** 2)
        for orientation in range(_ORIENTATIONS):
            deviation = angle + np.pi * orientation / _ORIENTATIONS
            deviation = (deviation + np.pi) % (2 * np.pi) - np.pi
            yield (radial * np.exp(-2 * np.pi * sharpness * deviation**2))
