"""Records are drawn and fitted again by today's code, and what comes out is compared."""
