"""The site of the documentation has all pages and all names; `make docs` builds it."""

import ast
import importlib
import json
import re
import runpy
import sys
from pathlib import Path

import pytest

import boostbench
import boostbench.inspection
from boostbench.config.table_definitions import TableDefinition
from boostbench.util import configs

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
API = re.findall(r"^   ~(\S+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), re.MULTILINE)
TABLES = (DOCS / "tables.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(DOCS.glob("*.md")),
]


def _public(module):
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    kinds = ast.FunctionDef, ast.ClassDef
    return {node.name for node in tree.body if isinstance(node, kinds) and node.name[0] != "_"}


def test_all_public_names_are_in_the_reference():
    assert len(API) == len(set(API))
    expected = {f"boostbench.{name}" for name in boostbench.__all__}
    expected |= {f"boostbench.inspection.{name}" for name in boostbench.inspection.__all__}
    for name in ("boostbench.conversion", "boostbench.testing"):
        expected |= {f"{name}.{part}" for part in _public(importlib.import_module(name))}
    assert expected <= set(API)


@pytest.mark.parametrize("name", API)
def test_names_of_the_reference_exist(name):
    module, _, part = name.rpartition(".")
    assert getattr(importlib.import_module(module), part).__doc__


def test_site_contents_list_every_page():
    contents = (DOCS / "site" / "contents.md").read_text(encoding="utf-8")
    trees = re.findall(r"```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)```", contents, re.DOTALL)
    listed = [re.sub(r".*<(.*)>", r"\1", line) for tree in trees for line in tree.splitlines()]
    pages = [path.stem for path in DOCS.glob("*.md") if path.stem != "index"]
    pages += ["api", "generated/gallery/index", "../results/README"]
    pages += ["../README", "../CONTRIBUTING", "../CHANGELOG"]
    assert sorted(listed) == sorted(pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_have_no_unrendered_directives(page):
    assert not re.findall(r"^(?:```|:::)\{\w+\}", page.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_to_files(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not link.startswith("http"):
            assert (page.parent / link).is_file(), f"{page.name} links to {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_in_code_quotes_exist(page):
    text = page.read_text(encoding="utf-8")
    if page.name == "CHANGELOG.md":  # Earlier versions have names of their time.
        text = text.split("\n## 1.")[0]
    for name in re.findall(r"`((?:boostbench|scripts|tests)/[\w/.-]+)`", text):
        assert (ROOT / name).exists(), f"{page.name} names {name}"


PAPERS = sorted(DOCS.glob("paper-*.md"))


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
def test_excerpts_equal_the_code(page):
    text = page.read_text(encoding="utf-8")
    update_excerpts = runpy.run_path(str(ROOT / "scripts" / "update_excerpts.py"))
    assert update_excerpts["insert_excerpts"](text) == text, "run scripts/update_excerpts.py"


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
def test_each_excerpt_has_a_table_of_symbols_that_occur_in_it(page):
    excerpts = re.findall(
        r"^<!-- excerpt: \S+ (\S+) -->\n```python\n(.*?)^```\n\n"
        r"\| in the paper \| in the code \|\n\| --- \| --- \|\n((?:\|[^\n]*\n)+)",
        page.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert len(excerpts) == page.read_text(encoding="utf-8").count("<!-- excerpt:")
    assert len(excerpts) > 2
    for name, code, table in excerpts:
        variables = [v for v in re.findall(r"`([^`]+)`", table) if v.startswith("self.")]
        missing = [v for v in variables if v not in code]
        assert not missing, f"{name}: {missing}"


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
def test_symbols_of_the_papers_are_formulas(page):
    tables = re.findall(
        r"^\| in the paper \| in the code \|\n\| --- \| --- \|\n((?:\|[^\n]*\n)+)",
        page.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    for row in "".join(tables).splitlines():
        words = re.sub(r"\$[^$]+\$|`[^`]+`", "", row)
        assert not re.search(r"[_^\u0391-\u03c9\u2202\u2208-\u22ff]", words), row


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
def test_page_of_a_paper_has_all_tables(page):
    text = page.read_text(encoding="utf-8")
    prefix = page.stem.removeprefix("paper-")
    named = re.findall(r"`boostbench table (\S+)`", text)
    assert sorted(named) == [
        name for name in configs.list_options("table") if name.startswith(prefix)
    ]
    [(name, row, column)] = re.findall(
        r"^    boostbench table (\S+) --row (\S+) --column (\S+)$", text, re.MULTILINE
    )
    table = TableDefinition.read(name)
    assert row in table.row_names
    assert column in table.column_names


def test_example_of_a_user_table_runs(done, folder, monkeypatch):
    [text] = re.findall(r"^```yaml\n(title: Which loss.*?)^```$", TABLES, re.MULTILINE | re.DOTALL)
    Path("my-table.yaml").write_text(text, encoding="utf-8")
    Path("my.csv").write_text("a,species\n" + "1,x\n2,y\n" * 10)
    Path("mymodel.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier\n\n\n"
        "class Mine(DecisionTreeClassifier):\n"
        "    def __init__(self, depth=2):\n"
        "        super().__init__(max_depth=depth)\n"
        "        self.depth = depth\n"
    )
    # Remove the module, since other tests import modules of the same name.
    monkeypatch.delitem(sys.modules, "mymodel", raising=False)
    monkeypatch.syspath_prepend(folder)
    assert done("table", "my-table.yaml", "rerun=never").out.startswith("Which loss?")


def test_all_protocols_are_explained():
    section = TABLES.partition("\n## Protocols\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert sorted(told) == configs.list_options("protocol")


def test_documented_comparison_equals_compare(done):
    page = (DOCS / "significance.md").read_text(encoding="utf-8")
    [(n, difference, p, corrected, command)] = re.findall(
        r"On vowel \((\d+) splits\) RBoost\^proj errs (\S+) points less than AdaBoost.MH: "
        r"p = (\S+)\s+by the signed-rank test, and (\S+) by the corrected t-test "
        r"\(`boostbench ([^`]*)`\)",
        page,
    )
    result = json.loads(done(*command.split(), "--json", f"results={ROOT / 'results'}").out)
    [pair] = result["pairs"]
    assert int(n) == result["n"]
    assert difference == f"{-pair['difference']:.1f}"
    assert p == f"{pair['p']:.0e}"
    assert corrected == f"{pair['p_resampled']:.2f}"


def test_python_example_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib.pyplot").switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    exec(code, {})
    assert float(capsys.readouterr().out) > 0.95


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    drawn = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda: drawn.append(pyplot.gcf()) or pyplot.close("all"))
    runpy.run_path(str(path))
    assert drawn


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_a_title(path):
    title, line = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).splitlines()[:2]
    assert path.stem.startswith("plot_")
    assert line == "=" * len(title)
