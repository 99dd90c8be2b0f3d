import numpy as np
import pytest

from boostbench.algorithms import MCBoost
from boostbench.algorithms.base.input_validation import encode_known_labels, encode_labels


@pytest.mark.parametrize("names", [["a", "b", "z"], [-1, 3, 7], [-6.0, 1.0, 4.0]])
def test_labels_are_encoded_in_the_order_of_the_classes(names):
    y = np.array(names)[[2, 0, 0, 1]]
    classes, numbers = encode_labels(y, MCBoost())
    assert classes.tolist() == names
    assert numbers.tolist() == [2, 0, 0, 1]
    assert encode_known_labels(y[:2], classes).tolist() == [2, 0]


def test_one_class_is_rejected():
    with pytest.raises(ValueError, match=r"MCBoost needs at least 2 classes, and .* only: 3$"):
        encode_labels(np.array([3, 3]), MCBoost())


def test_continuous_labels_are_rejected():
    with pytest.raises(ValueError, match="continuous"):
        encode_labels(np.array([0.5, 1.5]), MCBoost())


@pytest.mark.parametrize(("odd", "message"), [(None, "NoneType and str"), (3, "int and str")])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_labels_of_mixed_types_are_rejected(odd, message, class_weight):
    y = np.array(["a", odd, "b"], dtype=object)
    with pytest.raises(ValueError, match=f"^labels must sort, and y holds some of {message}$"):
        MCBoost(class_weight=class_weight).fit(np.eye(3), y)


@pytest.mark.parametrize("labels", [np.array(["a", "c"]), np.array(["a", None, "c"], dtype=object)])
def test_unknown_label_is_rejected(labels):
    first = labels.tolist()[1]
    with pytest.raises(ValueError, match=f"y_val holds {first!r}, which is no class of"):
        encode_known_labels(labels, np.array(["a", "b"]), "y_val")
