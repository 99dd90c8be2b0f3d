"""joblib's pool of worker processes."""

import sys


def end_workers() -> None:
    """End joblib's worker processes at once, if there are any: they would take a second to end."""
    if "joblib.externals.loky.reusable_executor" not in sys.modules:
        return
    from multiprocessing import active_children

    from joblib.externals.loky.reusable_executor import get_reusable_executor

    # scikit-learn imports loky. Asked for the executor where there is none, it would start one.
    if active_children():
        # joblib's way, which also removes the folder of arrays that workers have mapped.
        get_reusable_executor(reuse=True).terminate(kill_workers=True)
