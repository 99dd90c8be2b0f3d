"""Published numbers, claims and remarks of the papers."""
