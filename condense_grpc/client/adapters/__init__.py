"""The shapes of message objects that the client can read and edit."""

from condense_grpc.client.adapters.anthropic import AnthropicAdapter
from condense_grpc.client.adapters.base import MessageAdapter, Turn, TurnKind
from condense_grpc.client.adapters.native import NativeAdapter, native
from condense_grpc.client.adapters.openai import OpenAIAdapter
from condense_grpc.client.adapters.pi import PiAdapter
from condense_grpc.client.adapters.protobuf import ProtobufAdapter

ANTHROPIC = AnthropicAdapter()
OPENAI = OpenAIAdapter()
PI = PiAdapter()
PROTOBUF = ProtobufAdapter()

__all__ = ["ANTHROPIC", "OPENAI", "PI", "PROTOBUF", "MessageAdapter", "NativeAdapter", "Turn", "TurnKind", "native"]
