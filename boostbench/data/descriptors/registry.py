"""Registry of image descriptors; they are computed block by block, and each block is cached."""

import contextlib
import hashlib
import logging
import math
from collections.abc import Callable, Mapping

import numpy as np

from boostbench.data.descriptors.gist import gist
from boostbench.data.descriptors.hog_pyramid import hog_pyramid
from boostbench.data.sources.cache import cache_folder
from boostbench.util.atomic_write import atomic_write
from boostbench.util.errors import UserError
from boostbench.util.spinner import spinner

logger = logging.getLogger(__name__)

#: Number of images per block: a kill loses at most one block, and memory holds one.
BLOCK_SIZE = 512

# Rounding makes checksums independent of the processor, on which the last bits depend. Single
# precision would not suffice: without AVX2, 4 of 51 200 numbers differed in these decimals.
_DECIMALS = 6

# Versions in the names of cached blocks; raise one when its descriptor changes.
_VERSIONS = {"gist": 2, "hog": 1, "hog_pyramid": 1}


def compute_descriptors(X: np.ndarray, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the descriptors of images.

    Blocks are stored in the folder ``descriptors`` of the cache, and read from there if present.

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
    if min(shape[:2]) < 16:
        raise UserError(f"data.descriptor needs images of 16 x 16 pixels or more, not {shape[:2]}")
    describe = DESCRIPTORS[kind]
    blocks = []
    with spinner(f"{kind.upper()} of images") as update_spinner:
        for start in range(0, len(X), BLOCK_SIZE):
            update_spinner(
                f"{kind.upper()} of {start} of {len(X)} images are done", share=start / len(X)
            )
            blocks.append(_compute_block(X[start : start + BLOCK_SIZE], kind, shape, describe))
    return np.concatenate(blocks)


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
    cell_shape = tuple(length // 8 for length in images.shape[1:])
    return np.stack(
        [image_hog(i, pixels_per_cell=cell_shape, cells_per_block=(2, 2)) for i in images]
    )


#: Functions from gray images to descriptors, by name.
DESCRIPTORS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "gist": gist,
    "hog": hog,
    "hog_pyramid": hog_pyramid,
}


def _compute_block(
    X: np.ndarray, kind: str, shape: tuple[int, ...], describe: Callable
) -> np.ndarray:
    """Return the descriptors of a block, from the cache if possible."""
    digest = hashlib.sha256(f"{kind} {_VERSIONS[kind]} {list(shape)} {X.shape}".encode())
    digest.update(np.ascontiguousarray(X))
    path = cache_folder() / "descriptors" / f"{kind}-{digest.hexdigest()[:24]}.npy"
    with contextlib.suppress(OSError, ValueError, EOFError):
        descriptors = np.load(path, allow_pickle=False)
        if len(descriptors) == len(X):
            return descriptors
    images = X.reshape(len(X), *shape)
    descriptors = describe(images.mean(axis=3) if len(shape) == 3 else images).round(_DECIMALS)
    try:
        atomic_write(path, lambda stream: np.save(stream, descriptors))
    except OSError as error:
        logger.warning("descriptors are not cached: %s", error)
    return descriptors
