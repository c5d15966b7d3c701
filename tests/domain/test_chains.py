"""Chains: detection, eligibility and ranges, beyond what the vectors show."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.archive import archive_candidates
from condense_grpc.domain.chains import (
    Boundaries,
    Chain,
    detect_chains,
    in_grace,
    resolve_range,
    select_eligible,
    with_closing_message,
)
from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.messages import Message, Role
from condense_grpc.domain.pairing import keys_of
from condense_grpc.domain.pi_json import message_from_pi
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.skeleton import skeletons_of
from tests.domain.histories import (
    PATHS,
    answer,
    calls,
    malformed_lists,
    messy_histories,
    result,
    seen,
    user,
)

PROTECTION = Protection(("keep",), ("*.md",))


@given(messy_histories)
def test_chains_are_disjoint_and_end_with_a_text_only_answer(messages: list[Message]) -> None:
    """Chains follow each other; each begins with a user message, a closed one ends with a text-only answer."""
    skeletons, keys = seen(messages)
    behind = -1
    for chain in detect_chains(skeletons, keys, PROTECTION):
        assert chain.start > behind
        assert skeletons[chain.start].role is Role.USER
        behind = chain.start
        if chain.final is not None:
            assert skeletons[chain.final].is_text_only_assistant
            behind = chain.final


@given(messy_histories)
def test_middle_keys_are_the_results_between_the_boundaries(messages: list[Message]) -> None:
    """A closed chain lists each result between its boundaries by its own key, also when ids and times repeat."""
    skeletons, keys = seen(messages)
    for chain in detect_chains(skeletons, keys, PROTECTION):
        if chain.final is not None:
            between = range(chain.start, chain.final)
            results = [keys[place] for place in between if skeletons[place].role is Role.TOOL_RESULT]
            assert list(chain.middle_occurrence_keys) == results
            assert set(chain.protected_tool_call_ids) <= set(chain.middle_tool_call_ids)


def test_own_block_neither_opens_nor_interrupts_a_chain() -> None:
    """A block of ours behind the opening message is read over."""
    skeletons, keys = seen([user(1), user(2), calls(3, "a"), result(4, "a"), answer(5)])
    (chain,) = detect_chains(skeletons, keys, PROTECTION, {1}.__contains__)
    assert (chain.start, chain.final) == (0, 4)


def test_unstamped_chain_is_closed_by_its_position() -> None:
    """Without timestamps a chain is still found; both of its times are absent."""
    skeletons, keys = seen([user(None), calls(None, "a"), result(None, "a"), answer(None)])
    (chain,) = detect_chains(skeletons, keys, PROTECTION)
    assert (chain.start, chain.final, chain.final_assistant_timestamp_ms) == (0, 3, None)


@given(malformed_lists, st.integers(-1, 3))
def test_malformed_lists_never_raise(values: list[Any], turns: int) -> None:
    """Whatever stands in a list, looking for chains in it gives an answer."""
    skeletons = skeletons_of([message_from_pi(value) for value in values], PATHS)
    keyed = keys_of(skeletons)
    chains = detect_chains(skeletons, keyed[0], PROTECTION)
    grace = in_grace(skeletons, keyed[0], turns)
    select_eligible(chains, turns, lambda chain: False, grace)
    boundaries = Boundaries(skeletons)
    for chain in chains:
        boundaries.between(chain.start_user_timestamp_ms, chain.final_assistant_timestamp_ms)
        if chain.final is not None:
            archive_candidates(skeletons, keyed, (chain.start, chain.final), (), lambda key: False)


def closed(start: int, *keys: str) -> Chain:
    return Chain(start, start + 1, start, start + 1, tuple(keys), tuple(keys))


def test_window_is_not_refilled_by_chains_in_grace() -> None:
    """A chain in grace drops out after the window was cut."""
    chains = [closed(0, "a@1"), closed(2, "b@3"), closed(4, "c@5")]
    assert select_eligible(chains, 1, lambda chain: False, {"b@3"}) == [chains[0]]


def test_grace_without_timestamp_holds_every_occurrence_of_the_id() -> None:
    """A recovered result without a time protects the chains of all results with its id."""
    chains = [closed(0, "a@1"), closed(2, "b@3")]
    assert select_eligible(chains, 0, lambda chain: False, {"a"}) == [chains[1]]


def test_chain_with_a_pending_key_waits() -> None:
    """What the next flush will summarize is not compressed before."""
    chains = [closed(0, "a@1"), closed(2, "b@3")]
    assert select_eligible(chains, 0, lambda chain: False, (), {"a@1"}) == [chains[1]]


def test_window_larger_than_the_list_takes_nothing() -> None:
    """Fewer chains than the window: all of them stay."""
    assert select_eligible([closed(0, "a@1")], 3, lambda chain: False) == []


def test_digests_resolve_ranges_with_equal_timestamps() -> None:
    """Two chains with the same times are told apart by their digests, and not at all without."""
    skeletons, _ = seen([user(1), answer(2), user(1), answer(2)])
    digests = {"d0": 0, "d1": 1, "d2": 2, "d3": 3}
    first = ChainEntry("b1", 1, final_assistant_timestamp_ms=2, start_digest="d0", final_digest="d1")
    second = ChainEntry("b2", 1, final_assistant_timestamp_ms=2, start_digest="d2", final_digest="d3")
    assert [resolve_range(entry, skeletons, digests) for entry in (first, second)] == [(0, 1), (2, 3)]
    assert resolve_range(first, skeletons) is None


def test_digest_that_is_gone_is_not_replaced_by_a_timestamp() -> None:
    """An entry whose messages left the branch does not settle on others with the same times."""
    skeletons, _ = seen([user(1), answer(2)])
    entry = ChainEntry("b1", 1, final_assistant_timestamp_ms=2, start_digest="gone", final_digest="d1")
    assert resolve_range(entry, skeletons, {"d0": 0, "d1": 1}) is None


def test_imported_entry_resolves_by_time_beside_digests() -> None:
    """An entry without digests is found by its times, also where digests are known."""
    skeletons, _ = seen([user(1), answer(2)])
    entry = ChainEntry("b1", 1, final_assistant_timestamp_ms=2)
    assert resolve_range(entry, skeletons, {"d0": 0, "d1": 1}) == (0, 1)


def test_closing_message_leaves_the_list_alone() -> None:
    """The list given is not changed; a copy comes back."""
    messages = [user(1)]
    assert with_closing_message(messages, answer(2)) == [user(1), answer(2)]
    assert messages == [user(1)]
    assert with_closing_message(messages, None) is not messages
