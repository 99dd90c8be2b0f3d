"""Results with their provenance as an RO-Crate, a package of research data with JSON-LD metadata.

https://www.researchobject.org/ro-crate describes the format; the profile is Process Run Crate 0.5.
"""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from boostbench import __version__
from boostbench.records.index import Records
from boostbench.records.installed import result_files
from boostbench.util.configs import conf_dir, definition_files
from boostbench.util.errors import UserError
from boostbench.util.files import writing_to
from boostbench.util.process import import_optional

_PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_FORMATS = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".yaml": "application/yaml",
}
# Entries of a record's environment that are versions of libraries.
_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def write_crate(results: Path, path: Path, license_text: str) -> int:
    """Write results, definitions of their tables, environments and checksums as one zip file.

    Parameters
    ----------
    results : Path
        Folder of the results.
    path : Path
        Zip file to write.
    license_text : str
        License of the results, or its address.

    Returns
    -------
    int
        Number of files in the crate.

    Raises
    ------
    UserError
        If there are no records, the package `rocrate` is missing, or the file cannot be written.
    """
    rocrate = import_optional("rocrate.rocrate", "an RO-Crate needs")
    # 1) Read the records, their dates and their environments.
    titled_records = Records(results).titled_records(lambda _, kind: kind != "tuning")
    if not titled_records:
        raise UserError(f"nothing is on record in {results}; name another folder by results=")
    records = [record for _, record in titled_records]
    dates = sorted(record.finished for record in records if record.finished)
    n_splits_of_environment = Counter(
        json.dumps({**provenance.environment, "commit": provenance.commit}, sort_keys=True)
        for provenance in (record.provenance for record in records)
    )
    environments = [
        {**json.loads(text), "splits": n} for text, n in n_splits_of_environment.items()
    ]
    # 2) Describe the crate.
    crate = rocrate.ROCrate(version="1.1")
    crate.name = f"Results of boostbench in {results.absolute().name}"
    pairs = {(data, algo) for (data, algo, _), _ in titled_records}
    crate.description = (
        f"{len(records)} recorded splits of {len(pairs)} pairs of a data set "
        "and an algorithm, with the tables, figures and verdicts that are made from them."
    )
    _add_license_and_profile(crate, license_text)
    if dates:
        crate.root_dataset["datePublished"] = dates[-1]
    # 3) Add the files of the results, and the definitions of the tables among them.
    files = {
        f"results/{file.relative_to(results).as_posix()}": file for file in result_files(results)
    }
    table_names = {Path(name).stem for name in files if name.startswith("results/tables/")}
    definitions = {
        f"definitions/{file.relative_to(conf_dir()).as_posix()}": file
        for name, file in definition_files("table")
        if name in table_names and file.is_relative_to(conf_dir())
    }
    entities = {
        name: _add_file(crate, name, file) for name, file in {**files, **definitions}.items()
    }
    with tempfile.TemporaryDirectory() as scratch:
        # 4) Add the environments of the runs. The file has to exist until the crate is written.
        environment_file = Path(scratch) / "environments.json"
        text = json.dumps(environments, indent=1, sort_keys=True)
        environment_file.write_text(text, encoding="utf-8")
        entities["environments.json"] = _add_file(crate, "environments.json", environment_file)
        # 5) Add the action that made the records of the definitions.
        action = _add_action(crate, environments)
        action["object"] = [entities[name] for name in definitions]
        action["result"] = [entities[name] for name in files if name.startswith("results/records/")]
        if dates:
            action["startTime"], action["endTime"] = dates[0], dates[-1]
        with writing_to(path, "choose another file by --crate"):
            crate.write_zip(path)
    return len(entities)


def _add_license_and_profile(crate, license_text: str) -> None:
    """Add the license, as an entity if it is an address, and the profile of the crate."""
    if license_text.startswith("https://"):
        entity = {"@id": license_text, "@type": "CreativeWork", "name": Path(license_text).name}
        crate.license = crate.add_jsonld(entity)
    else:
        crate.license = license_text
    # The context of RO-Crate 1.1 lacks the checksum; the workflow profiles define it.
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    crate.root_dataset["conformsTo"] = crate.add_jsonld({"@id": _PROFILE, **profile})


def _add_action(crate, environments: Sequence[dict]):
    """Add the action of the experiments and its software, with the versions of all libraries.

    Parameters
    ----------
    crate : rocrate.rocrate.ROCrate
    environments : sequence of dict
        Environments of the records; the names in `_LIBRARIES` have versions.

    Returns
    -------
    rocrate.model.Entity
        Action; the caller sets its objects, results and times.
    """
    software = crate.add_jsonld(
        {
            "@id": "#boostbench",
            "@type": "SoftwareApplication",
            "name": "boostbench",
            "softwareVersion": __version__,
        }
    )
    software["softwareRequirements"] = [
        crate.add_jsonld(
            {
                "@id": f"#{name}-{version}",
                "@type": "SoftwareApplication",
                "name": name,
                "softwareVersion": version,
            }
        )
        for name in _LIBRARIES
        for version in sorted({entry[name] for entry in environments if entry.get(name)})
    ]
    action = crate.add_jsonld(
        {
            "@id": "#experiments",
            "@type": "CreateAction",
            "name": "Experiments",
            "description": "Fits of all splits; each record names its code and environment.",
        }
    )
    action["instrument"] = software
    crate.root_dataset["mentions"] = action
    return action


def _add_file(crate, name: str, file: Path):
    """Add a file with its size and checksum; return its entity."""
    content = file.read_bytes()
    properties = {
        "name": Path(name).name,
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
        "encodingFormat": _FORMATS.get(file.suffix, "application/octet-stream"),
    }
    return crate.add_file(file, name, properties=properties)
