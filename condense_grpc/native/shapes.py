"""The shapes by their formats."""

from collections.abc import Mapping

from condense_grpc.native.anthropic import Anthropic
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.gemini import Gemini
from condense_grpc.native.openai_chat import OpenAIChat
from condense_grpc.native.openai_responses import OpenAIResponses
from condense_grpc.native.pi import Pi
from condense_grpc.native.shape import Shape

SHAPES: Mapping[NativeFormat, Shape] = {
    shape.format: shape for shape in (Pi(), OpenAIChat(), OpenAIResponses(), Anthropic(), Gemini())
}


def shape_of(format_: NativeFormat) -> Shape:
    """The shape of a format."""
    return SHAPES[format_]
