"""Descriptors of images, GIST-like and HOG: computed block by block, each block cached."""

import contextlib
import hashlib
import logging
import math
from collections.abc import Callable, Mapping

import numpy as np

from boostbench.data.descriptors.gist import gist
from boostbench.data.descriptors.hog_pyramid import hog_pyramid
from boostbench.data.sources.cache import cache_folder
from boostbench.errors import UserError
from boostbench.util.spinner import spinner
from boostbench.whole import write_whole

logger = logging.getLogger(__name__)

#: Images of a block: what a kill loses, and what is in memory at a time.
BLOCK_SIZE = 512

# Last bits depend on the processor; without them, so does no checksum. In single precision these
# decimals did too: of 51 200 numbers 4 were others without AVX2.
_DECIMALS = 6

# Parts of the names of cached blocks, to be raised where a descriptor changes.
_VERSIONS = {"gist": 2, "hog": 1, "hog_pyramid": 1}


def compute_descriptors(X: np.ndarray, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Replace images by their descriptors.

    Blocks that were computed before are read from the folder ``descriptors`` of the cache.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_pixels)
        Pixels from 0 to 255, an image in a row.
    kind : {"gist", "hog", "hog_pyramid"}
    shape : tuple of int
        (height, width) of gray images, (height, width, 3) of coloured ones.

    Returns
    -------
    ndarray of shape (n_samples, n_features), dtype=float64

    Raises
    ------
    UserError
        If the images have another number of pixels than `shape`, or are too small.
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
                f"{kind.upper()} of {start} of {len(X)} images are there", share=start / len(X)
            )
            blocks.append(_compute_block(X[start : start + BLOCK_SIZE], kind, shape, describe))
    return np.concatenate(blocks)


def hog(images: np.ndarray) -> np.ndarray:
    """Describe images by histograms of oriented gradients.

    Parameters
    ----------
    images
        As of `gist`.

    Returns
    -------
    ndarray of shape (n_images, n_features), dtype=float64
        9 orientations in blocks of 2 x 2 cells; a cell has an eighth of the height and the width,
        rounded down: 1764 numbers for sides that 8 divides.

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
    """Describe a block, or read what was found before."""
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
        write_whole(path, lambda stream: np.save(stream, descriptors))
    except OSError as error:
        logger.warning("descriptors are not kept for the next time: %s", error)
    return descriptors
