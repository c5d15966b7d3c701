"""A step that must not be left half done: it runs to its end whatever becomes of its caller."""

import asyncio

import pytest

from condense_grpc.engine.shielding import begun, completed, ended


async def test_a_step_that_never_waits_needs_no_task() -> None:
    """It runs in the caller's task, from begin to end."""
    caller = asyncio.current_task()

    async def step() -> object:
        return asyncio.current_task()

    before = len(asyncio.all_tasks())
    assert await completed(step()) is caller
    assert len(asyncio.all_tasks()) == before


async def test_a_step_that_waits_goes_on_where_it_is() -> None:
    """Several times, and with what it waits for."""
    done: list[str] = []

    async def step() -> str:
        for number in range(3):
            await asyncio.sleep(0)
            done.append(await asyncio.wait_for(_answer(str(number)), 5))
        return "".join(done)

    assert await completed(step()) == "012"


async def _answer(text: str) -> str:
    await asyncio.sleep(0)
    return text


@pytest.mark.parametrize("waits", [False, True])
async def test_what_a_step_raises_comes_to_the_caller(waits: bool) -> None:
    """At once, and after it has waited."""

    async def step() -> None:
        if waits:
            await asyncio.sleep(0)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await completed(step())


async def test_what_it_waits_for_may_raise_into_it() -> None:
    """It can handle that, as in a task of its own."""

    async def fails() -> None:
        await asyncio.sleep(0)
        raise KeyError

    async def step() -> str:
        try:
            await asyncio.ensure_future(fails())
        except KeyError:
            await asyncio.sleep(0)
        return "handled"

    assert await completed(step()) == "handled"


async def test_a_cancelled_caller_waits_for_the_end() -> None:
    """Cancelled twice it still does; then the cancellation goes on."""
    gate, done = asyncio.Event(), False

    async def step() -> None:
        nonlocal done
        await gate.wait()
        await asyncio.sleep(0)
        done = True

    caller = asyncio.ensure_future(completed(step()))
    for _ in range(2):
        await asyncio.sleep(0)
        caller.cancel()
    await asyncio.sleep(0)
    assert not caller.done()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert done


@pytest.mark.parametrize("waits", [False, True])
async def test_a_step_that_is_begun_has_done_what_it_can(waits: bool) -> None:
    """It goes on while its caller does something else."""
    done = []

    async def step() -> str:
        done.append("first")
        if waits:
            await asyncio.sleep(0)
        done.append("rest")
        return "result"

    task = begun(step())
    assert done[:1] == ["first"]
    assert await ended(task) == "result" and done == ["first", "rest"]


@pytest.mark.parametrize("waits", [False, True])
async def test_what_a_begun_step_raises_comes_at_its_end(waits: bool) -> None:
    """Not before anybody waits for it."""

    async def step() -> None:
        if waits:
            await asyncio.sleep(0)
        raise ValueError("no")

    task = begun(step())
    with pytest.raises(ValueError, match="no"):
        await ended(task)
