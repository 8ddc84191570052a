"""The types that msgspec decodes JSON objects into, whatever their members are called.

A struct is the fast form. Its members cannot have names with quotes, backslashes or control characters, which a column
may have (PostgreSQL quotes any name); an object with such a member becomes a typed dict.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NotRequired, Required

import msgspec

_NOT_IN_STRUCTS = re.compile(r'["\\\x00-\x1f]')


def is_plain_name(name: str) -> bool:
    """Whether JSON may hold the name as it is, without escapes."""
    return _NOT_IN_STRUCTS.search(name) is None and not any("\ud800" <= character <= "\udfff" for character in name)


@dataclass(frozen=True)
class Member:
    """One member of a JSON object.

    Attributes:
        annotation: the type that msgspec decodes it as.
        default: what stands for an absent member, unless it is ``required``.
    """

    name: str
    annotation: Any
    default: Any = None
    required: bool = False


@dataclass(frozen=True)
class ObjectType:
    """What objects decode into.

    Attributes:
        type: for msgspec.
        getters: one per member, in their order: its value in a decoded object.
        empty: an object with every member's default, of required ones too.
        attributes: the members as attributes of a struct; none of a typed dict.
    """

    type: Any
    getters: tuple[Callable[[Any], Any], ...]
    empty: Any
    attributes: tuple[str, ...] = ()

    def together(self, places: Sequence[int]) -> Callable[[Any], tuple[Any, ...]]:
        """What gives the values of several members, in the order of ``places``, of a decoded object as a tuple."""
        if self.attributes and len(places) > 1:
            together: Callable[[Any], tuple[Any, ...]] = attrgetter(*(self.attributes[place] for place in places))
            return together
        chosen = [self.getters[place] for place in places]
        return lambda decoded: tuple([get(decoded) for get in chosen])


def object_type(members: Iterable[Member]) -> ObjectType:
    """The type of objects with these members, whose names are unique; others in the JSON are passed over."""
    listed = list(members)
    if any(_NOT_IN_STRUCTS.search(member.name) for member in listed):
        return _typed_dict(listed)
    attributes = [f"m{number}" for number in range(len(listed))]
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        (attribute, member.annotation) if member.required else (attribute, member.annotation, member.default)
        for attribute, member in zip(attributes, listed, strict=True)
    ]
    names = {attribute: member.name for attribute, member in zip(attributes, listed, strict=True)}
    struct = msgspec.defstruct("Object", fields, rename=names, kw_only=True, gc=False)
    empty = struct(**{attribute: member.default for attribute, member in zip(attributes, listed, strict=True)})
    return ObjectType(struct, tuple(map(attrgetter, attributes)), empty, tuple(attributes))


def _typed_dict(members: list[Member]) -> ObjectType:
    annotations: dict[str, Any] = {
        member.name: Required[member.annotation] if member.required else NotRequired[member.annotation]
        for member in members
    }
    for member in members:
        # msgspec (0.22) finds a typed dict's member by the UTF-8 form that Python keeps beside a text, and does not
        # make that form itself: without it a name beyond ASCII is never found, and its column would be NULL.
        msgspec.json.encode(member.name)
    # A type checker reads typed dicts of constant members only.
    build: Any = vars(typing)["TypedDict"]
    return ObjectType(build("Object", annotations), tuple(map(_item, members)), {})


def _item(member: Member) -> Callable[[Any], Any]:
    name, default = member.name, member.default
    return lambda decoded: decoded.get(name, default)
