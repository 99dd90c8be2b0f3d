from fitting.conftest import dataset, make_experiment  # noqa: F401
