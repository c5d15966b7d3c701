"""New ids for calls whose id was there before."""

from condense_grpc.domain.messages import Message
from condense_grpc.domain.skeleton import skeletons_of
from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.renaming import MAX_ID_CHARS, find_renames
from tests.domain.histories import calls, result


def renamed(*messages: Message, form: NativeFormat = NativeFormat.ANTHROPIC) -> list[tuple[int, int, str]]:
    found = find_renames(form, skeletons_of(messages, ()))
    return [(one.message_index, one.call_index, one.new_id) for one in found]


def turn(*ids: str) -> list[Message]:
    return [calls(None, *ids), *(result(None, one) for one in ids)]


def test_the_first_keeps_its_id() -> None:
    """Call and result get the same new one; ids that are there already are not given out."""
    assert renamed(*turn("x"), *turn("y", "x"), *turn("x_2")) == [
        (2, 1, "x_2"),
        (4, 0, "x_2"),
        (5, 0, "x_2_2"),
        (6, 0, "x_2_2"),
    ]
    assert not renamed(*turn("x"), *turn("y"))


def test_only_where_ids_must_be_unique() -> None:
    """Chat Completions and Gemini pair by turn."""
    for form in (NativeFormat.OPENAI_CHAT, NativeFormat.GEMINI, NativeFormat.PI):
        assert not renamed(*turn("x"), *turn("x"), form=form)


def test_new_ids_are_not_longer_than_may_be() -> None:
    """One that was too long before is the host's own defect."""
    long = "x" * MAX_ID_CHARS
    names = [name for _, _, name in renamed(*turn(long), *turn(long), *turn(long))]
    assert {len(name) for name in names} == {MAX_ID_CHARS} and len(set(names)) == 2
    longer = long + "y"
    assert [name for _, _, name in renamed(*turn(longer), *turn(longer))] == [f"{longer}_2"] * 2
