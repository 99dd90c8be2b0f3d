"""Short calls of the readers."""

import io

from boostbench.data.data_table import features_and_labels
from boostbench.data.dataset import encode_one_hot
from boostbench.data.readers.arff import Arff
from boostbench.data.readers.base import ReadOptions
from boostbench.data.readers.csv import Csv


def read_csv(content, **options):
    """Return the table of a CSV file, of text or bytes."""
    return Csv().read(_stream(content), "toy.csv", ReadOptions(**options))


def read_arff(content, **options):
    """Return the table of an ARFF file, of text or bytes."""
    return Arff().read(_stream(content), "toy.arff", ReadOptions(**options))


def csv_data(content, missing=None, **options):
    """Return features and labels of a CSV file."""
    table = read_csv(content, **options)
    return features_and_labels(table, options.get("labels"), missing=missing)


def one_hot(data):
    """Return the features of a `LabelledData` with a column of 0 and 1 for each category."""
    return encode_one_hot(data.X, [(column, len(words)) for column, words in data.categories])


def _stream(content):
    return io.BytesIO(content.encode() if isinstance(content, str) else content)
