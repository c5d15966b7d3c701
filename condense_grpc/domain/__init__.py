"""Pure values and functions of context condensing: standard library only, no clock, no input or output."""
