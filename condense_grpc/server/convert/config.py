"""The configuration of sessions, in both directions.

A request's SessionConfig becomes a mapping of changed settings by field name, blocks as mappings of their members:
what is absent is not in it. Values are checked by the table of settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

from condense_grpc.api.condense.v1 import config_pb2 as pb
from condense_grpc.domain.config import BatchingMode, ChainCompressionConfig, PruneOn, PurgeErrorsConfig, SessionConfig
from condense_grpc.domain.frozen import frozen
from condense_grpc.errors import RequestInvalid, SummarizerUnknown, short
from condense_grpc.server.convert.enums import BATCHING_MODE, PRUNE_ON, THINKING_LEVEL, Pairs
from condense_grpc.server.convert.wire_text import wire_text, wire_texts
from condense_grpc.settings import BLOCKS, SESSION_KNOBS, check_session_config, default_of

_ENUMS: Mapping[str, Pairs[Any, Any]] = {
    "prune_on": PRUNE_ON,
    "batching_mode": BATCHING_MODE,
    "summarizer_thinking": THINKING_LEVEL,
}
_LISTS = ("protected_tools", "protected_paths", "path_arguments")
_DOMAIN_TYPES: Mapping[str, Any] = {"prune_on": PruneOn, "batching_mode": BatchingMode}
_KNOBS = frozenset(knob.name for knob in SESSION_KNOBS)


@frozen
class ConfigReader:
    """Reads the configurations of requests. `defaults`: what the operator has set for new sessions.

    `summarizers`: the names that `summarizer_model` can have besides `default`; `provider:*` stands for all models of
    a provider.
    """

    summarizers: Sequence[str] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def new(self, config: pb.SessionConfig) -> dict[str, Any]:
        """The settings of a new session, as changes to the built-in defaults. Raises ConfigInvalid."""
        if not self.defaults and not config.ListFields():
            return {}
        return _merged(self.new_defaults(), self.changes(config))

    def new_defaults(self) -> dict[str, Any]:
        """What the operator has set for new sessions, as changes to the built-in defaults."""
        return self._typed(self.defaults)

    def changes(self, config: pb.SessionConfig) -> dict[str, Any]:
        """The settings that are present. Raises ConfigInvalid or SummarizerUnknown, and then for all of them."""
        present: dict[str, Any] = {}
        for descriptor, value in config.ListFields():
            name = descriptor.name
            if name in BLOCKS:
                present[name] = {member.name: inner for member, inner in value.ListFields()}
            elif name in _LISTS:
                present[name] = list(value.values)
            elif name in _ENUMS:
                if value:  # unspecified is "not set", also when it is sent
                    meaning = _ENUMS[name].read(value)
                    present[name] = value if meaning is None else str(meaning)
            else:
                present[name] = value
        return self._typed(present)

    def masked(self, config: pb.SessionConfig, mask: FieldMask) -> dict[str, Any]:
        """The settings that a mask names: those that are absent go back to the default of new sessions."""
        changes = self.changes(config)
        if not mask.paths:
            return changes
        defaults = _merged({name: default_of(name) for name in _top_level()}, self.defaults)
        named: dict[str, Any] = {}
        for path in mask.paths:
            for block, member in _settings_of(path):
                if block:
                    value = changes.get(block, {}).get(member, defaults[block][member])
                    named.setdefault(block, {})[member] = value
                else:
                    named[member] = changes.get(member, defaults[member])
        return self._typed(named)

    def _typed(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        checked = check_session_config(changes)
        model = checked.get("summarizer_model", "default")
        if model != "default" and not _is_offered(model, self.summarizers):
            raise SummarizerUnknown("config.summarizer_model", model, ("default", *self.summarizers))
        return {name: _DOMAIN_TYPES[name](value) if name in _DOMAIN_TYPES else value for name, value in checked.items()}


def _is_offered(name: str, offered: Sequence[str]) -> bool:
    """Whether a name is among the offered ones. Provider and model may be separated by a slash, too."""
    provider, separator, model_id = name.partition("/" if ":" not in name.partition("/")[0] else ":")
    if not separator:
        return name in offered
    if not model_id.strip() or model_id == "*":
        return False
    return f"{provider}:{model_id}" in offered or f"{provider}:*" in offered


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**first, **second}
    for block in BLOCKS:
        if block in first and block in second:
            merged[block] = {**first[block], **second[block]}
    return merged


def _top_level() -> set[str]:
    return {name.partition(".")[0] for name in _KNOBS}


def _settings_of(path: str) -> list[tuple[str, str]]:
    """The settings that a path of a mask stands for, as block (may be empty) and member."""
    if path == "labels":
        return []
    root, dot, rest = path.partition(".")
    names = [name for name in _KNOBS if not dot or name == rest or (rest in BLOCKS and name.startswith(rest + "."))]
    if root != "config" or not names:
        raise RequestInvalid(
            "update_mask.paths", f"{short(path)!r} is neither labels nor config nor a setting such as config.enabled"
        )
    return [(block, member) for block, _, member in (name.rpartition(".") for name in names)]


def write_config(config: SessionConfig, target: pb.SessionConfig) -> None:
    """All settings; the two triggers only when they are set."""
    for name in SessionConfig.__dataclass_fields__:
        value = getattr(config, name)
        if isinstance(value, ChainCompressionConfig | PurgeErrorsConfig):
            block = getattr(target, name)
            for member in type(value).__dataclass_fields__:
                setattr(block, member, getattr(value, member))
        elif name in _ENUMS:
            setattr(target, name, _ENUMS[name].write(value))
        elif name in _LISTS:
            values = getattr(target, name)
            values.SetInParent()
            values.values.extend(wire_texts(value))
        elif value is not None:
            setattr(target, name, wire_text(value) if isinstance(value, str) else value)
