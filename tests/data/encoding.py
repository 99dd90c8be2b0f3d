"""One-hot features of data that a reader returns."""

from boostbench.data.one_hot import encode_one_hot


def one_hot(data):
    """Return the features of a `LabelledData` with a column of 0 and 1 for each category."""
    return encode_one_hot(data.X, [(column, len(words)) for column, words in data.categories])
