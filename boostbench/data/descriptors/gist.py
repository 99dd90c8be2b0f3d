"""GIST-like descriptors of images: the strength of edges by scale, orientation and cell."""

import numpy as np
from scipy import fft

_SCALES, _ORIENTATIONS, _CELLS = 4, 8, 4
# Pixels by which images are continued at their edges, as mirrors do.
_MARGIN = 8


def gist(images: np.ndarray) -> np.ndarray:
    """Describe images by the strength of edges of 4 scales and 8 orientations in 4 x 4 cells.

    Local contrast is made even, the image is filtered by log-Gabor-like functions of the frequency,
    and the magnitudes are averaged in each cell.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        Gray, from 0 to 255.

    Returns
    -------
    ndarray of shape (n_images, 512), dtype=float64

    References
    ----------
    A. Oliva and A. Torralba, "Modeling the shape of the scene", IJCV 42, 2001; the numbers are
    those of the authors' program LMgist, and the margin is narrower: the images are small.
    """
    n_images, *size = images.shape
    margins = [(0, 0), (_MARGIN, _MARGIN), (_MARGIN, _MARGIN)]
    flat = np.log1p(np.pad(images, margins, mode="symmetric").astype(np.float64))
    low = _gaussian(flat.shape[1:])
    flat -= fft.ifft2(fft.fft2(flat) * low).real
    deviation = np.sqrt(np.abs(fft.ifft2(fft.fft2(flat**2) * low)))
    spectra = fft.fft2(flat / (0.2 + deviation))
    rows, columns = (np.arange(length) * _CELLS // length for length in size)
    of_rows, of_columns = (
        (np.arange(_CELLS)[:, None] == cell) / np.bincount(cell)[:, None]
        for cell in (rows, columns)
    )
    strengths = []
    for filter_ in _filters(flat.shape[1:]):
        strength = np.abs(fft.ifft2(spectra * filter_))
        inside = strength[:, _MARGIN : _MARGIN + size[0], _MARGIN : _MARGIN + size[1]]
        strengths.append(of_rows @ inside @ of_columns.T)
    return np.stack(strengths, axis=1).reshape(n_images, -1)


def _frequencies(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies of a discrete transform, in cycles a pixel, by row and column."""
    return fft.fftfreq(shape[0])[:, None], fft.fftfreq(shape[1])[None]


def _gaussian(shape: tuple[int, int]) -> np.ndarray:
    """Low-pass filter: one half at 4 cycles an image."""
    down, right = _frequencies(shape)
    cycles = np.hypot(down * shape[0], right * shape[1])
    return np.exp2(-((cycles / 4) ** 2))


def _filters(shape: tuple[int, int]):
    """Yield the filters, scale by scale, from fine to coarse."""
    down, right = _frequencies(shape)
    radius, angle = np.hypot(down, right), np.arctan2(down, right)
    sharpness = 16 * _ORIENTATIONS**2 / 32**2
    for scale in range(_SCALES):
        centre = 0.3 / 1.85**scale
        along = np.exp(-10 * 0.35 * (radius / centre - 1) ** 2)
        for orientation in range(_ORIENTATIONS):
            off = angle + np.pi * orientation / _ORIENTATIONS
            off = (off + np.pi) % (2 * np.pi) - np.pi
            yield (along * np.exp(-2 * np.pi * sharpness * off**2))
