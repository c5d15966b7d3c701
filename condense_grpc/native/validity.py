"""The rules of every provider: what it would refuse in a history."""

from collections.abc import Mapping, Sequence

from condense_grpc.domain.messages import Message, Role
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.skeleton import skeletons_of
from condense_grpc.domain.validity import Violation, find_violations
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.validity_anthropic import anthropic_defects
from condense_grpc.native.validity_chat import chat_defects
from condense_grpc.native.validity_gemini import gemini_defects
from condense_grpc.native.validity_responses import responses_defects
from condense_grpc.native.validity_turns import Json, Scope, Validator

_VALIDATORS: Mapping[NativeFormat, Validator] = {
    NativeFormat.OPENAI_CHAT: chat_defects,
    NativeFormat.OPENAI_RESPONSES: responses_defects,
    NativeFormat.ANTHROPIC: anthropic_defects,
    NativeFormat.GEMINI: gemini_defects,
}


def find_defects(form: NativeFormat, elements: Sequence[Json], scope: Scope | None = None) -> list[Violation]:
    """The defects of elements, by position; a violation's `message_index` counts them. Empty: the provider takes it."""
    scope = scope or Scope()
    if form is not NativeFormat.PI:
        return _VALIDATORS[form](elements, scope)
    messages = [message_from_pi(element, keep_source=False) for element in elements]
    # Behind a message of another role no call is open any more.
    end = [Message(Role.CUSTOM)] if scope.is_request else []
    return find_violations(skeletons_of([*messages, *end], ()))
