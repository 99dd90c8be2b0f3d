"""Formulas as MathML, which browsers draw themselves: no script comes from another server."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_logger = logging.getLogger(__name__)
# What the converter does not know: sizes of delimiters, and fractions without braces.
_PLAINER = (
    (re.compile(r"\\[Bb]igg?(?![a-zA-Z])"), ""),
    (re.compile(r"\\frac\s*(\d|[a-zA-Z](?![a-zA-Z]))"), r"\\frac{\1}"),
    (re.compile(r"(\\frac\{\w\})\s*(\w)"), r"\1{\2}"),
)


def _drawn(node, as_block):
    text = node.astext()
    for pattern, plain in _PLAINER:
        text = pattern.sub(plain, text)
    try:
        return tex2mathml(text, as_block=as_block)
    except MathError as error:
        _logger.warning("no MathML of %r: %s", text, error, location=node)
        return f"<code>{text}</code>"


def _inline(translator, node):
    translator.body.append(_drawn(node, as_block=False))
    raise nodes.SkipNode


def _block(translator, node):
    translator.body.append(f'<div class="math">{_drawn(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Add the way to draw formulas."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
