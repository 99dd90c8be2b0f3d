import pytest
from sklearn.tree import DecisionTreeClassifier

from boostbench.spec.algorithm import AlgorithmSpec
from boostbench.util.errors import UserError

ADA = "sklearn.ensemble.AdaBoostClassifier"


def algorithm(target=ADA, **config):
    return AlgorithmSpec.from_config({"_target_": target, **config})


def test_config_is_built_into_an_estimator():
    made = algorithm(name="ada", title="AdaBoost", paper="none", n_estimators=7)
    assert made.name == "ada"
    assert made.params == {"n_estimators": 7}
    estimator = made.build(seed=3, learning_rate=0.5)
    assert (estimator.n_estimators, estimator.learning_rate) == (7, 0.5)
    assert estimator.random_state == 3


def test_random_state_of_the_config_precedes_the_seed():
    assert algorithm(random_state=11).build(seed=3).random_state == 11
    assert algorithm(random_state=None).build(seed=3).random_state == 3


def test_default_name_is_the_class_name():
    assert algorithm().name == "AdaBoostClassifier"


def test_nested_estimators_are_built():
    tree = {"_target_": "sklearn.tree.DecisionTreeClassifier", "max_depth": 2}
    estimator = algorithm(estimator=tree).build(seed=0).estimator
    assert isinstance(estimator, DecisionTreeClassifier)
    assert estimator.max_depth == 2


def test_points_are_in_the_order_of_the_grid():
    made = algorithm(grid={"n_estimators": [5, 3], "learning_rate": [0.1, 1.0]})
    assert made.points() == [
        {"n_estimators": 5, "learning_rate": 0.1},
        {"n_estimators": 5, "learning_rate": 1.0},
        {"n_estimators": 3, "learning_rate": 0.1},
        {"n_estimators": 3, "learning_rate": 1.0},
    ]
    assert algorithm().points() == [{}]


def test_classes_without_and_with_arbitrary_parameters_are_built():
    assert algorithm("fake_classifiers.MinimalClassifier").build(seed=0).fit([[0]], [1]) is None
    assert algorithm("fake_classifiers.AnyParameters", anything=1).build(seed=0).params == {
        "anything": 1
    }


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"_target_": "sklearn.ensemble.AdaBost"}, "cannot find algo._target_=sklearn.ensemble"),
        ({"_target_": "nosuchpackage.Thing"}, "cannot find algo._target_=nosuchpackage.Thing"),
        ({"_target_": "sklearn.metrics.accuracy_score"}, "cannot find"),
        ({"name": "x"}, "names no class"),
        ({"_target_": None}, "algo._target_ is None; it must be text"),
        ({"_target_": ["a"]}, r"algo._target_ is \['a'\]; it must be text"),
        ({"_target_": ADA, "name": 5}, "algo.name is 5; it must be text"),
        ({"_target_": ADA, "title": None}, "algo.title is None; it must be text"),
        ({"_target_": ADA, "grid": "abc"}, "algo.grid is 'abc'; it must be lists of values by"),
        (
            {
                "_target_": ADA,
                "estimator": {"_target_": "sklearn.tree.DecisionTreeClassifier", "a": 1},
            },
            "DecisionTreeClassifier has no parameter 'a'; there are: criterion",
        ),
        ({"_target_": ADA, "learning_rat": 1}, "no parameter 'learning_rat'; did you mean learn"),
        ({"_target_": ADA, "n_estimators": -1}, "AdaBoostClassifier: The 'n_estimators' param"),
        ({"_target_": ADA, "grid": {"nu": [1, 2]}}, "no parameter 'nu'"),
        ({"_target_": ADA, "grid": {"n_estimators": [5, 0]}}, "The 'n_estimators' parameter"),
        ({"_target_": ADA, "grid": {"n_estimators": 5}}, "must be a list"),
        ({"_target_": ADA, "grid": {"n_estimators": []}}, "must be a list"),
    ],
)
def test_mistakes_are_user_errors_of_one_line(config, message):
    with pytest.raises(UserError, match=message) as caught:
        AlgorithmSpec.from_config(config).check()
    assert "\n" not in str(caught.value)


def test_try_build_ignores_failing_constructors():
    made = algorithm("fake_classifiers.BrokenConstructor", width=3)
    assert made.try_build() is None
    assert made.try_build(width=1).width == 1
    with pytest.raises(RuntimeError, match="no licence"):
        made.build(seed=0)
