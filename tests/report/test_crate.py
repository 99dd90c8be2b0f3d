import hashlib
import json
import zipfile

import pytest

from boostbench.report.crate import write_crate
from boostbench.util.errors import UserError


@pytest.fixture
def crate(done, folder):
    pytest.importorskip("rocrate")
    done("run", "algo=samme", "data=iris", "protocol.n_splits=2", "algo.n_iterations=2")
    done("export", "--crate", "crate.zip", "--license", "https://spdx.org/licenses/MIT")
    return zipfile.ZipFile(folder / "crate.zip")


def _entities(crate):
    graph = json.loads(crate.read("ro-crate-metadata.json"))["@graph"]
    return {entity["@id"]: entity for entity in graph}


def test_crate_describes_every_file(crate):
    entities = _entities(crate)
    names = set(crate.namelist()) - {"ro-crate-metadata.json"}
    assert names == {name for name, entity in entities.items() if entity["@type"] == "File"}
    assert "results/records/iris/samme.jsonl" in names
    for name in names:
        content = crate.read(name)
        assert entities[name]["sha256"] == hashlib.sha256(content).hexdigest()
        assert entities[name]["contentSize"] == str(len(content))


def test_crate_names_records_and_libraries(crate):
    entities = _entities(crate)
    action = entities["#experiments"]
    assert action["result"] == {"@id": "results/records/iris/samme.jsonl"} or action["result"] == [
        {"@id": "results/records/iris/samme.jsonl"}
    ]
    software = entities[action["instrument"]["@id"]]
    required = {
        entities[requirement["@id"]]["name"] for requirement in software["softwareRequirements"]
    }
    assert required == {"numpy", "scipy", "scikit-learn"}
    root = entities["./"]
    assert root["license"] == {"@id": "https://spdx.org/licenses/MIT"}
    assert root["datePublished"] == action["endTime"]


def test_environments_count_all_splits(crate):
    [environment] = json.loads(crate.read("environments.json"))
    assert environment["splits"] == 2


def test_folder_without_records_is_refused(tmp_path):
    pytest.importorskip("rocrate")
    with pytest.raises(UserError, match="nothing is on record"):
        write_crate(tmp_path, tmp_path / "crate.zip", "none")
