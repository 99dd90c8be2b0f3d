"""Compress the large record files of a folder of results, and its cross-validation trials.

``python scripts/pack_records.py [RESULTS]`` keeps the newest of several records of one result. The
lines of every ``ALGO.tuning.jsonl``, and of every other file of more than 50 kB, go to a file of
the same name with ``.gz``, which is read like the other files. Later records are appended to a new
file without ``.gz``.
"""

import argparse
import sys
from pathlib import Path

from boostbench.records.store import deduplicate, pack, record_paths
from boostbench.util.errors import UserError

# Bytes. Smaller files stay uncompressed, so that git compares them line by line.
LARGE = 50_000


def main() -> int:
    """Compress the files, and print the size before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", type=Path, default=Path("results"))
    paths = record_paths(parser.parse_args().results)
    try:
        gone = sum(deduplicate(path) for path in paths)
        paths = [path for path in paths if path.exists() and is_worth_it(path)]
        saved = sum(pack(path) for path in paths)
    except UserError as error:
        print(f"pack_records: {error}", file=sys.stderr)
        return 2
    print(f"{gone} older records gone, {len(paths)} files packed, {saved / 1e6:.1f} MB less")
    return 0


def is_worth_it(path: Path) -> bool:
    """Return whether a file of records is worth packing."""
    return path.stem.endswith(".tuning") or path.stat().st_size > LARGE


if __name__ == "__main__":
    sys.exit(main())
