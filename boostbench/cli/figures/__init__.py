"""The kinds of figures: from a definition and records to a drawing."""
