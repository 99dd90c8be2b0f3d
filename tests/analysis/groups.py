"""Look-up of the counts of a paper or an algorithm."""


def find_group(groups, name):
    """Return the counts of a name."""
    return next(group for group in groups if group.name == name)
