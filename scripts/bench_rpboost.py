"""Time RpBoost against LsBoost on as many features as there are, on one core.

All take turns, and the least CPU time counts. LsBoost sorts once, RpBoost in every round. The last
columns are of a grid of nine penalties on one training part: single fits, and a warm start.

    python scripts/bench_rpboost.py
"""

from functools import partial

from sklearn.base import clone
from timing import minima, on_one_core, print_table, training_part

from boostbench.algorithms import LsBoost, RpBoost
from boostbench.data.sources.generators import make_pattern
from boostbench.util import configs

DATA = ["annulus", "liver-disorders", "breast-cancer-cytology", "ionosphere", "sonar"]


def main():
    """Print a row per data set."""
    penalties = configs.read_option("algo", "rpboost")["grid"]["penalty"]
    rows = []
    for name in DATA:
        X, y = make_pattern(name, 1000) if name == "annulus" else training_part(name)
        plain, projected = LsBoost(), RpBoost(random_state=0)
        jobs = [partial(model.fit, X, y) for model in (plain, projected)]
        jobs += [partial(path, projected, X, y, penalties, warm) for warm in (False, True)]
        seconds = minima(jobs, repeats=3)
        per_round = seconds[:2] / [plain.n_iterations_, projected.n_iterations_] * 1e6
        rows.append([name, *X.shape, *(f"{us:.0f}" for us in per_round)])
        rows[-1] += [f"{per_round[1] / per_round[0]:.2f}", *(f"{1e3 * s:.0f}" for s in seconds[1:])]
        rows[-1] += [f"{seconds[2] / seconds[3]:.2f}"]
    headers = ["data", "m", "d", "LsBoost\nus a round", "RpBoost\nus a round", "ratio"]
    headers += ["RpBoost\nms a fit", "9 fits\nms", "warm\nms", "ratio"]
    print_table(headers, rows)


def path(model, X, y, penalties, warm):
    """Fit with each penalty."""
    model = clone(model).set_params(warm_start=warm)
    for penalty in penalties:
        model.set_params(penalty=penalty).fit(X, y)


if __name__ == "__main__":
    on_one_core(main)
