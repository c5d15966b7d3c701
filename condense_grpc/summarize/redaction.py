"""Secrets do not leave the server: keys and passwords are taken out of everything that is sent to a model.

Well-known shapes of keys are known; an operator can add patterns and a function. Only what is sent is changed, what
is stored is not. A function that fails stops the request: nothing goes out unseen.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module

from condense_grpc.domain.batches import Batch
from condense_grpc.domain.frozen import frozen
from condense_grpc.settings import SettingsInvalid

# Each has bounded repetitions or none that overlap: no text makes them slow.
_SHAPES: tuple[tuple[str, str], ...] = (
    ("private-key", r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.{0,20000}?-----END [A-Z ]{0,40}PRIVATE KEY-----"),
    ("aws-key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    ("github-token", r"\bgh[oprsu]_[0-9A-Za-z]{36,255}\b|\bgithub_pat_[0-9A-Za-z_]{50,255}\b"),
    ("gitlab-token", r"\bglpat-[0-9A-Za-z_-]{20,64}"),
    ("slack-token", r"\bxox[abeoprs]-[0-9A-Za-z-]{10,255}"),
    ("anthropic-key", r"\bsk-ant-[0-9A-Za-z_-]{20,255}"),
    ("openai-key", r"\bsk-(?:proj-|svcacct-|or-v1-)?[0-9A-Za-z_-]{20,255}"),
    ("google-key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("stripe-key", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,255}\b"),
    ("npm-token", r"\bnpm_[0-9A-Za-z]{36}\b"),
    ("pypi-token", r"\bpypi-AgEI[0-9A-Za-z_-]{50,255}"),
    ("huggingface-token", r"\bhf_[0-9A-Za-z]{30,64}\b"),
    ("sendgrid-key", r"\bSG\.[0-9A-Za-z_-]{16,32}\.[0-9A-Za-z_-]{32,64}"),
    ("jwt", r"\beyJ[0-9A-Za-z_-]{10,2000}\.eyJ[0-9A-Za-z_-]{10,4000}\.[0-9A-Za-z_-]{10,1000}"),
    ("url-password", r"(?<=://)[^\s:/@\"']{1,128}:[^\s/@\"']{1,256}(?=@)"),
    ("bearer-token", r"(?i:(?<=bearer )|(?<=basic ))[0-9A-Za-z._~+/-]{20,2000}=*"),
    (
        "secret",
        r"(?i:(?:api_?key|secret_?key|access_?key|auth_?token|access_?token|client_?secret|password|passwd)"
        r"[\"']?\s{0,4}[:=]\s{0,4}[\"']?)(?P<secret>[0-9A-Za-z_~+/.=-]{12,512})",
    ),
)


@frozen
class Redactor:
    """What is taken out before anything is sent. Without patterns and function it changes nothing."""

    patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
    function: Callable[[str], str] | None = None

    def redact(self, text: str) -> tuple[str, int]:
        """The text without secrets, and how many were found; a function that has changed something counts as one."""
        found = 0
        for name, pattern in self.patterns:
            text, count = pattern.subn(lambda match, name=name: _marked(match, name), text)  # type: ignore[misc]
            found += count
        if self.function is not None:
            changed = self.function(text)
            found += changed != text
            text = changed
        return text, found

    def redact_batch(self, batch: Batch) -> tuple[Batch, int]:
        """The batch without secrets. Before anything is left out of it, so that no half of a key gets through."""
        if not self.patterns and self.function is None:
            return batch, 0
        said, found = self.redact(batch.assistant_text)
        calls = []
        for call in batch.calls:
            result, in_result = self.redact(call.result_text)
            arguments, in_arguments = self.redact(call.args_json)
            found += in_result + in_arguments
            calls.append(replace(call, result_text=result, args_json=arguments))
        return replace(batch, assistant_text=said, calls=tuple(calls)), found


def _marked(match: re.Match[str], name: str) -> str:
    """The match with its secret replaced; what only introduces the secret stays."""
    if "secret" in match.re.groupindex:
        start = match.start("secret") - match.start()
        return f"{match[0][:start]}[redacted:{name}]"
    return f"[redacted:{name}]"


def make_redactor(*, shapes: bool, patterns: Sequence[str] = (), function: str = "") -> Redactor:
    """The redactor that settings ask for. Raises SettingsInvalid.

    `patterns` are regular expressions (a group named `secret` narrows what is taken out); `function` is
    `module:name` of a function from text to text.
    """
    compiled = [(name, re.compile(pattern, re.DOTALL)) for name, pattern in _SHAPES] if shapes else []
    for number, pattern in enumerate(patterns, 1):
        try:
            compiled.append((f"pattern-{number}", re.compile(pattern)))
        except re.error as error:
            raise SettingsInvalid(f"redact_patterns: pattern {number} is not a regular expression: {error}") from None
    return Redactor(tuple(compiled), _imported(function) if function else None)


def _imported(name: str) -> Callable[[str], str]:
    module, _, member = name.partition(":")
    try:
        found = getattr(import_module(module), member)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsInvalid(
            f"redact_function: must be module:name of a function that can be imported ({type(error).__name__})"
        ) from None
    if not callable(found):
        raise SettingsInvalid("redact_function: must name a function from text to text")
    function: Callable[[str], str] = found
    return function
