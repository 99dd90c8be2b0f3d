"""Descriptors of images: features of edges and gradients that replace the pixels.

They are computed in chunks of images, and the descriptors of each chunk are cached. A *block* is a
square of pixels or cells of an image.
"""

import contextlib
import hashlib
import logging
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import fft

from boostbench.data.sources.local_files import cache_folder
from boostbench.util.errors import UserError
from boostbench.util.files import atomic_write
from boostbench.util.terminal import spinner

logger = logging.getLogger(__name__)

#: Number of images per chunk: an interruption loses at most one chunk, and memory holds one.
CHUNK_SIZE = 512
#: Decimals of descriptors. Rounding makes checksums independent of the processor, on which the last
#: bits depend. Single precision would not suffice: without AVX2, 4 of 51 200 numbers differed in
#: these decimals.
_DECIMALS = 6
# Minimum height and width in pixels: the largest blocks of `hog_pyramid` have a side of 14, and a
# cell of `hog` needs 2 pixels, an eighth of the side.
_MIN_SIDE = 16

# Constants of `gist`. Those without another reason are the ones of the reference program LMgist.
_N_SCALES = 4
_N_ORIENTATIONS = 8
# Number of cells along each side of the image.
_N_CELLS = 4
# Width in pixels of the mirrored margin, which avoids edges at the border.
_MARGIN = 8
# Frequency in cycles per image at which the filter of the local contrast passes one half.
_CONTRAST_FREQUENCY = 4
# Contrast, of logarithms of gray, that is added to the local one: flat areas are hardly amplified.
_CONTRAST_OFFSET = 0.2
# Centre of the finest filter in cycles per pixel, and the quotient of the next scale's centre.
_FINEST_FREQUENCY = 0.3
_SCALE_RATIO = 1.85
# Factor of the squared relative distance from the centre in the exponent of a filter.
_RADIAL_SHARPNESS = 10 * 0.35
# Factor of the squared angle in radians in the exponent of a filter.
_ANGULAR_SHARPNESS = 2 * np.pi * (16 * _N_ORIENTATIONS**2 / 32**2)

#: Number of orientations in `hog_pyramid`, from 0 to 180 degrees.
ORIENTATIONS = 9
# Side of a block of `hog_pyramid` at each level, in pixels. The distance between blocks is half the
# side, rounded down.
_BLOCK_SIDES = (4, 7, 14)
# Norm below which a block counts as noise, for pixels from 0 to 1.
_NOISE_LEVEL = 1.0

# Number of cells of `hog` along each side of the image.
_N_HOG_CELLS = 8
# Height and width of a block of `hog`, in cells.
_HOG_BLOCK_SHAPE = (2, 2)


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
    n_images, height, width = images.shape
    # 1) Subtract the local mean of the logarithms, and divide by their local deviation.
    margins = [(0, 0), (_MARGIN, _MARGIN), (_MARGIN, _MARGIN)]
    logarithms = np.log1p(np.pad(images, margins, mode="symmetric").astype(np.float64))
    low_pass = _gaussian(logarithms.shape[1:])
    logarithms -= fft.ifft2(fft.fft2(logarithms) * low_pass).real
    contrast = np.sqrt(np.abs(fft.ifft2(fft.fft2(logarithms**2) * low_pass)))
    spectra = fft.fft2(logarithms / (_CONTRAST_OFFSET + contrast))
    # 2) Average the magnitude of each filter's response in each cell, without the margin: multiply
    #    by the weights of the rows, (n_cells, height), and of the columns, (width, n_cells).
    row_weights, column_weights = _cell_weights(height), _cell_weights(width)
    averages = []
    for band_pass in _gabor_filters(logarithms.shape[1:]):
        magnitude = np.abs(fft.ifft2(spectra * band_pass))
        cropped = magnitude[:, _MARGIN : _MARGIN + height, _MARGIN : _MARGIN + width]
        averages.append(row_weights @ cropped @ column_weights.T)
    return np.stack(averages, axis=1).reshape(n_images, -1)


def _cell_weights(length: int) -> np.ndarray:
    """Return the weights, of shape (_N_CELLS, length), that average the pixels of each cell."""
    cell = np.arange(length) * _N_CELLS // length
    return (np.arange(_N_CELLS)[:, None] == cell) / np.bincount(cell)[:, None]


