"""Specifications of experiments: structs with a JSON form, made from configs."""
