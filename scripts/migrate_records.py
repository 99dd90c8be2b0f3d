"""Rewrite records of the first schema in the second, once; nothing is lost and nothing is guessed.

    python scripts/migrate_records.py [RESULTS]

Every line of the first schema carries its key, a digest of its config and of the rows of its split.
The script divides the data again, as the config says, and rewrites a line only if that gives its
key; so the checksum of the rows, which the second schema writes down, is exact. It needs the data
sets ($BOOSTBENCH_DATA) and the git history: a line's code is known by a fingerprint, and the commit
is the newest one whose code has it. A config is completed with the defaults that the constructor
had there.

A file is replaced after all its lines have been read back and compared, field by field.
"""

import argparse
import ast
import functools
import hashlib
import io
import itertools
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boostbench import configs
from boostbench.data.dataset import Dataset
from boostbench.data.load import load
from boostbench.definitions.compose import experiments
from boostbench.errors import UserError
from boostbench.experiment import code, lines
from boostbench.experiment.protocol import Protocol
from boostbench.experiment.splits import Split, numbered, splits
from boostbench.experiment.tuning import inner_splits

REPOSITORY = Path(__file__).parents[1]
PACKAGE = "boostbench"
ALGORITHMS = f"{PACKAGE}.algorithms"
#: Fields of a line that say what it is of, and not what came out.
LABELS = ("algo", "data", "seed", "config", "config_hash", "fingerprint", "key", "environment")
#: The same, in a record of the second schema.
ADDED = {
    *("key", "asked", "rows"),
    *("config", "config_hash"),
    *("code", "commit", "environment"),
}


