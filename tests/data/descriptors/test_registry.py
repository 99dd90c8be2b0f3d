import logging
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from skimage.feature import hog as hog_of

from boostbench.data import descriptors as registry
from boostbench.data import load
from boostbench.data.descriptors import (
    ORIENTATIONS,
    compute_descriptors,
    deskew,
    gist,
    hog,
    hog_pyramid,
)
from boostbench.util.errors import UserError

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, size=(10, 20, 24)).astype(float)


def stripes(angle, period, size=32):
    """A wave that runs in the direction of `angle`."""
    down, right = np.mgrid[:size, :size]
    wave = np.cos(2 * np.pi * (np.cos(angle) * right + np.sin(angle) * down) / period)
    return 128 + 100 * wave


def strengths(image):
    """Mean over the cells, of shape (scales, orientations)."""
    return gist(image[None]).reshape(4, 8, 16).mean(axis=2)


def test_gist_separates_directions():
    strongest = [strengths(stripes(np.pi * k / 8, 5)).sum(axis=0).argmax() for k in range(8)]
    assert sorted(strongest) == list(range(8))
    # Neighbouring directions are neighbouring numbers.
    assert {(a - b) % 8 for a, b in zip(strongest[1:], strongest[:-1], strict=True)} in ({1}, {7})


def test_gist_separates_widths():
    strongest = [
        strengths(stripes(0.0, period)).sum(axis=1).argmax() for period in (3.4, 6, 11, 20)
    ]
    assert strongest == [0, 1, 2, 3]


def test_gist_cell_covers_its_place():
    image = np.full((32, 32), 100.0)
    image[:8, 24:] = stripes(0.0, 4)[:8, 24:]
    by_cell = gist(image[None]).reshape(32, 4, 4).sum(axis=0)
    assert np.unravel_index(by_cell.argmax(), (4, 4)) == (0, 3)
    assert by_cell[0, 3] > 5 * by_cell[3, 0]


def test_uniform_image_has_no_edges():
    assert np.abs(gist(np.full((2, 32, 32), 77.0))).max() < 1e-4


def test_descriptor_is_robust_to_brightness():
    image = stripes(0.4, 7) + RNG.normal(size=(32, 32))
    bright, dark = gist(image[None])[0], gist(0.5 * image[None])[0]
    assert np.corrcoef(bright, dark)[0, 1] > 0.99


def test_rounding_leaves_the_decimals_alone():
    expected = gist(IMAGES)
    # The error exceeds all rounding errors of double precision; single precision has 6e-8.
    np.testing.assert_allclose(gist(IMAGES * (1 + 1e-13)), expected, rtol=0, atol=1e-11)
    assert np.abs(gist(IMAGES * (1 + 1e-13)) - expected).max() > 0
    assert expected.dtype == np.float64


def test_hog_is_scikit_image_s():
    expected = hog_of(IMAGES[3], pixels_per_cell=(2, 3), cells_per_block=(2, 2))
    np.testing.assert_allclose(hog(IMAGES)[3], expected)


@pytest.mark.parametrize("kind", ["gist", "hog"])
def test_block_size_does_not_change_descriptors(kind, monkeypatch):
    monkeypatch.setattr(registry, "CHUNK_SIZE", 3)
    descriptors = compute_descriptors(IMAGES.reshape(10, -1), kind, (20, 24))
    np.testing.assert_allclose(descriptors, registry.DESCRIPTORS[kind].describe(IMAGES), atol=2e-6)


@pytest.mark.parametrize("kind", ["gist", "hog"])
def test_memory_does_not_grow_with_the_images(kind, monkeypatch):
    """The bound excludes the input and the output."""
    monkeypatch.setattr(registry, "CHUNK_SIZE", 8)
    needed = []
    for n in (16, 96):
        X = np.resize(IMAGES, (n, 20, 24)).reshape(n, -1) + np.arange(n)[:, None]
        tracemalloc.start()
        descriptors = compute_descriptors(X, kind, (20, 24))
        needed.append(tracemalloc.get_traced_memory()[1] - 2 * descriptors.nbytes)
        tracemalloc.stop()
    assert needed[1] < needed[0] + 0.1 * 2**20


def test_coloured_images_are_made_gray():
    coloured = RNG.integers(0, 256, size=(2, 16, 16, 3)).astype(float)
    descriptors = compute_descriptors(coloured.reshape(2, -1), "gist", (16, 16, 3))
    np.testing.assert_allclose(descriptors, gist(coloured.mean(axis=3)), atol=1e-6)


