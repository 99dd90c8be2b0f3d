"""Tables, significance and comparisons made from records and published numbers."""
