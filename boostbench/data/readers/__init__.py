"""Readers of data files, one file per format."""
