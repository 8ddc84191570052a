"""How a connector's records are encoded."""

from __future__ import annotations

import enum
from typing import assert_never

_JSON = "org.apache.kafka.connect.json.JsonConverter"
AVRO_CONVERTER = "io.apicurio.registry.utils.converter.AvroConverter"


class Converter(enum.StrEnum):
    """Kafka Connect's converters, as Debezium's users set them."""

    JSON = "json"
    """Plain JSON: no types of columns."""
    JSON_SCHEMA = "json-schema"
    """JSON with the schema in every record."""
    AVRO = "avro"
    """Avro behind a zero byte and a schema's id of 4 bytes, as Confluent's clients expect it."""
    AVRO_HEADERS = "avro-headers"
    """Avro whose schema ids are in the record's headers, Apicurio's default."""

    @property
    def needs_registry(self) -> bool:
        """Whether it registers schemas."""
        return self in (Converter.AVRO, Converter.AVRO_HEADERS)

    def settings(self, apicurio: str) -> dict[str, str]:
        """Settings of a connector; ``apicurio`` is the registry's URL, unused by JSON."""
        match self:
            case Converter.JSON | Converter.JSON_SCHEMA:
                one = {"": _JSON, ".schemas.enable": str(self is Converter.JSON_SCHEMA).lower()}
            case Converter.AVRO:
                one = _avro(apicurio) | {
                    ".apicurio.registry.headers.enabled": "false",
                    ".apicurio.registry.as-confluent": "true",
                    ".apicurio.registry.use-id": "contentId",
                }
            case Converter.AVRO_HEADERS:
                one = _avro(apicurio) | {".apicurio.registry.headers.enabled": "true"}
            case _:
                assert_never(self)
        settings = {f"{side}.converter{key}": value for side in ("key", "value") for key, value in one.items()}
        return settings | ({"schema.name.adjustment.mode": "avro"} if self.needs_registry else {})

    def bridge(self, apicurio: str, confluent: str) -> dict[str, str]:
        """What the bridge's settings need for it, as ``section__key``."""
        match self:
            case Converter.JSON | Converter.JSON_SCHEMA:
                return {}
            case Converter.AVRO:
                return {"registry__url": confluent, "registry__kind": "confluent"}
            case Converter.AVRO_HEADERS:
                return {"registry__url": apicurio, "registry__kind": "apicurio"}
            case _:
                assert_never(self)


def _avro(apicurio: str) -> dict[str, str]:
    return {
        "": AVRO_CONVERTER,
        ".apicurio.registry.url": apicurio,
        ".apicurio.registry.auto-register": "true",
        ".apicurio.registry.find-latest": "true",
    }
