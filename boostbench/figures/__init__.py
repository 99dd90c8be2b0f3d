"""Pictures made of records: one file for each kind; needs matplotlib, the extra ``plots``."""