def _frequencies(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the frequencies of a discrete transform, in cycles per pixel.

    Returns
    -------
    vertical : ndarray of shape (height, 1)
    horizontal : ndarray of shape (1, width)
    """
    return fft.fftfreq(shape[0])[:, None], fft.fftfreq(shape[1])[None]


def _gaussian(shape: tuple[int, int]) -> np.ndarray:
    """Return the frequency response, of shape `shape`, of the low-pass filter of local contrast."""
    vertical, horizontal = _frequencies(shape)
    cycles_per_image = np.hypot(vertical * shape[0], horizontal * shape[1])
    return np.exp2(-((cycles_per_image / _CONTRAST_FREQUENCY) ** 2))


def _gabor_filters(shape: tuple[int, int]) -> Iterator[np.ndarray]:
    """Yield the frequency responses, of shape `shape`, of the filters of edges.

    The scales follow each other from the finest to the coarsest one, and each has all orientations.
    """
    vertical, horizontal = _frequencies(shape)
    radius, angle = np.hypot(vertical, horizontal), np.arctan2(vertical, horizontal)
    for scale in range(_N_SCALES):
        centre = _FINEST_FREQUENCY / _SCALE_RATIO**scale
        radial = np.exp(-_RADIAL_SHARPNESS * (radius / centre - 1) ** 2)
        for orientation in range(_N_ORIENTATIONS):
            # The centre of the filter is at the angle -pi * orientation / n. Angles have a period
            # of 2 pi: take the difference from -pi to pi.
            angle_from_centre = angle + np.pi * orientation / _N_ORIENTATIONS
            angle_from_centre = (angle_from_centre + np.pi) % (2 * np.pi) - np.pi
            yield radial * np.exp(-_ANGULAR_SHARPNESS * angle_from_centre**2)


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
    # Entry [i, r, c] is the sum over all pixels of image i above row r and left of column c, of
    # shape (n_images, height + 1, width + 1, ORIENTATIONS). The sum over a block follows from the
    # entries at its four corners.
    sums = np.pad(histograms.cumsum(axis=1).cumsum(axis=2), [(0, 0), (1, 0), (1, 0), (0, 0)])
    levels = []
    for side in _BLOCK_SIDES:
        # First and end row of each block, of shape (n_block_rows, 2), and the same for columns.
        rows, columns = (
            np.arange(0, length - side + 1, side // 2)[:, None] + [0, side]
            for length in images.shape[1:]
        )
        # `sums[:, rows]` has the shape (n_images, n_block_rows, 2, width + 1, ORIENTATIONS), and
        # `corners` (n_images, n_block_rows, 2, n_block_columns, 2, ORIENTATIONS). The differences
        # along the axes of length 2 leave the sum over each block.
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
    # 1) Compute the slope of the ink, the regression of its columns on its rows, around the centre.
    ink = images.sum(axis=(1, 2))
    ink[ink == 0] = 1.0
    row_offset = row - (images.sum(axis=2) @ row / ink)[:, None]
    column_offset = column - (images.sum(axis=1) @ column / ink)[:, None]
    covariance = np.einsum("nij,ni,nj->n", images, row_offset, column_offset)
    variance = np.einsum("nij,ni->n", images, row_offset**2)
    slope = np.divide(covariance, variance, out=np.zeros(n_images), where=variance > 0)
    # 2) Interpolate each pixel between two pixels of its row, to which the ink was shifted.
    source = column + (slope[:, None] * row_offset)[:, :, None]
    lower = np.floor(source)
    fraction = source - lower
    padded = np.pad(images, [(0, 0), (0, 0), (1, 1)])

    def pixels_at(columns):
        """Return the pixels of each row at the given columns; 0 outside of the image."""
        positions = np.clip(columns + 1, 0, width + 1).astype(int)
        return np.take_along_axis(padded, positions, axis=2)

    return (1 - fraction) * pixels_at(lower) + fraction * pixels_at(lower + 1)


def _gradient_histograms(images: np.ndarray) -> np.ndarray:
    """Return the histogram of each pixel's gradient.

    The magnitude of the gradient is divided among the two orientations nearest to its own, the
    nearer one receiving more.

    Returns
    -------
    ndarray of shape (n_images, height, width, ORIENTATIONS)
    """
    vertical, horizontal = np.zeros_like(images), np.zeros_like(images)
    vertical[:, 1:-1] = images[:, 2:] - images[:, :-2]
    horizontal[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    magnitude = np.hypot(vertical, horizontal)
    # Orientations are counted in bins. The sign of the gradient does not matter: modulo pi.
    orientation = np.arctan2(vertical, horizontal) % np.pi * (ORIENTATIONS / np.pi)
    lower = np.floor(orientation)
    fraction = orientation - lower
    histograms = np.zeros((*images.shape, ORIENTATIONS))
    # The last bin is a neighbour of the first one: modulo the number of orientations.
    for bins, share in ((lower, 1 - fraction), (lower + 1, fraction)):
        bin_indices = bins.astype(int)[..., None] % ORIENTATIONS
        np.put_along_axis(histograms, bin_indices, (share * magnitude)[..., None], axis=-1)
    return histograms


def compute_descriptors(X: np.ndarray, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the descriptors of images.

    Chunks are stored in the folder ``descriptors`` of the cache, and read from there if present.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_pixels)
        Pixels from 0 to 255, one image per row.
    kind : {"gist", "hog", "hog_pyramid"}
        Name of the descriptor.
    shape : tuple of int
        Shape of an image: (height, width) if gray, (height, width, 3) if coloured.

    Returns
    -------
    ndarray of shape (n_samples, n_features), dtype=float64

    Raises
    ------
    UserError
        If the number of pixels does not match `shape`, or the images are too small.
    """
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] != 3):
        raise UserError(
            f"data.descriptor.shape is {list(shape)}; it must be [height, width] or "
            "[height, width, 3]"
        )
    if not isinstance(X, np.ndarray) or math.prod(shape) != X.shape[1]:
        raise UserError(
            f"data.descriptor.shape is {list(shape)}, {math.prod(shape)} numbers for an image, but "
            f"the data have {X.shape[1]} features; all images must be of that size"
        )
    if min(shape[:2]) < _MIN_SIDE:
        raise UserError(
            f"data.descriptor needs images of {_MIN_SIDE} x {_MIN_SIDE} pixels or more, "
            f"not {shape[:2]}"
        )
    chunks = []
    with spinner(f"{kind.upper()} of images") as update_spinner:
        for start in range(0, len(X), CHUNK_SIZE):
            update_spinner(
                f"{kind.upper()} of {start} of {len(X)} images are done", share=start / len(X)
            )
            chunks.append(_compute_chunk(X[start : start + CHUNK_SIZE], kind, shape))
    return np.concatenate(chunks)


