"""Looks into one JSON value: what kind of record it is, and why it cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from connectors.debezium.control import control_kind
from connectors.debezium.events import SkipReason
from connectors.debezium.options import DecodeOptions
from connectors.debezium.origin import Origin, RecordForm, envelope_origin, flattened_origin, form_of
from connectors.debezium.verdicts import BadReason, Rejection
from connectors.json_errors import DECODE_ERRORS

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def origin_of(
    body: bytes, topic: str, key_names: Sequence[str], options: DecodeOptions, names: frozenset[str] | None = None
) -> Origin | SkipReason | Rejection:
    """What a value without its embedded schema is about, or why that cannot be told.

    Args:
        names: the members that the schema lists; others say nothing. None where there is no schema.
    """
    try:
        members = _OBJECT.decode(body)
        form = form_of(frozenset(members), topic, key_names, options)
        if not isinstance(form, RecordForm):
            return form
        if form is RecordForm.FLATTENED:
            listed = members if names is None else {name: members[name] for name in names & members.keys()}
            return flattened_origin(_Members(listed), topic, options)
        source = members.get("source", _NULL)
        block = _Members(_OBJECT.decode(source)) if bytes(source)[:1] == b"{" else None
        return envelope_origin(msgspec.json.decode(members["op"]), block, options)
    except DECODE_ERRORS as error:
        return rejection(body, error)


def is_control(body: bytes, topic: str, key_names: Sequence[str], options: DecodeOptions) -> bool:
    """Whether a value that has been read as a row is no row (:mod:`connectors.debezium.control`)."""
    return control_kind(frozenset(_OBJECT.decode(body)), topic, key_names, options) is not None


def failure(decode: Callable[[bytes], Any], body: bytes) -> Rejection:
    """Why ``decode`` refuses ``body``."""
    try:
        decode(body)
    except DECODE_ERRORS as error:
        return rejection(body, error)
    return Rejection(BadReason.TYPE_MISMATCH, "the record's source block contradicts its own table")


def rejection(body: bytes, error: Exception) -> Rejection:
    """Why decoding ``body`` has failed with ``error``."""
    if not body:
        return Rejection(BadReason.EMPTY_VALUE, "the value has no bytes")
    text = str(error)
    if isinstance(error, msgspec.ValidationError):
        if "missing required field" in text:
            return Rejection(BadReason.MISSING_FIELD, text)
        if body.lstrip()[:1] != b"{":
            return Rejection(BadReason.NOT_A_CHANGE_EVENT, text)
        return Rejection(BadReason.TYPE_MISMATCH, text)
    if "truncated" in text:
        return Rejection(BadReason.TRUNCATED, f"the JSON text of {len(body)} bytes ends too early")
    if isinstance(error, RecursionError):
        return Rejection(BadReason.NOT_JSON, "nested too deeply")
    return Rejection(BadReason.NOT_JSON, text)


_NULL = msgspec.Raw(b"null")


class _Members(Mapping[str, object]):
    """An object's members, each decoded when it is asked for.

    A layout does not read what it has no use for. If that were read here, it could make a bad record of one that the
    layout takes, and which of both looks first depends on the records before.
    """

    def __init__(self, raw: Mapping[str, msgspec.Raw]) -> None:
        self._raw = raw

    def __getitem__(self, name: str) -> object:
        return msgspec.json.decode(self._raw[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __contains__(self, name: object) -> bool:
        return name in self._raw
