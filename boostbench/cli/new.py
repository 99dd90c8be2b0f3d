"""Write the folder of a paper of your own, which runs at once."""

import re
from argparse import ArgumentParser, Namespace

from boostbench.util.configs import paper_folders
from boostbench.util.errors import UserError
from boostbench.util.files import atomic_write_text, user_path, writing_to
from boostbench.util.terminal import echo

# Text of each file; {name} is the name of the paper. The numbers are an example; the user replaces
# them. The file table1.yaml of the paper NAME defines the table NAME1.
_FILES = {
    "paper.yaml": """\
# table1.csv has the numbers of the paper's Table 1 (two of MCBoost's Table V: replace them), and
# table1.yaml the experiments that reproduce them.
title: {name}
authors: A. Author, B. Author
work: Title of the paper
venue: Journal
year: 2026
tables:
  # digits: printed decimals; repeats: number of splits behind each number.
  table1: {{quantity: test_error, digits: 1, repeats: 50}}
""",
    "table1.csv": """\
data,algo,test_error_mean,test_error_std
wine,adaboost_mh,2.9,2.5
wine,samme,4.5,3.6
""",
    "table1.yaml": """\
title: "{name}, Table 1"
overrides: [algo.n_iterations=100, protocol.n_splits=10]
published: {name}-table1
rows: [wine]
columns: [adaboost_mh, samme]
""",
    "figure1.yaml": """\
kind: curves
title: "{name}, Figure 1"
caption: Mean test error over the splits, against the number of boosting rounds.
table: {name}1
""",
}


def arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("kind", choices=["paper"], help="paper")
    parser.add_argument("name", metavar="NAME", help="short name: letters, digits and _")
    parser.add_argument(
        "--papers",
        type=user_path,
        default=user_path("papers"),
        metavar="DIR",
        help="default: papers",
    )


def run(args: Namespace) -> None:
    """Write the files of a paper, and print the commands that use them."""
    if not re.fullmatch(r"[A-Za-z]\w*", args.name, re.ASCII):
        raise UserError(f"{args.name!r} is no name of a paper: use letters, digits and _")
    if args.name in dict(paper_folders()):
        raise UserError(f"{args.name} is a paper of the project; choose another name")
    folder = args.papers / args.name
    if folder.exists():
        raise UserError(f"{folder} exists already; choose another name, or edit its files")
    for file_name, content in _FILES.items():
        path = folder / file_name
        with writing_to(path, "choose another folder by --papers"):
            atomic_write_text(path, content.format(name=args.name))
    echo(f"written: {folder}/{', '.join(_FILES)}")
    for command in (f"table {args.name}1", f"check {args.name}1", f"figure {args.name}1", "report"):
        echo(f"  boostbench --papers {args.papers} {command}")
