"""Floor 4: tables, significance and comparisons made from records and published numbers."""
