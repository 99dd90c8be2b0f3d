"""Pack the cross-validation trials of a folder of results, which are many and seldom read.

``python scripts/pack_records.py [RESULTS]``. The lines of every ``ALGO.tuning.jsonl`` go to
``ALGO.tuning.jsonl.gz``, from where they are read as before; what is run later is appended to a new
``ALGO.tuning.jsonl``.
"""

import argparse
import sys
from pathlib import Path

from boostbench.errors import UserError
from boostbench.experiment.records import pack, record_paths


def main() -> int:
    """Pack; say how much smaller the folder became."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", type=Path, default=Path("results"))
    paths = record_paths(parser.parse_args().results)
    paths = [path for path in paths if path.stem.endswith(".tuning") and path.exists()]
    try:
        saved = sum(pack(path) for path in paths)
    except UserError as error:
        print(f"pack_records: {error}", file=sys.stderr)
        return 2
    print(f"{len(paths)} files packed, {saved / 1e6:.1f} MB less")
    return 0


if __name__ == "__main__":
    sys.exit(main())