def main() -> int:
    """Migrate a folder of results; say what was done, file by file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", type=Path, default=Path("results"))
    paths = sorted((parser.parse_args().results / "records").glob("*/*.jsonl"))
    try:
        migrate(paths, History(REPOSITORY), Rows())
    except UserError as error:
        print(f"migrate_records: {error}", file=sys.stderr)
        return 2
    return 0


def migrate(paths: Iterable[Path], history: "History", rows: "Rows") -> None:
    """Rewrite files of records; one that holds no line of the first schema stays as it is.

    Raises
    ------
    UserError
        If a line cannot be rewritten exactly. Its file stays as it is, and those after it.
    """
    paths = list(paths)
    known = Configs(line for path in paths for line in first_schema(path))
    n_all = 0
    for path in paths:
        old = first_schema(path)
        if not old:
            continue
        body = path.read_bytes()
        new, n = _rewritten(path, known, history, rows)
        _verify(path, old, new)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(new)
        Path(file.name).chmod(path.stat().st_mode)
        Path(file.name).replace(path)
        n_all += n
        print(f"{path}: {n} records, {len(body) / 1e6:.2f} MB before, {len(new) / 1e6:.2f} MB now")
    print(f"{n_all} records")


def first_schema(path: Path) -> list[dict]:
    """Read the lines of the first schema."""
    found = (json.loads(line) for line in path.read_bytes().splitlines())
    return [line for line in found if "fingerprint" in line]


def _rewritten(path: Path, known: "Configs", history: "History", rows: "Rows") -> tuple[bytes, int]:
    body, written, n = [], set(), 0
    for number, text in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
        line = json.loads(text)
        if "fingerprint" not in line:
            body.append(text)
            continue
        try:
            definitions, record = lines.compose(_second(line, known, history, rows))
        except UserError as error:
            raise UserError(f"{path}:{number}: {error}") from None
        body += [definitions[name] for name in definitions if name not in written]
        body.append(record)
        written |= definitions.keys()
        n += 1
    return b"".join(body), n


def _second(line: Mapping, known: "Configs", history: "History", rows: "Rows") -> dict:
    """Give the record of a line of the first schema, as it is in memory."""
    config = known.of(line)
    made = history.made(config, line["fingerprint"])
    results = {name: value for name, value in line.items() if name not in LABELS}
    return {
        **results,
        "config": _completed(config, made),
        "rows": rows.checksum(config, line),
        "code": line["fingerprint"],
        "commit": made.commit,
        "environment": line.get("environment"),
    }


def _completed(config: Mapping, made: "Made") -> dict:
    params = {name: value for name, value in made.defaults.items() if name not in config["grid"]}
    # No projection was not written down at first.
    protocol = {"pca": None, **config["protocol"]}
    return {**config, "algo": {**params, **config["algo"]}, "protocol": protocol}


def _verify(path: Path, old: list[dict], new: bytes) -> None:
    """Read all back, superseded lines as well, and compare."""
    definitions, found = lines.Definitions(), []
    kind = path.name.removesuffix(".jsonl").partition(".")[2]
    for text in new.splitlines():
        line = lines.parse(text)
        if "hash" in line:
            definitions.add(line)
        else:
            found.append(definitions.record(line, kind))
    found = found[-len(old) :]  # whatever was of the second schema before comes first
    if len(found) != len(old):
        raise UserError(f"{path}: {len(old)} records have become {len(found)}")
    for before, after in zip(old, found, strict=True):
        results = {name: value for name, value in before.items() if name not in LABELS}
        expected = {
            **results,
            **{name: before[name] for name in ("config", "environment") if name in before},
            "code": before["fingerprint"],
        }
        is_same = all(_is_part(value, after[name]) for name, value in expected.items())
        is_same &= after.keys() == results.keys() | ADDED
        is_same &= after["config"]["seed"] == before["seed"]
        is_same &= after["config"]["data"]["name"] == before["data"]
        is_same &= path.name.partition(".")[0] == before["algo"]
        if not is_same:
            raise UserError(f"{path}: the record {before['key']} did not come out the same")


def _is_part(part, whole) -> bool:
    """Whether all of one is in the other, with equal values of equal types."""
    if isinstance(part, Mapping):
        return all(name in whole and _is_part(value, whole[name]) for name, value in part.items())
    return json.dumps(part, sort_keys=True) == json.dumps(whole, sort_keys=True)


def first_digest(content) -> str:
    """Give the digest of the first schema."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Configs:
    """The configs of lines: cross-validation trials name theirs by hash only."""

    def __init__(self, found: Iterable[Mapping]):
        self._known: dict[str, dict] = {}
        for line in found:
            if "config" in line:
                if first_digest(line["config"]) != line["config_hash"]:
                    raise UserError(f"the config of record {line['key']} is not what its hash says")
                self._known[line["config_hash"]] = line["config"]

    def of(self, line: Mapping) -> dict:
        """Give the config of a line.

        Where no split of the experiment is on record, another config of the data has to do, with
        some parameters left out that did not exist yet: the hash tells which.
        """
        wanted = line["config_hash"]
        if wanted not in self._known:
            near = [c for c in self._known.values() if c["data"]["name"] == line["data"]]
            candidates = (shorter for config in near for shorter in _without_parameters(config))
            found = (config for config in candidates if first_digest(config) == wanted)
            config = next(found, None)
            if config is None:
                raise UserError(f"the config {wanted} is nowhere on record")
            self._known[wanted] = config
        return self._known[wanted]


def _without_parameters(config: Mapping) -> Iterator[dict]:
    names = [name for name in config["algo"] if name != "_target_"]
    for n_left_out in range(1, 4):
        for left_out in itertools.combinations(names, n_left_out):
            algo = {name: value for name, value in config["algo"].items() if name not in left_out}
            yield {**config, "algo": algo}


