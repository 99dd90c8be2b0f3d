import pytest

from boostbench.experiment import measures
from boostbench.experiment.algorithm import Algorithm
from boostbench.experiment.certify.samples import Sample
from boostbench.experiment.keys import request
from boostbench.experiment.protocol import Protocol


@pytest.mark.parametrize("name", measures.names())
def test_a_config_tells_its_measure(name):
    algorithm = Algorithm("adaboost", "boostbench.algorithms.AdaBoost")
    config = request(algorithm, Protocol(), 0, measures.find(name))
    assert Sample("adaboost.jsonl", {"config": config}, "after", "commit").measure == name
