"""The doors through which eight libraries are asked for attention, for `tools/make_conventions.py`."""
