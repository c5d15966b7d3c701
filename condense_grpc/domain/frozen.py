"""Immutable values that are cheap to make.

A dataclass that is frozen at run time sets each member through `object.__setattr__`, which takes five times as long as
a plain assignment, and a turn of an agent makes some dozens of values. So these are frozen for whoever checks types,
as this project does: to assign to a member is an error there.
"""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a dataclass with slots, compared and hashed by its members, none of which is assigned to again."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
