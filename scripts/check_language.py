"""Count words and names that make the code hard to read; the counts may only fall.

``make lint`` runs this script. It reads the docstrings, comments and names of the package and
counts the patterns below, by folder. A folder that has more of a pattern than
``check_language.json`` allows fails the check. After an improvement,
``python scripts/check_language.py --update`` lowers the limits. ``--list PATH ...`` prints the
counted places, with their lines.

The rules behind the patterns are in CONTRIBUTING.md.
"""

import argparse
import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIMITS = Path(__file__).with_suffix(".json")

# Words of a sentence for which the field has a noun.
VAGUE_WORDS = {
    "what": re.compile(r"\b(what|whatever)\b", re.IGNORECASE),
    "that of": re.compile(r"\b(that|those) of\b", re.IGNORECASE),
    "so many": re.compile(r"\bso (many|much)\b", re.IGNORECASE),
    "tell": re.compile(r"\b(tell|tells|told)\b", re.IGNORECASE),
    "begins with Of": re.compile(r"^(As )?Of\b"),
}
# A docstring or a comment that begins with one of these words is no whole sentence.
FRAGMENT_STARTS = """
    anything as at beside by everybody everything for from he how in it its no nobody none nothing
    of on one only other others some such that their there they those to what where whether which
    who whose with without
"""
# A definition is named by a noun or a verb. These words are neither, alone or in front of a name.
FUNCTION_WORDS = """
    after again all alone anew any are as asked at before beside busy by changed for found given how
    if in kept known left made meant more near needed no nothing of on once only other others said
    seen since so some to told until wanted what where while who whole with without
"""
# Constructors and conversions that Python programmers call by these names everywhere. A method that
# returns a changed copy is called like pathlib's `with_suffix`.
USUAL_PREFIXES = ("from_", "to_", "as_frame", "with_traceback", "with_shape", "all_estimators")
VAGUE_VARIABLES = "at beside found kept known left more others own some"


class Place(NamedTuple):
    """Line of a file that breaks a rule."""

    path: Path
    line: int
    pattern: str
    text: str


def main(arguments=None):
    """Compare the counts of the package with the limits; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="lower the limits to today's counts")
    parser.add_argument("--list", nargs="+", type=Path, metavar="PATH", help="print the places")
    options = parser.parse_args(arguments)
    if options.list:
        for place in find_places(options.list):
            print(f"{place.path}:{place.line}: {place.pattern}: {place.text}")
        return 0
    counts = count_by_folder(find_places([ROOT / "boostbench"]))
    limits = json.loads(LIMITS.read_text("utf-8")) if LIMITS.exists() else {}
    excesses = [
        f"{folder}: {pattern}: {count}, and the limit is {limits.get(folder, {}).get(pattern, 0)}"
        for folder, patterns in counts.items()
        for pattern, count in patterns.items()
        if count > limits.get(folder, {}).get(pattern, 0)
    ]
    if options.update:
        LIMITS.write_text(json.dumps(counts, indent=2, sort_keys=True) + "\n", "utf-8")
    elif excesses:
        print("Some sentences or names break the rules of CONTRIBUTING.md:", *excesses, sep="\n")
        print("`python scripts/check_language.py --list FOLDER` prints the places.")
        return 1
    return 0


def count_by_folder(places):
    """Return the number of places of each pattern in each folder of the package."""
    counts = defaultdict(Counter)
    for place in places:
        parts = place.path.resolve().relative_to(ROOT).parts
        counts["/".join(parts[:2]) if len(parts) > 2 else parts[0]][place.pattern] += 1
    return {folder: dict(sorted(patterns.items())) for folder, patterns in sorted(counts.items())}


def find_places(paths):
    """Yield the places of all Python files at or below some paths."""
    for path in paths:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            source = file.read_text("utf-8")
            tree = ast.parse(source)
            for line, pattern, text in (
                *check_docstrings(tree),
                *check_comments(source),
                *check_names(tree, file.stem),
            ):
                yield Place(file, line, pattern, text)


def check_docstrings(tree):
    """Yield (line, pattern, text) of sentences in docstrings that break a rule."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        docstring = ast.get_docstring(node)
        if docstring:
            line = node.body[0].lineno
            yield from check_prose(line, docstring)
            if is_fragment(docstring):
                yield line, "docstring fragment", docstring.splitlines()[0]


def check_comments(source):
    """Yield (line, pattern, text) of comments that break a rule; adjacent lines are one comment."""
    block, first_line = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            first_line = first_line if block else token.start[0]
            block.append(token.string.lstrip("# "))
        elif block and token.type not in (tokenize.NL, tokenize.NEWLINE):
            text = " ".join(block)
            yield from check_prose(first_line, text)
            if is_fragment(text):
                yield first_line, "comment fragment", text
            block = []


def check_prose(line, text):
    """Yield (line, pattern, sentence) of vague words in a docstring or comment."""
    for sentence in split_sentences(text):
        for pattern, expression in VAGUE_WORDS.items():
            if expression.search(sentence):
                yield line, pattern, sentence


def split_sentences(text):
    """Return the sentences of a text; doctests, rules and bullets are left out."""
    lines, in_doctest = [], False
    for line in map(str.strip, text.splitlines()):
        in_doctest = line.startswith(">>>") or (in_doctest and bool(line))
        if not in_doctest and not line.startswith(("..", "---", "===")):
            lines.append(line)
    return re.split(r"(?<=[.:;?!])\s+", " ".join(lines))


def is_fragment(text):
    """Return True if a text begins with a word that cannot begin a description."""
    first_word = re.match(r"[A-Za-z]+", text)
    return first_word is not None and first_word[0].lower() in FRAGMENT_STARTS.split()


def check_names(tree, module):
    """Yield (line, pattern, name) of modules, definitions and variables with vague names."""
    if is_function_word(module):
        yield 1, "name", module
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if is_function_word(node.name):
                yield node.lineno, "name", node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if node.id in VAGUE_VARIABLES.split():
                yield node.lineno, "variable", node.id
        elif isinstance(node, ast.arg) and node.arg in VAGUE_VARIABLES.split():
            yield node.lineno, "variable", node.arg


def is_function_word(name):
    """Return True if a name begins with a preposition, a pronoun or a bare participle."""
    words = name.strip("_").split("_")
    return words[0] in FUNCTION_WORDS.split() and not name.lstrip("_").startswith(USUAL_PREFIXES)


if __name__ == "__main__":
    sys.exit(main())
