"""All results as one HTML file that requires no network and no other files."""
