"""Descriptors of images, computed block by block; each block is cached."""
