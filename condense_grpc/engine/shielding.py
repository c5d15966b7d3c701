"""Steps that a cancelled caller must not leave half done."""

import asyncio
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")


async def completed(step: Coroutine[Any, Any, T]) -> T:
    """Run a step to its end, also when the caller is cancelled meanwhile; the cancellation is passed on afterwards.

    What the step does before it waits for the first time it does at once, in the caller's task: most steps never wait,
    and a task for each of them would cost more than they do.
    """
    try:
        waits_for = step.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    return await ended(asyncio.ensure_future(_rest_of(step, waits_for)))


def begun(step: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
    """Begin a step, as far as it goes without waiting, and let it go on by itself.

    `ended` is to follow, and raises what the step has raised, however early.
    """
    try:
        waits_for = step.send(None)
    except StopIteration as end:
        return asyncio.ensure_future(_given(end.value))
    except Exception as error:
        return asyncio.ensure_future(_raising(error))
    return asyncio.ensure_future(_rest_of(step, waits_for))


async def ended(task: "asyncio.Task[T]") -> T:
    """The result of a step that goes on by itself; a cancelled caller waits for its end like any other."""
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
        except Exception:
            break
    if cancelled:
        if not task.cancelled():
            task.exception()
        raise asyncio.CancelledError
    return task.result()


async def _given(result: T) -> T:
    return result


async def _raising(error: Exception) -> NoReturn:
    raise error


async def _rest_of(step: Coroutine[Any, Any, T], waits_for: Any) -> T:
    return await _driven(step, waits_for)


@coroutine
def _driven(step: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """Go on with a step that has begun and waits for something."""
    while True:
        try:
            try:
                sent = yield waits_for
            except BaseException as error:
                waits_for = step.throw(error)
            else:
                waits_for = step.send(sent)
        except StopIteration as end:
            result: T = end.value
            return result
