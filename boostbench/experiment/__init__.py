"""Specifications of algorithms and protocols, the environment, and the schema of records."""
