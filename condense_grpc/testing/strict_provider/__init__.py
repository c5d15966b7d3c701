"""A model provider that is none and takes no nonsense: it refuses every history that the real one would refuse.

It speaks the OpenAI Chat Completions API (also streamed) and Responses API, the Anthropic Messages API and Gemini's
generateContent, and answers by a script. For tests of agents: whatever they send must be valid, every time.

    with StrictProvider([Turn(calls=[("bash", {"command": "ls"})]), Turn("Nothing but a README.")]) as provider:
        client = OpenAI(base_url=provider.base_url("openai"), api_key="none")

For agents in other processes and languages: `python -m condense_grpc.testing.strict_provider script.json`.
Standard library only.
"""

from condense_grpc.testing.strict_provider.requests import Asked
from condense_grpc.testing.strict_provider.script import Failure, ScriptInvalid, Turn, read_script
from condense_grpc.testing.strict_provider.server import StrictProvider

__all__ = ["Asked", "Failure", "ScriptInvalid", "StrictProvider", "Turn", "read_script"]
