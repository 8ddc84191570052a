"""Looks into one JSON value: what kind of record it is, and why it cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from connectors.debezium.events import SkipReason
from connectors.debezium.options import DecodeOptions
from connectors.debezium.origin import Origin, RecordForm, envelope_origin, flattened_origin, form_of
from connectors.debezium.verdicts import BadReason, Rejection
from connectors.json_errors import DECODE_ERRORS

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def origin_of(
    body: bytes, topic: str, key_names: Sequence[str], options: DecodeOptions
) -> Origin | SkipReason | Rejection:
    """What a value without its embedded schema is about, or why that cannot be told."""
    try:
        members = _OBJECT.decode(body)
        form = form_of(frozenset(members), topic, key_names, options)
        if not isinstance(form, RecordForm):
            return form
        if form is RecordForm.FLATTENED:
            return flattened_origin(_plain(members, options.metadata_prefix), topic, options)
        return envelope_origin(_value(members["op"]), _value(members.get("source", _NULL)), options)
    except DECODE_ERRORS as error:
        return rejection(body, error)


def rejection(body: bytes, error: Exception) -> Rejection:
    """Why decoding ``body`` has failed with ``error``."""
    if not body:
        return Rejection(BadReason.EMPTY_VALUE, "the value has no bytes")
    try:
        body.decode()
    except UnicodeDecodeError as wrong:
        if b"\0" in body[:1]:
            return Rejection(BadReason.NOT_JSON, "the value starts with byte 0, as Avro does, and is to be JSON")
        return Rejection(BadReason.NOT_UTF8, f"{wrong.reason} at byte {wrong.start}")
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


def _value(raw: msgspec.Raw) -> object:
    return msgspec.json.decode(raw)


def _plain(members: dict[str, msgspec.Raw], prefix: str) -> dict[str, Any]:
    return {name: _value(raw) for name, raw in members.items() if name.startswith(prefix)}
