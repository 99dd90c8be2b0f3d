import time

import pytest

from boostbench.errors import UserError
from boostbench.experiment.targets import algorithm_of

ADA = "sklearn.ensemble.AdaBoostClassifier"


def nested(target, **parameters):
    return {"_target_": ADA, "estimator": {"_target_": target, **parameters}}


def test_nothing_is_called_that_is_no_estimator(tmp_path):
    path = tmp_path / "made"
    command = ["touch", str(path)]
    tree = "sklearn.tree.DecisionTreeClassifier"
    calls = [
        {"_target_": "subprocess.Popen", "args": command},
        {"_target_": "subprocess.Popen", "grid": {"args": [command]}},
        {"_target_": "pathlib.Path"},
        {"_target_": "os.system", "command": f"touch {path}"},
        nested("subprocess.Popen", args=command),
        nested("os.mkdir", path=str(path)),
        nested("builtins.open", file=str(path), mode="w"),
        nested(tree, max_depth={"_target_": "os.mkdir", "path": str(path)}),
        nested(tree, max_depth=[{"_target_": "os.mkdir", "path": str(path)}]),
    ]
    for config in calls:
        with pytest.raises(UserError) as told:
            algorithm_of(config)
        assert "\n" not in str(told.value)
    time.sleep(0.3)
    assert not path.exists()
