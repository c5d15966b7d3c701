"""A LangChain middleware: the model sees the view of the agent's history, the agent keeps all of it.

agent = create_agent(model, tools, middleware=[Condensed(client.session("me", adapter=native("openai-chat")))])
"""

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import convert_to_messages, convert_to_openai_messages
from langchain_core.tools import StructuredTool

from condense_grpc.client import Session, recovery_tool


class Condensed(AgentMiddleware):
    """The history of one agent. Brings the tool by which the model gets originals back."""

    def __init__(self, session: Session[Any]) -> None:
        super().__init__()
        self._session = session
        tool = recovery_tool("openai")["function"]
        fields = {"name": tool["name"], "description": tool["description"], "args_schema": tool["parameters"]}
        self.tools = [StructuredTool(func=lambda **given: session.answer_tool_call(given), **fields)]

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> Any:
        """Send the view instead; untouched messages are the agent's own."""
        dicts = convert_to_openai_messages(request.messages)
        own = {id(one): message for one, message in zip(dicts, request.messages, strict=True)}
        view = self._session.prune(dicts).messages
        messages = [own[id(one)] if id(one) in own else convert_to_messages([one])[0] for one in view]
        return handler(request.override(messages=messages))

    def after_agent(self, state: Any, runtime: Any) -> None:
        """The model has answered: a good moment to condense."""
        self._session.flush(convert_to_openai_messages(state["messages"])).wait()
