"""Generated code of the package condense.v1. Made by proto/generate.py; do not edit.

One module per proto file: `from condense_grpc.api.condense.v1 import message_pb2`. Nothing is imported
here, so that a program loads only what it uses.
"""
