"""Results with their provenance as an RO-Crate, a package of research data with JSON-LD metadata.

https://www.researchobject.org/ro-crate describes the format; the profile is Process Run Crate 0.5.
"""

import hashlib
import json
import tempfile
from collections import Counter
from pathlib import Path

from boostbench import __version__
from boostbench.records.archive import Records
from boostbench.records.installed import result_files
from boostbench.util.configs import conf_dir, definition_files
from boostbench.util.errors import UserError
from boostbench.util.files import writing_to
from boostbench.util.imports import import_optional

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
    entries = Records(results).titled_records(lambda _, kind: kind != "tuning")
    if not entries:
        raise UserError(f"nothing is on record in {results}; name another folder by results=")
    records = [record for _, record in entries]
    finished = sorted(record.finished for record in records if record.finished)
    environments = Counter(
        json.dumps({**each.environment, "commit": each.commit}, sort_keys=True)
        for each in (record.provenance for record in records)
    )

    # 2) Describe the crate.
    pairs = {(data, algo) for (data, algo, _), _ in entries}
    crate = rocrate.ROCrate(version="1.1")
    crate.name = f"Results of boostbench in {results.absolute().name}"
    crate.description = (
        f"{len(records)} recorded splits of {len(pairs)} pairs of a data set "
        "and an algorithm, with the tables, figures and verdicts that are made from them."
    )
    if license_text.startswith("https://"):
        entity = {"@id": license_text, "@type": "CreativeWork", "name": Path(license_text).name}
        crate.license = crate.add_jsonld(entity)
    else:
        crate.license = license_text
    # The context of RO-Crate 1.1 lacks the checksum; the workflow profiles define it.
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    crate.root_dataset["conformsTo"] = crate.add_jsonld({"@id": _PROFILE, **profile})
    if finished:
        crate.root_dataset["datePublished"] = finished[-1]

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
    added = {name: _add(crate, name, file) for name, file in {**files, **definitions}.items()}

    # 4) Add the environments of the runs.
    with tempfile.TemporaryDirectory() as scratch:
        environment_file = Path(scratch) / "environments.json"
        listed = [{**json.loads(text), "splits": count} for text, count in environments.items()]
        environment_file.write_text(json.dumps(listed, indent=1, sort_keys=True), encoding="utf-8")
        added["environments.json"] = _add(crate, "environments.json", environment_file)

        # 5) Add the action that made the records, with its software.
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
            for version in sorted({entry[name] for entry in listed if entry.get(name)})
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
        action["object"] = [added[name] for name in definitions]
        action["result"] = [added[name] for name in files if name.startswith("results/records/")]
        if finished:
            action["startTime"], action["endTime"] = finished[0], finished[-1]
        crate.root_dataset["mentions"] = action
        with writing_to(path, "choose another file by --crate"):
            crate.write_zip(path)
    return len(added)


def _add(crate, name: str, file: Path):
    """Add a file with its size and checksum; return its entity."""
    content = file.read_bytes()
    properties = {
        "name": Path(name).name,
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
        "encodingFormat": _FORMATS.get(file.suffix, "application/octet-stream"),
    }
    return crate.add_file(file, name, properties=properties)
