"""Secrets at the summarizer's door. The keys are made up, and put together so that no scanner takes them for real."""

import pytest

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.settings import SettingsInvalid
from condense_grpc.summarize.redaction import make_redactor

SECRETS = {
    "aws-key": "AK" + "IAIOSFODNN7EXAMPLE",
    "github-token": "gh" + "p_" + "a1" * 18,
    "gitlab-token": "gl" + "pat-" + "a1B2" * 5,
    "slack-token": "xo" + "xb-1234567890-abcdefghij",
    "anthropic-key": "sk" + "-ant-api03-" + "aB3" * 10,
    "openai-key": "sk" + "-proj-" + "aB3_" * 10,
    "google-key": "AI" + "za" + "aB3_-" * 7,
    "stripe-key": "sk" + "_live_" + "aB3" * 8,
    "npm-token": "np" + "m_" + "aB3d" * 9,
    "huggingface-token": "h" + "f_" + "aBcD" * 8,
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N",
    "private-key": "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA " + "PRIVATE KEY-----",
}


@pytest.mark.parametrize("name", SECRETS)
def test_well_known_shapes_are_taken_out(name: str) -> None:
    """The rest of the line stays."""
    redactor = make_redactor(shapes=True)
    assert redactor.redact(f"key: {SECRETS[name]} (new)") == (f"key: [redacted:{name}] (new)", 1)


def test_what_introduces_a_secret_stays() -> None:
    """An agent may need to know that there is a password, never which."""
    redactor = make_redactor(shapes=True)
    text = (
        "DB_PASSWORD=hunter2hunter2 url=postgres://app:s3cretpw@db:5432/x\nAuthorization: Bearer abcdefghijklmnopqrstu"
    )
    assert redactor.redact(text) == (
        "DB_PASSWORD=[redacted:secret] url=postgres://[redacted:url-password]@db:5432/x\n"
        "Authorization: Bearer [redacted:bearer-token]",
        3,
    )


@pytest.mark.parametrize(
    "text",
    [
        "password: str",
        "the token bucket has 12 tokens",
        "sk-learn and sk-image",
        "commit 0f3a5b7c9d1e",
        "https://a.b/c@d",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    """A summary without facts is of no use either."""
    assert make_redactor(shapes=True).redact(text) == (text, 0)


def test_patterns_and_a_function_of_the_operator() -> None:
    """A pattern can narrow what goes by a group; a function counts as one when it has changed something."""
    redactor = make_redactor(shapes=False, patterns=[r"employee (?P<secret>\d+)"], function=f"{__name__}:without_names")
    assert redactor.redact("employee 4711 is Alice") == ("employee [redacted:pattern-1] is X", 2)


def without_names(text: str) -> str:
    return text.replace("Alice", "X")


def test_results_arguments_and_words_are_covered() -> None:
    """Everything of a batch that could be sent."""
    key = SECRETS["aws-key"]
    batch = Batch(1, 1, f"use {key}", (Call("a", "bash", f'{{"k": "{key}"}}', f"{key}\n{key}"),))
    redacted, found = make_redactor(shapes=True).redact_batch(batch)
    assert found == 4
    assert key not in repr(redacted)


@pytest.mark.parametrize(
    "given",
    [{"patterns": ["("]}, {"function": "no_such_module_here:f"}, {"function": "json:nothing"}, {"function": "json"}],
)
def test_what_cannot_be_used_is_refused_at_the_start(given: dict[str, object]) -> None:
    """Not at the first flush."""
    with pytest.raises(SettingsInvalid):
        make_redactor(shapes=True, **given)  # type: ignore[arg-type]


def test_no_text_makes_it_slow() -> None:
    """The patterns are linear in what they look at."""
    redactor = make_redactor(shapes=True)
    for text in (
        "a" * 100_000,
        "eyJ" * 30_000,
        "-----BEGIN PRIVATE KEY-----" * 300,
        "://a:" * 20_000,
        "password=" * 10_000,
    ):
        redactor.redact(text)
