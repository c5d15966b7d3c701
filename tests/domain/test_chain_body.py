"""Blocks: what stands for a compressed chain, and that nothing untrusted can close or fake one."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.batches import Ref, SummaryDetails
from condense_grpc.domain.chain_body import (
    block_body,
    blocks_in_place,
    chain_body,
    escape_attribute,
    is_block_text,
    opening_tag,
    synthetic_text,
)
from condense_grpc.domain.entries import ArchivedRef, ChainEntry, SummaryEntry
from condense_grpc.domain.index import SessionIndex
from tests.domain.histories import answer, seen, user

_tags = st.sampled_from(
    ["<compressed-chain", "</compressed-chain>", "<protected-output tool=", "</protected-output>", "<", "\n", "text"]
)
hostile = st.lists(_tags, max_size=8).map("".join)
outputs = st.lists(st.tuples(hostile, hostile), max_size=3)


def entry_with(body: str | None, **members: object) -> ChainEntry:
    return replace(ChainEntry("b1", 1, tool_refs=("t1",), range_summary_text=body), **members)


@given(hostile, outputs)
def test_block_holds_only_our_own_delimiters(body: str, protected: list[tuple[str, str]]) -> None:
    """However hostile bodies, tool names and outputs are, a block has one chain tag and one pair per output."""
    text = synthetic_text(entry := entry_with(body), block_body(entry, SessionIndex()), protected)
    assert text.count("<compressed-chain") == text.count("</compressed-chain") == 1
    assert text.count("<protected-output") == text.count("</protected-output") == len(protected)


@given(hostile, outputs)
def test_block_is_recognised_by_its_entry(body: str, protected: list[tuple[str, str]]) -> None:
    """What we insert is known again, whatever was protected; with one more character it is a user's text."""
    body = block_body(entry := entry_with(body), SessionIndex())
    text = synthetic_text(entry, body, protected)
    assert is_block_text(text, entry, body)
    assert not is_block_text(f"{text}\n", entry, body)
    assert not is_block_text(text, entry, f"{body}!")
    assert not is_block_text(text, replace(entry, block_id="b2"), body)


def test_text_between_protected_outputs_is_not_ours() -> None:
    """A block with something added between its outputs is not in place."""
    text = synthetic_text(entry := entry_with("body"), "body", [("bash", "x"), ("bash", "y")])
    assert not is_block_text(text.replace("</protected-output>\n\n", "</protected-output>!\n\n"), entry, "body")
    raw = text.replace("\nx\n", "\n<compressed-chain\n")
    assert not is_block_text(raw, entry, "body")


def test_attributes_cannot_be_left() -> None:
    """Quotes, angle brackets and ampersands become entities, each once."""
    assert escape_attribute('a&"<b>') == "a&amp;&quot;&lt;b&gt;"
    assert opening_tag(entry_with("", tool_refs=("t1", '"x'))) == '<compressed-chain id="b1" tools="t1,&quot;x">'


def test_placeholders_are_expanded_in_fused_bodies_only_and_then_escaped() -> None:
    """A fused body takes in the body of another block, escaped; a deterministic one keeps its text."""
    index = SessionIndex()
    index.apply(ChainEntry("b2", 5, range_summary_text="<compressed-chain {b1}"))
    fused = entry_with("see {b2} {b1} {b9}")
    assert block_body(fused, index) == "see &lt;compressed-chain {b1} {b1} {b9}"
    assert block_body(entry_with("{b2}", body_source="deterministic"), index) == "{b2}"


def test_empty_block_is_not_expanded() -> None:
    """A placeholder whose block has nothing to say stays literal."""
    index = SessionIndex()
    index.apply(ChainEntry("b2", 5))
    assert block_body(entry_with("{b2}"), index) == "{b2}"


def test_body_comes_from_the_summaries_of_the_chain() -> None:
    """Without a text of its own a block shows each summary of its keys once, and the refs beside them."""
    index = SessionIndex()
    for ref in (Ref("t1", "a", 1), Ref("t2", "b", 2)):
        index.apply(SummaryEntry(f"about {ref.short_id}", SummaryDetails((ref,))))
    archived = (ArchivedRef("t3", "read"), ArchivedRef("t4", "bash"))
    entry = entry_with(None, dropped_occurrence_keys=("a@1", "b@2"), archived_refs=archived)
    assert chain_body(entry, index) == "about t1\n\nabout t2\nAlso archived: t3 (read), t4 (bash)"
    assert chain_body(entry_with(None, archived_refs=archived[:1]), index) == "Also archived: t3 (read)"
    assert chain_body(entry_with(""), index) == ""


def test_block_counts_only_behind_the_start_of_its_range() -> None:
    """The same text anywhere else is what a user wrote."""
    index = SessionIndex()
    index.apply(entry := entry_with("body"))
    text = synthetic_text(entry, "body")
    behind, _ = seen([user(1), user(3, text), answer(2)])
    elsewhere, _ = seen([user(1), answer(2), user(3, text)])
    assert blocks_in_place(behind, index.chains, lambda _: (0, 2), index) == {1}
    assert blocks_in_place(elsewhere, index.chains, lambda _: (0, 1), index) == set()
    assert blocks_in_place(behind, index.chains, lambda _: None, index) == set()