class Rows:
    """Checksums of the rows of splits and of folds."""

    def __init__(self):
        self._datasets: dict[str, Dataset] = {}
        self._splits: dict[str, list[Split]] = {}

    def checksum(self, config: Mapping, line: Mapping) -> str:
        """Divide the data again, and give the checksum of a line's rows.

        Raises
        ------
        UserError
            If the key of the line is not what the rows give.
        """
        split = self._split(config, line["split"])
        if "fold" in line:
            split = self._fold(config, split, line["fold"])
            parts = {name: config[name] for name in ("algo", "data")}
            scale, pca = config["protocol"]["scale"], config["protocol"].get("pca")
            points = line["points"] if "points" in line else line["point"]
            prepared = scale if pca is None else [scale, pca]
            key = first_digest([parts, prepared, points, split.seed, split.checksum])
        else:
            key = first_digest([line["config_hash"], split.index, split.checksum])
        if key != line["key"]:
            raise UserError(f"the rows of record {line['key']} are not as they were")
        return split.checksum

    def _split(self, config: Mapping, index: int) -> Split:
        name = first_digest({part: config[part] for part in ("data", "protocol", "seed")})
        name += "boundary" * ("boundary" in config)
        known = self._splits.get(name, [])
        if index >= len(known):
            dataset, seed = self.dataset(config["data"]), config["seed"]
            if "boundary" in config:
                known = [numbered(0, seed, np.arange(dataset.n_samples), np.arange(0))]
            else:
                protocol = Protocol.from_config({"n_splits": 2 * index + 10} | config["protocol"])
                known = splits(dataset, protocol, seed)
            self._splits[name] = known
        return known[index]

    def _fold(self, config: Mapping, split: Split, fold: int) -> Split:
        y = self.dataset(config["data"]).y[split.train]
        return list(inner_splits(split, y, config["protocol"]["n_folds"], "a split"))[fold]

    def dataset(self, facts: Mapping) -> Dataset:
        """Give the data set of recorded facts: one of ``conf/data``, perhaps with fewer classes."""
        if facts["checksum"] not in self._datasets:
            found = (one for one in _versions(facts) if one.checksum == facts["checksum"])
            dataset = next(found, None)
            if dataset is None:
                raise UserError(f"data set {facts['name']!r} is not as it was")
            self._datasets[facts["checksum"]] = dataset
        return self._datasets[facts["checksum"]]


@functools.cache
def _load(name: str) -> Dataset:
    stems = [stem for stem in configs.names("data") if configs.read("data", stem)["name"] == name]
    [spec] = experiments([[f"data={stem}"] for stem in stems[:1]])
    return load(spec["data"])


def _versions(facts: Mapping) -> Iterator[Dataset]:
    whole = _load(facts["name"])
    if whole.n_classes == facts["n_classes"]:
        yield whole
        return
    yield whole.take_classes(facts["n_classes"])
    labels = np.unique(whole.y).tolist()
    for some in itertools.combinations(labels, facts["n_classes"]):
        part = whole.take_classes(list(some))
        if part.n_samples == facts["n_samples"]:
            yield part


@dataclass(frozen=True)
class Made:
    """What a line was made by: a commit, and the defaults of the constructor there."""

    commit: str
    defaults: Mapping


