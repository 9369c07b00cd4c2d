"""Measurements of the bars of the design: `make bench`, or `python -m benchmarks --help`."""
