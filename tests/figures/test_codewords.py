from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from boostbench.cli import main
from boostbench.data.dataset import Dataset
from boostbench.figures.single_fit import (
    CodewordPanel,
    draw_codewords,
    picture_centres,
    typical_pictures,
)


def points_on_circle(*degrees):
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def test_pictures_do_not_overlap():
    codewords = points_on_circle(0, 1, 2, 90, 91, 200, 201.5, 3)
    centres = picture_centres(codewords)
    lengths = np.linalg.norm(centres, axis=1)
    np.testing.assert_allclose(centres / lengths[:, None], codewords)
    assert (lengths > 1).all()
    apart = np.abs(centres[:, None] - centres).max(axis=2) + 9 * np.eye(8)
    assert apart.min() >= 0.27
    # Isolated codewords have their picture at their end.
    assert lengths[0] == lengths[3] == lengths[5] == lengths.min()


def test_each_codeword_has_a_ray_and_a_picture(assert_titles_fit):
    panels = [
        CodewordPanel("at first", points_on_circle(0, 120, 240)),
        CodewordPanel("learned", points_on_circle(0, 10, 180)),
    ]
    figure = draw_codewords(panels, [np.full((4, 4), i) for i in range(3)])
    assert [axes.get_title() for axes in figure.axes] == [panel.title for panel in panels]
    for axes in figure.axes:
        assert len(axes.images) == 3
        assert len(axes.lines) == 1 + 2 * 3
        (x_min, x_max), (y_min, y_max) = axes.get_xlim(), axes.get_ylim()
        for image in axes.images:
            x0, x1, y0, y1 = image.get_extent()
            assert x_min < x0 < x1 < x_max
            assert y_min < y0 < y1 < y_max
    assert_titles_fit(figure)


def test_picture_is_typical_of_its_class():
    rng = np.random.default_rng(0)
    sign = np.tile([0.0, 200.0], 8)
    X = np.vstack([sign, sign / 3 + 5, rng.uniform(0, 200, size=16), sign + 1, 100 - sign / 4])
    images = Dataset("toy", X, np.array([1, 1, 1, 1, 2]), "made here")
    one, two = typical_pictures(images, (4, 4))
    assert np.corrcoef(one.ravel(), sign)[0, 1] > 0.99
    assert (two == X[4].reshape(4, 4)).all()


SERIAL = ("results=out", "parallel=serial")


def define(images="iris", shape="[2, 2]"):
    Path("mine.yaml").write_text(
        "kind: codewords\ntitle: Mine\ncaption: Mine.\ndata: iris\nalgo: ladder\n"
        f"images: {images}\nshape: {shape}\n"
        "overrides: [protocol=ladder, algo.n_iterations=4]\n"
    )


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"images": "irs"}, "unknown data set 'irs'; did you mean iris"),
        ({"shape": "[3, 3]"}, "shape is [3, 3]; it must be height and width of a picture, which "),
        ({"shape": "[4]"}, "shape is [4]; "),
        ({"shape": "[-2, -2]"}, "shape is [-2, -2]; "),
    ],
)
def test_wrong_pictures_are_refused_before_the_fit(folder, capsys, wrong, expected):
    define(**wrong)
    assert main(["figure", "mine.yaml", "algo.n_components=2", *SERIAL]) == 2
    assert expected in capsys.readouterr().err
    assert not (folder / "out").exists()


def test_codewords_require_two_dimensions(folder, capsys):
    define()
    assert main(["figure", "mine.yaml", "algo.n_components=3", *SERIAL]) == 2
    assert "needs codewords of 2 dimensions and a picture for each class" in capsys.readouterr().err
    assert main(["figure", "mine.yaml", "algo.n_components=2", *SERIAL]) == 0
    assert (folder / "out" / "figures" / "mine.png").is_file()
