"""What is recorded of a fit."""
