"""The site of the documentation: `make docs`.

The sources are the Markdown pages where they are, from the root of the repository, so that the same
relative links work on the site and on a code host.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "site")]

from boostbench import __version__  # noqa: E402

project = "boostbench"
author = "The boostbench developers"
copyright = author
version = release = __version__

root_doc = "docs/index"
include_patterns = [
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**"),
    *("results/README.md", "results/figures/*.md", "results/tables/*.md"),
]
# Folders that are not even looked into.
exclude_patterns = ["docs/_build", "docs/site", ".*", "results/records", "demo", "**/README.rst"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
templates_path = ["docs/site/templates"]  # of autosummary, which counts from the root
default_role = "code"
nitpick_ignore_regex = [(".*", ".*")]

suppress_warnings = ["misc.highlighting_failure"]  # languages that Pygments does not know

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_dmath_double_inline = False
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin",
}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/generated/gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "reference_url": {},
    "plot_gallery": True,
    "min_reported_time": 0,
}

html_theme = "furo"
html_title = f"boostbench {version}"
html_copy_source = False
html_show_sphinx = False
# The root of the site has no page of its own: it leads to docs/index.html.
html_extra_path = ["site/root"]
html_static_path = ["site/static"]
html_css_files = ["site.css"]


# Literals and roles, which stay; then names as scikit-learn's fitted attributes have them.
_ATTRIBUTE = re.compile(
    r"(``.*?``|:\w+:`.*?`|`.*?`_?)|(?<![\w\\\\])([A-Za-z]\w*_)(?=[\s,.;:)*\]]|$)"
)


# An author's initial, which would be the letter of an enumeration.
_INITIAL = re.compile(r"(\.\. \[\w+\] [A-Z])\. ")


def _escape(app, what, name, member, options, lines):
    """Let "n_iterations_" be a name in a docstring, and no reference."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            line = _INITIAL.sub(r"\1\\. ", line)
            lines[i] = _ATTRIBUTE.sub(lambda m: m[1] or m[2][:-1] + r"\_", line)


# Every table and figure, which results/README.md links on a Git host.
_RESULTS = """
```{toctree}
:hidden:
:glob:

tables/*
figures/*
```
"""
# `make docs` adds the page; the repository has the records that it is made of.
_REPORT = """
<p><a href="../results/report.html">The report on the project's own results</a></p>
"""


def _adapt_page(app, docname, source):
    """Add what only the site has, and link the gallery instead of the examples' folder.

    A Git host would show a table of contents as code, so that the pages have none.
    """
    if docname == "docs/index":
        source[0] += "\n" + (ROOT / "docs" / "site" / "contents.md").read_text(encoding="utf-8")
    elif docname == "results/README":
        source[0] += _RESULTS
    elif docname == "docs/report":
        source[0] += _REPORT
    gallery = "docs/" if docname == "README" else ""
    source[0] = re.sub(
        r"\]\((\.\./)?examples/README\.rst\)", f"]({gallery}generated/gallery/index.rst)", source[0]
    )


def _skip(app, what, name, member, skip, options):
    """Leave out what scikit-learn's metadata routing adds to every estimator."""
    routing = name.startswith("set_") and name.endswith("_request")
    return True if routing or name in ("get_metadata_routing", "set_output") else None


def setup(app):
    """Connect what is above."""
    app.connect("source-read", _adapt_page)
    app.connect("autodoc-skip-member", _skip)
    # Behind numpydoc, which makes plain reStructuredText of the docstrings.
    app.connect("autodoc-process-docstring", _escape, priority=900)
