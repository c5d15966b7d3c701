"""Histories that are sent as they are: JSON in the shape of a provider, which the server reads, edits and gives back.

    session = client.session("my-agent", adapter=native("anthropic"))

The caller's list holds dicts, or objects of the provider's SDK, one for each element of the array that the provider
takes. Objects without an edit come back as the very same ones; the others as dicts.
"""

import json
from collections.abc import Mapping
from typing import Any

from condense_grpc.api.condense.v1.edit_pb2 import InsertKind
from condense_grpc.api.condense.v1.message_pb2 import Message
from condense_grpc.api.condense.v1.transcript_pb2 import (
    MESSAGE_FORMAT_ANTHROPIC,
    MESSAGE_FORMAT_GEMINI,
    MESSAGE_FORMAT_OPENAI_CHAT,
    MESSAGE_FORMAT_OPENAI_RESPONSES,
    MESSAGE_FORMAT_PI,
    MessageFormat,
)
from condense_grpc.client.adapters.json_value import JsonAdapter, compact, plain_object

_FORMATS: Mapping[str, MessageFormat.ValueType] = {
    "anthropic": MESSAGE_FORMAT_ANTHROPIC,
    "gemini": MESSAGE_FORMAT_GEMINI,
    "openai-chat": MESSAGE_FORMAT_OPENAI_CHAT,
    "openai-responses": MESSAGE_FORMAT_OPENAI_RESPONSES,
    "pi": MESSAGE_FORMAT_PI,
}


class NativeAdapter(JsonAdapter):
    """An object is one element. Nothing of it is read here."""

    def __init__(self, native_format: "MessageFormat.ValueType") -> None:
        self.native_format = native_format

    def json_of(self, item: Any) -> bytes:
        """The element as JSON. Raises `TypeError` or `ValueError` for what is none."""
        value = plain_object(item)
        try:
            return compact(value).encode()
        except UnicodeEncodeError:  # a lone surrogate, which only an escape can say
            return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()

    # What follows belongs to adapters whose objects are read and edited here.

    def to_message(self, piece: Any) -> Message:
        """Never called: the server reads elements."""
        raise NotImplementedError

    def from_message(self, message: Message, kind: "InsertKind.ValueType") -> Any:
        """Never called: inserted elements come as JSON."""
        raise NotImplementedError

    def replace_result(self, piece: Any, text: str) -> Any:
        """Never called: edited elements come as JSON."""
        raise NotImplementedError

    def purge_arguments(self, piece: Any, call_index: int, arguments_json: str) -> Any:
        """Never called: edited elements come as JSON."""
        raise NotImplementedError

    def strip_thinking(self, piece: Any) -> Any:
        """Never called: edited elements come as JSON."""
        raise NotImplementedError


def native(shape: str) -> NativeAdapter:
    """The adapter of a shape: `openai-chat`, `openai-responses`, `anthropic`, `gemini` or `pi`."""
    if shape not in _FORMATS:
        raise ValueError(f"there is no shape {shape!r}: choose one of {', '.join(sorted(_FORMATS))}")
    return NativeAdapter(_FORMATS[shape])
