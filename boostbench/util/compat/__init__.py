"""Access to private names of other packages: a module per package.

No other module of boostbench imports a private name, so that a new version of a package can break
one module only.
"""
