"""Generated code of the contract. Made by proto/generate.py; do not edit."""
