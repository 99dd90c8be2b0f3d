"""Insert the code that pages of the documentation quote: each excerpt equals its source.

A page names an excerpt in a comment, which neither the site nor a Git host shows, and the script
writes the source of this function into the code block below it:

    <!-- excerpt: boostbench/algorithms/mcboost.py _MCBoostMaster.generate -->

Run it after a change of a quoted function; `--check` lists the pages that it would change.
"""

import argparse
import ast
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_EXCERPT = re.compile(
    r"^<!-- excerpt: (?P<path>\S+) (?P<name>\S+) -->\n(?:```python\n.*?^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def read_definition(path: Path, name: str) -> str:
    """Return the source of a class, function or method, without its indentation.

    Parameters
    ----------
    path : Path
        Python file.
    name : str
        Qualified name, such as ``"MCBoost.fit"``.

    Raises
    ------
    LookupError
        If the file has no such definition.
    """
    source = path.read_text(encoding="utf-8")
    body = ast.parse(source).body
    for part in name.split("."):
        matches = [node for node in body if getattr(node, "name", None) == part]
        if not matches:
            raise LookupError(f"{path.name} has no {name}")
        body = matches[0].body
    node = matches[0]
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return textwrap.dedent("\n".join(source.splitlines()[first - 1 : node.end_lineno]))


def insert_excerpts(text: str) -> str:
    """Return the text of a page with the present source of all its excerpts."""

    def block(match):
        code = read_definition(ROOT / match["path"], match["name"])
        return f"<!-- excerpt: {match['path']} {match['name']} -->\n```python\n{code}\n```\n"

    return _EXCERPT.sub(block, text)


def main() -> int:
    """Update all pages; return 1 if `--check` found an outdated page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="list outdated pages, write nothing")
    arguments = parser.parse_args()
    outdated = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        updated = insert_excerpts(text)
        if updated != text:
            outdated.append(page.name)
            if not arguments.check:
                page.write_text(updated, encoding="utf-8")
    for name in outdated:
        print(f"{'outdated' if arguments.check else 'updated'}: docs/{name}")
    return int(arguments.check and bool(outdated))


if __name__ == "__main__":
    sys.exit(main())
