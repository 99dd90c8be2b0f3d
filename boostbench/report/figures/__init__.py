"""Pictures made of records; needs matplotlib, the extra ``plots``."""
