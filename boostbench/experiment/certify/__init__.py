"""How certificates come about: two codes fit the same samples, and the results are compared."""