class TestCache:
    @pytest.fixture(autouse=True)
    def counted(self, monkeypatch):
        monkeypatch.setattr(registry, "CHUNK_SIZE", 3)
        self.calls = []

        def count(images):
            if len(self.calls) == self.stop_at:
                raise KeyboardInterrupt
            self.calls.append(len(images))
            return images.reshape(len(images), -1) / 7

        self.stop_at = None
        counting = registry.Descriptor(count, version=1)
        monkeypatch.setattr(registry, "DESCRIPTORS", {"gist": counting, "hog": counting})
        self.X = IMAGES.reshape(10, -1)

    def describe(self, kind="gist", shape=(20, 24)):
        return compute_descriptors(self.X, kind, shape)

    def test_interruption_loses_one_block(self):
        self.stop_at = 2
        with pytest.raises(KeyboardInterrupt):
            self.describe()
        self.stop_at = None
        expected = (self.X / 7).round(6)
        assert (self.describe() == expected).all()
        assert self.calls == [3, 3, 3, 1]
        assert (self.describe() == expected).all()
        assert len(self.calls) == 4

    def test_sigkill_loses_one_block(self):
        program = (
            "import os, signal, sys\n"
            "import numpy as np\n"
            "from boostbench.data import descriptors as registry\n"
            "blocks = []\n"
            "def count(images):\n"
            "    blocks.append(len(images))\n"
            "    if len(blocks) == int(sys.argv[1]):\n"
            "        os.kill(os.getpid(), signal.SIGKILL)\n"
            "    return images.reshape(len(images), -1)\n"
            "registry.CHUNK_SIZE = 3\n"
            "registry.DESCRIPTORS = {'gist': registry.Descriptor(count, 1)}\n"
            "X = np.arange(20 * 256.0).reshape(20, 256)\n"
            "found = registry.compute_descriptors(X, 'gist', (16, 16))\n"
            "print(len(blocks), (found == X).all())\n"
        )

        def run(killed_at):
            arguments = [sys.executable, "-c", program, str(killed_at)]
            return subprocess.run(arguments, capture_output=True, text=True, check=False)

        assert run(killed_at=5).returncode == -signal.SIGKILL
        # Four of seven blocks are there, and the rest is computed.
        assert run(killed_at=9).stdout.split() == ["3", "True"]

    @pytest.mark.parametrize("change", ["kind", "shape", "pixel"])
    def test_changed_input_is_not_read_from_the_cache(self, change):
        self.describe()
        if change == "pixel":
            self.X = self.X.copy()
            self.X[4, 0] += 1
        self.describe(*{"kind": ["hog"], "shape": ["gist", (24, 20)]}.get(change, []))
        assert len(self.calls) == (5 if change == "pixel" else 8)

    @pytest.mark.parametrize("damage", [b"", b"rubbish", None])
    def test_damaged_blocks_are_computed_anew(self, damage):
        expected = self.describe()
        [path, *_] = Path(os.environ["BOOSTBENCH_CACHE"], "descriptors").iterdir()
        path.write_bytes(path.read_bytes()[:-50] if damage is None else damage)
        assert (self.describe() == expected).all()
        assert len(self.calls) == 5

    def test_unwritable_cache_is_a_warning(self, tmp_path, monkeypatch, caplog):
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("BOOSTBENCH_CACHE", str(tmp_path / "file"))
        with caplog.at_level(logging.WARNING):
            assert len(self.describe()) == 10
        assert "descriptors are not cached" in caplog.text


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((20, 25), "500 numbers for an image, but the data have 480 features; all images must"),
        ((480,), r"shape is \[480\]; it must be \[height, width\] or"),
        ((8, 60), "needs images of 16 x 16 pixels or more"),
        ((20, 12, 2), r"it must be \[height, width\] or \[height, width, 3\]"),
    ],
)
def test_wrong_shapes_are_refused(shape, message):
    with pytest.raises(UserError, match=message):
        compute_descriptors(IMAGES.reshape(10, -1), "gist", shape)


def test_data_set_may_consist_of_descriptors(data_folder):
    np.savez(data_folder / "pictures.npz", x=IMAGES, y=np.arange(10) % 2, is_test=np.arange(10) > 7)
    spec = {"name": "toy", "file": "pictures", "expect": {"features": 512}}
    dataset = load(spec | {"descriptor": {"kind": "gist", "shape": [20, 24]}})
    assert dataset.X.shape == (10, 512)
    assert len(dataset.splits) == 1
    for wrong in ({"kind": "sift", "shape": [20, 24]}, {"kind": "gist", "shape": 20}, "gist"):
        with pytest.raises(UserError, match=r"data\.descriptor"):
            load(spec | {"descriptor": wrong})


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