class History:
    """The commits of a repository, and the fingerprints of the first schema."""

    def __init__(self, root: Path):
        self._root = root
        self._made: dict[tuple[str, str], Made] = {}
        self._defaults: dict[str, dict] = {}

    def made(self, config: Mapping, fingerprint: str) -> Made:
        """Find the newest commit whose code has a fingerprint.

        Raises
        ------
        UserError
            If there is none.
        """
        target = config["algo"]["_target_"]
        if (target, fingerprint) not in self._made:
            if not target.startswith(f"{PACKAGE}."):
                raise UserError(f"{target} is not of this repository; nothing is known of its code")
            is_path = "path" in config
            commit = next(
                (
                    c
                    for c in self._commits()
                    if self._fingerprint(c, target, is_path) == fingerprint
                ),
                None,
            )
            if commit is None:
                raise UserError(f"no commit has the code {fingerprint} of {target}")
            self._made[target, fingerprint] = Made(commit[:7], self._defaults_at(commit, target))
        return self._made[target, fingerprint]

    @functools.cache  # noqa: B019
    def _commits(self) -> list[str]:
        return self._git("log", "--format=%H", "--", PACKAGE).split()

    def _fingerprint(self, commit: str, target: str, is_path: bool) -> str | None:
        tree = self._tree(commit)
        module, _, name = target.rpartition(".")
        found = tree.fingerprint(tree.defining(module, name))
        if not is_path or found is None:
            return found
        paths = tree.fingerprint(f"{PACKAGE}.core.l1_path")
        return paths and first_digest([found, paths])

    @functools.cache  # noqa: B019
    def _tree(self, commit: str) -> "Tree":
        listed = self._git("ls-tree", "-r", commit, "--", PACKAGE).splitlines()
        found = {path: about.split()[2] for about, path in (line.split("\t") for line in listed)}
        return Tree(
            {path: blob for path, blob in found.items() if path.endswith(".py")}, self._blob
        )

    @functools.cache  # noqa: B019
    def _blob(self, blob: str) -> "Source":
        return Source(self._git("cat-file", "blob", blob))

    def _defaults_at(self, commit: str, target: str) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            archive = io.BytesIO(self._run("archive", "--format=tar", commit, "--", PACKAGE))
            with tarfile.open(fileobj=archive) as files:
                files.extractall(folder, filter="data")
            module, _, name = target.rpartition(".")
            program = (
                f"import inspect, json, {module}\n"
                f"signature = inspect.signature({module}.{name}).parameters.values()\n"
                "print(json.dumps({p.name: p.default for p in signature}))\n"
            )
            done = subprocess.run(
                [sys.executable, "-c", program],
                cwd=folder,
                env={"PYTHONPATH": folder},
                capture_output=True,
                text=True,
                check=True,
            )
        return json.loads(done.stdout)

    def _git(self, *arguments: str) -> str:
        return self._run(*arguments).decode()

    def _run(self, *arguments: str) -> bytes:
        command = ["git", "-C", str(self._root), *arguments]
        return subprocess.run(command, capture_output=True, check=True).stdout


class Source:
    """A file's text, as the fingerprints of the first schema look at it."""

    def __init__(self, text: str):
        self._text = text

    @functools.cached_property
    def code(self) -> str:
        """What is executed."""
        return code.code(self._text)

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self._text)


class Tree:
    """The modules of the package at a commit; `fingerprint` is that of the first schema."""

    def __init__(self, blobs: Mapping[str, str], source):
        self._blobs = blobs
        self._source = source

    def fingerprint(self, module: str) -> str | None:
        """Digest the code of a module and of all that it imports from the package."""
        if self._find(module) is None:
            return None
        found, waiting = set(), [module]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._imports(name)
        digest = hashlib.sha256()
        for name in sorted(found):
            digest.update(f"{name}\0{self._read(name).code}\0".encode())
        return digest.hexdigest()[:16]

    def defining(self, base: str, name: str) -> str:
        """Say which module ``from base import name`` means."""
        if self._find(f"{base}.{name}"):
            return f"{base}.{name}"
        if self._is_package(base):
            for node in self._read(base).tree.body:
                if isinstance(node, ast.ImportFrom):
                    for alias in node.names:
                        if name == (alias.asname or alias.name):
                            return self.defining(self._absolute(node, base), alias.name)
        return base

    def _imports(self, module: str) -> set[str]:
        names = set()
        for node in ast.walk(self._read(module).tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node, module)
                names |= {self.defining(base, alias.name) for alias in node.names}
        return {name for name in names if self._find(name)}

    def _absolute(self, node: ast.ImportFrom, module: str) -> str:
        if not node.level:
            return node.module
        parts = module.split(".")
        outer = len(parts) - node.level + self._is_package(module)
        return ".".join([*parts[:outer], *([node.module] if node.module else [])])

    def _read(self, module: str) -> Source:
        return self._source(self._blobs[self._find(module)])

    def _is_package(self, module: str) -> bool:
        return (self._find(module) or "").endswith("/__init__.py")

    def _find(self, module: str) -> str | None:
        stem = module.replace(".", "/")
        return next((p for p in (f"{stem}/__init__.py", f"{stem}.py") if p in self._blobs), None)


if __name__ == "__main__":
    sys.exit(main())
