import base64
import re

import pytest

from boostbench.figures.definition import Drawing, FigureDefinition, page_text
from boostbench.report.page.render import find_figures, read_figure_page


@pytest.fixture
def folder(tmp_path):
    """Three figures; the SVG of the second is much larger than its PNG, the third has neither."""
    for name, svg, png in (("fig10", 150, 100), ("fig9", 300, 100), ("fig11", 0, 0)):
        definition = FigureDefinition(name=name, title=f"{name}, x^y", caption="A <b>caption</b>.")
        text = page_text(definition, Drawing(None, tmp_path, [], [["wine", "1"]], ["data", "e %"]))
        (tmp_path / f"{name}.md").write_text(text)
        if svg:
            (tmp_path / f"{name}.svg").write_bytes(b"s" * svg)
            (tmp_path / f"{name}.png").write_bytes(b"p" * png)
    (tmp_path / "overview.svg").write_bytes(b"no page is about it")
    return tmp_path


def content(picture):
    words, uri = picture
    head, _, data = uri.partition(";base64,")
    return words, head, base64.b64decode(data)


def test_figures_stand_in_their_natural_order(folder):
    assert [figure.name for figure in find_figures(folder)] == ["fig9", "fig10", "fig11"]
    assert find_figures(folder / "nothing") == []


def test_foreign_pages_are_left_out(folder, capsys):
    (folder / "notes.md").write_bytes(b"# M\xfcller")
    (folder / "folder.md").mkdir()
    (folder / "\u00b2.md").write_text("# Two")
    assert [figure.title for figure in find_figures(folder)][3:] == ["Two"]
    warnings = capsys.readouterr().err.splitlines()
    assert [line.partition(" is no page")[0] for line in warnings] == [
        f"boostbench: {folder / name}.md" for name in ("folder", "notes")
    ]
    assert all(line.endswith("; left out") for line in warnings)


def test_svg_is_preferred_unless_png_is_much_smaller(folder):
    nine, ten, eleven = find_figures(folder)
    assert content(nine.pictures[0]) == ("fig9, x^y", "data:image/png", b"p" * 100)
    assert content(ten.pictures[0]) == ("fig10, x^y", "data:image/svg+xml", b"s" * 150)
    assert eleven.pictures == [("fig11, x^y", "")]


@pytest.mark.parametrize("name", ["my bars", "a(1) 50%", "größe"])
def test_picture_may_have_any_name(tmp_path, name):
    definition = FigureDefinition(name=name, title="V", caption="C")
    (tmp_path / f"{name}.md").write_text(page_text(definition, Drawing(None, tmp_path, [])))
    (tmp_path / f"{name}.svg").write_bytes(b"s")
    [figure] = find_figures(tmp_path)
    assert [content(picture) for picture in figure.pictures] == [("V", "data:image/svg+xml", b"s")]


def test_words_become_html_and_html_stays_words(folder):
    figure = read_figure_page(folder / "fig10.md")
    assert figure.title == "fig10, x^y"
    assert "<p>A &lt;b&gt;caption&lt;/b&gt;.</p>" in figure.caption
    assert re.search(r"<th[^>]*>data</th>", figure.caption)
    assert re.search(r"<td[^>]*>wine</td>", figure.caption)
    assert "<img" not in figure.caption
    assert "x^y" not in figure.caption  # heading and picture are not repeated


def test_only_pictures_of_the_folder_are_shown(folder, tmp_path):
    outside = tmp_path.parent / "secret.png"
    outside.write_bytes(b"secret")
    text = "# T\n\n![a](../secret.png)\n\n![b](https://example.org/b.png)\n\n![c](fig10.svg)\n"
    (folder / "odd.md").write_text(text)
    figure = read_figure_page(folder / "odd.md")
    assert [(words, uri[:10]) for words, uri in figure.pictures] == [
        ("a", ""),
        ("b", ""),
        ("c", "data:image"),
    ]
