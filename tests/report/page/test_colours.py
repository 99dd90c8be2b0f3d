import re

import pytest

from boostbench.analysis.verdicts import VERDICTS
from boostbench.report.page.render import verdict_variables

#: Grey text on the page, and the paper, in the light and in the dark theme: as in ``page.css``.
SOFT, PAPER = ("#59616c", "#a3abb6"), ("#ffffff", "#14171b")


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    """Contrast of two colours, as WCAG 2 defines it."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def shades(name):
    """Give a variable's colours in the light and in the dark theme."""
    (value,) = re.findall(rf"--{name}: (.*);", verdict_variables())
    colours = re.findall("#[0-9a-f]{6}", value)
    return colours * 2 if len(colours) == 1 else colours


@pytest.mark.parametrize("verdict", ["reproduced", "better", "worse", "failed"])
@pytest.mark.parametrize("theme", [0, 1])
def test_text_on_a_verdicts_colour_can_be_read(verdict, theme):
    behind = shades(f"on-{verdict}")[theme]
    assert contrast(shades(verdict)[theme], behind) >= 4.5
    assert contrast(SOFT[theme], behind) >= 4.5
    assert contrast(PAPER[1 - theme], behind) >= 4.5


def test_page_has_the_colours_of_the_verdicts():
    assert [verdict for verdict in VERDICTS if not VERDICTS[verdict].colour] == ["not published"]
    for verdict, (colour, *_) in list(VERDICTS.items())[:-1]:
        assert shades(f"bar-{verdict.replace(' ', '-')}")[0] == colour
