"""The doors through which nine libraries are asked for attention, for `tools/make_conventions.py`."""
