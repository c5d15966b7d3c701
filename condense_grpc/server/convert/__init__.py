"""Between the contract's messages and plain values: one module per noun, in whatever directions are needed.

What comes in is checked here, once, and what is refused is named as the contract names it.
"""
