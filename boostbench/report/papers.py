"""What the papers are called."""

#: Titles of the papers, by the names that tables and published CSVs give them.
TITLES = {
    "randomboost": "RandomBoost",
    "mcboost": "MCBoost",
    "rpboost": "RpBoost",
    "cgens": "CGENS",
    "ladder": "LADDER",
}


def title(paper: str) -> str:
    """Give a paper's title; of a paper that is not known, its name."""
    return TITLES.get(paper, paper)
