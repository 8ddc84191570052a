"""Remedies of terminal errors that no test carries out to the healthy state yet; the list only gets shorter."""

from __future__ import annotations

UNWALKED: dict[str, tuple[str, ...]] = {
    "ClientOptionsError": (
        "check key_password (or its",
        "check the path in the",
        "connectors/kafka/client_options.py::_misfit",
        "connectors/kafka/pem.py::_blocks",
        "say the same for Java under",
    ),
    "DeadLetterRefusedError": (
        "create the dead-letter",
        "let the bridge's user write",
    ),
    "DemoFolderError": ("name a folder that this",),
    "ExportError": ("choose another format: ",),
    "FabricDeniedError": ("check the workload",),
    "FencedError": (
        "it was made again in, or",
        "nothing was changed; stop",
    ),
    "ForeignLedgerError": ("another source needs a",),
    "InvalidDraftError": (
        "claim the ledger first;",
        "publish and confirm the",
        "set the streaming",
    ),
    "InvalidLocationError": (
        "correct api_version,",
        "write abfss://<workspace",
    ),
    "InvalidZoneError": (
        "check landing_zone.url in",
        "check the zone's url: it",
        "connectors/landing_zone/replay/table_metadata.py::_invalid",
        "keep other folders out of",
        "move the file out of the",
        "put every text value in",
        "restore the file, and",
    ),
    "JarsError": ("check the network; without",),
    "KafkaAccessError": ("create it: kafka-topics.sh",),
    "LedgerBehindError": (
        "an older ledger was put",
        "set state.url to where this",
    ),
    "LedgerCorruptError": (
        "connectors/landing_zone/ledger/history.py::rebuild",
        "stop that driver and every",
    ),
    "LedgerWholeError": ("`cdc-bridge status CONFIG`",),
    "OffsetGapError": (
        "restart the job: it sets",
        "set the streaming",
    ),
    "RecordsGoneError": (
        "rebuild the table with cdc-bridge resync CONFIG {}",
        "retention has removed it,",
    ),
    "SchemaError": (
        "look at the record's",
        "look at the schema in the registry; Kafka",
        "look at the schema in the registry; it must",
    ),
    "SettingsError": (
        "mend the file: its section",
        "pip install",
        "set source.database.url,",
        "write a longer one into the",
    ),
    "SnapshotRefusedError": (
        "`cdc-bridge resync CONFIG",
        "give the connector a signal",
        "nothing, if the table is",
        "streaming/lifecycle/rebuilding.py::_refuse",
    ),
    "StorageDeniedError": (
        "check the part before '@'",
        "check the workload",
        "find out who has made it",
        "give the bridge's user the right to read, write and list ",
        "give the bridge's user the right to read, write and list there",
        "if it is a rename, set",
        "let the bridge's user write",
        "look up the code in the",
        "look who has put a file in",
        "look at what is at the path of",
        "mount the volume writable,",
        "upload each attempt under a",
        "use a file system with hard",
    ),
    "TableResetError": ("cdc-bridge resync CONFIG {}; or, if",),
    "TopicNotFoundError": (
        "create it again only with",
        "rebuild the table with",
    ),
    "TopicRecreatedError": ("check",),
    "ZoneOwnedError": ("set state.url to where that ledger is, or put it back there from a backup; ",),
}
"""Remedies that no test here carries out yet: where each is raised, a test pins its words only."""
