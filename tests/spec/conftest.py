import sys
from pathlib import Path

# The classifiers of the tests of fits are found by name, also when these tests run alone.
sys.path.insert(0, str(Path(__file__).parents[1] / "fitting"))
