"""Benchmarks: how the cost of a turn behaves, as ratios to what gRPC and protobuf cost by themselves.

`python -m bench` (or `make bench`) starts a server in a process of its own, over SQLite and loopback, and prints one
row per promise with its target and a mark. Yardstick and measure take turns, so that noise of the machine hits both.
Nothing here is a test; `--check` fails when a ratio misses its target by more than a third.
"""