def hog(images: np.ndarray) -> np.ndarray:
    """Return histograms of oriented gradients.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        Gray, from 0 to 255.

    Returns
    -------
    ndarray of shape (n_images, n_features), dtype=float64
        Histograms of 9 orientations in blocks of 2 x 2 cells. The sides of a cell are an eighth
        of the image's, rounded down: 1764 features if 8 divides both sides.

    Raises
    ------
    UserError
        If scikit-image is not installed.
    """
    try:
        from skimage.feature import hog as image_hog
    except ImportError:
        raise UserError(
            "HOG needs scikit-image; install it by 'pip install scikit-image'"
        ) from None
    cell_shape = tuple(length // _N_HOG_CELLS for length in images.shape[1:])
    return np.stack(
        [
            image_hog(image, pixels_per_cell=cell_shape, cells_per_block=_HOG_BLOCK_SHAPE)
            for image in images
        ]
    )


class Descriptor(NamedTuple):
    """Descriptor of images.

    Attributes
    ----------
    describe : callable
        Function from gray images, of shape (n_images, height, width), to descriptors, of shape
        (n_images, n_features).
    version : int
        Number in the names of cached chunks; raise it when the descriptor changes.
    """

    describe: Callable[[np.ndarray], np.ndarray]
    version: int


#: Descriptors by name.
DESCRIPTORS = {
    "gist": Descriptor(gist, version=2),
    "hog": Descriptor(hog, version=1),
    "hog_pyramid": Descriptor(hog_pyramid, version=1),
}


def _compute_chunk(X: np.ndarray, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the descriptors of a chunk of images, from the cache if possible.

    Parameters
    ----------
    X : ndarray of shape (n_images, n_pixels)
    kind, shape
        See `compute_descriptors`.

    Returns
    -------
    ndarray of shape (n_images, n_features), dtype=float64
    """
    descriptor = DESCRIPTORS[kind]
    digest = hashlib.sha256(f"{kind} {descriptor.version} {list(shape)} {X.shape}".encode())
    digest.update(np.ascontiguousarray(X))
    path = cache_folder() / "descriptors" / f"{kind}-{digest.hexdigest()[:24]}.npy"
    # Descriptors are computed if they are not cached, or a kill or a full disk damaged the file.
    with contextlib.suppress(OSError, ValueError, EOFError):
        descriptors = np.load(path, allow_pickle=False)
        if len(descriptors) == len(X):
            return descriptors
    images = X.reshape(len(X), *shape)
    gray_images = images.mean(axis=3) if len(shape) == 3 else images
    descriptors = descriptor.describe(gray_images).round(_DECIMALS)
    try:
        atomic_write(path, lambda stream: np.save(stream, descriptors))
    except OSError as error:
        logger.warning("descriptors are not cached: %s", error)
    return descriptors
