"""A small repository with classifiers that change from one commit to the next, each in its way."""

import subprocess
from pathlib import Path

BASE = '''
class Base:
    """Class 1 where a score is above a threshold."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def get_params(self, deep=True):
        return {"shift": self.shift}

    def set_params(self, shift):
        self.shift = shift
        return self

    def fit(self, X, y):
        self.n_iterations_ = self.n_parameters_ = 1
        self.threshold_ = self.find(self.score(X)) + self.shift
        return self

    def predict(self, X):
        return (self.score(X) > self.threshold_).astype(int)

    def score(self, X):
        return X[:, 0]

    def find(self, scores):
        return scores.mean()
'''
HEAD = "import numpy as np\n\nfrom toyboost.base import Base\n\n\n"

#: By module, its source before and after.
MODULES = {
    # Another formula.
    "formula": (
        HEAD + "class Formula(Base):\n    pass\n",
        HEAD
        + "class Formula(Base):\n    def find(self, scores):\n        return scores.max() / 4\n",
    ),
    # A branch that few features do not enter.
    "branch": (
        HEAD + "class Branch(Base):\n    def score(self, X):\n"
        "        return X[:, 0] if X.shape[1] < 5 else X[:, 1]\n",
        HEAD + "class Branch(Base):\n    def score(self, X):\n"
        "        return X[:, 0] if X.shape[1] < 5 else X[:, 2]\n",
    ),
    # A function that moves to another file.
    "moved": (
        HEAD + "def total(X):\n    return X.sum(axis=1)\n\n\n"
        "class Moved(Base):\n    def score(self, X):\n        return total(X)\n",
        HEAD + "from toyboost.sums import total\n\n\n"
        "class Moved(Base):\n    def score(self, X):\n        return total(X)\n",
    ),
    # The same, of a class whose grid is fitted by warm starts.
    "path": (
        HEAD + "class Path(Base):\n    warm_parameters = ('shift',)\n\n"
        "    def __init__(self, shift=0.0, warm_start=False):\n"
        "        super().__init__(shift)\n        self.warm_start = warm_start\n",
        HEAD + "from toyboost.sums import total\n\n\n"
        "class Path(Base):\n    warm_parameters = ('shift',)\n\n"
        "    def __init__(self, shift=0.0, warm_start=False):\n"
        "        super().__init__(shift)\n        self.warm_start = warm_start\n",
    ),
    # Three numbers that are added up in another order.
    "ordered": (
        HEAD + "class Ordered(Base):\n    def score(self, X):\n"
        "        return X[:, 0] + X[:, 1] + X[:, 2]\n\n"
        "    def find(self, scores):\n        return 0.6\n\n\nclass Judged(Ordered):\n    pass\n",
        HEAD + "class Ordered(Base):\n    def score(self, X):\n"
        "        return X[:, 2] + X[:, 1] + X[:, 0]\n\n"
        "    def find(self, scores):\n        return 0.6\n\n\nclass Judged(Ordered):\n    pass\n",
    ),
    # Another formula, of which little is on record.
    "rare": (
        HEAD + "class Rare(Base):\n    pass\n",
        HEAD + "class Rare(Base):\n    def score(self, X):\n        return X[:, 1]\n",
    ),
    # Nothing but the time that it takes.
    "slower": (
        HEAD + "class Slower(Base):\n    pass\n",
        HEAD + "class Slower(Base):\n    def find(self, scores):\n"
        "        for _ in range(20_000):\n            np.sort(scores)\n"
        "        return scores.mean()\n",
    ),
    "sums": (None, "def total(X):\n    return X.sum(axis=1)\n"),
}


class ToyRepository:
    """A git repository in a folder, with a package ``toyboost``."""

    def __init__(self, root: Path):
        self.root = root
        self.package = root / "toyboost"
        self.package.mkdir(parents=True)
        self.git("init", "--quiet")
        self.git("config", "user.name", "somebody")
        self.git("config", "user.email", "somebody@example.org")

    def git(self, *arguments: str) -> str:
        """Call git in the repository."""
        call = ["git", "-C", str(self.root), *arguments]
        return subprocess.run(call, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, **modules: str | None) -> None:
        """Write modules of the package."""
        for name, source in modules.items():
            if source is not None:
                (self.package / f"{name}.py").write_text(source)

    def commit(self, **modules: str | None) -> str:
        """Write modules, commit all, and give the commit's name."""
        self.write(**modules)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "modules")
        return self.git("rev-parse", "HEAD")
