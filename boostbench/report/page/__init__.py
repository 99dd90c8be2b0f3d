"""All results as one HTML file that needs nothing else: no network, no other files."""
