"""What a table, a figure or a command line asks for."""
