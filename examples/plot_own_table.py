"""
Your own table
==============

A table is a YAML file: rows are data sets, columns algorithms. The runner makes the splits, keeps a
record of each, and writes the table as Markdown, CSV and LaTeX. Here it runs in a temporary folder,
as ``boostbench table mine.yaml parallel=serial`` does in a shell.
"""

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import boostbench
from boostbench.cli import main

definition = """\
title: Stumps and trees
overrides: [protocol.n_splits=5]
rows: [wine, iris]
columns:
  - mcboost: {algo: mcboost, overrides: [algo.n_iterations=100]}
  - adaboost_mh: {algo: adaboost_mh, overrides: [algo.n_iterations=100]}
  - forest: {_target_: sklearn.ensemble.RandomForestClassifier, title: random forest}
"""

before = Path.cwd()
folder = Path(tempfile.mkdtemp())
os.chdir(folder)
(folder / "mine.yaml").write_text(definition)
code = main(["table", "mine.yaml", "parallel=serial"])

# %%
# The exit code is 0 if nothing failed. These files were written:
print(code, sorted(path.name for path in (folder / "results" / "tables").iterdir()))

# %%
# Every split is on record, and `boostbench.results` reads them as a data frame.
frame = boostbench.results(folder / "results")
print(frame[["data", "algo", "split", "test_error"]].head(3))

# %%
# A figure from it: the errors of the five splits.
figure, panels = plt.subplots(1, 2, figsize=(9, 2.5), sharey=True, layout="constrained")
for panel, (data, rows) in zip(panels, frame.groupby("data"), strict=True):
    names = [name.rpartition(".")[2] for name in rows["algo"]]
    panel.plot(rows["test_error"], names, "o", alpha=0.5)
    panel.set_title(data)
    panel.set_xlabel("test error, %")
    panel.margins(y=0.3)
plt.show()
os.chdir(before)
