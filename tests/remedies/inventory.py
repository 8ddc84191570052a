"""Which test goes from each terminal error through its remedy to the healthy state.

By the error's class; :mod:`tests.remedies.sites` has the remedies of the classes with several. A test is named by its
file and its function. Most are beside this module; those that need a
database, a secured broker or a played Debezium are where these are.
"""

from __future__ import annotations

import re
from pathlib import Path

_ZONE = "tests/remedies/test_zone_errors.py"
_START = "tests/remedies/test_start_errors.py"
_RECORDS = "tests/remedies/test_record_errors.py"
_LETTERS = "tests/remedies/test_letter_errors.py"
_KAFKA = "tests/remedies/test_kafka_errors.py"
_TOPICS = "tests/remedies/test_topic_errors.py"
_LOST = "tests/remedies/test_resolve_lost.py"
_TAKEN = "tests/remedies/test_resolve_taken.py"
_LEDGER = "tests/remedies/test_ledger_errors.py"
_SERVICE = "tests/remedies/test_service_errors.py"
_MACHINE = "tests/remedies/test_machine_errors.py"
_ADOPT = "tests/remedies/test_adopt.py"
_RUNNING = "tests/remedies/test_running_errors.py"
_DATABASE = "tests/remedies/test_database_errors.py"
_DEMO = (
    "tests/remedies/test_demo_errors.py",
    "test_what_stops_a_demo_and_that_the_next_one_lands_what_is_true",
)

TESTS: dict[str, tuple[str, str]] = {
    "connectors.debezium.errors.ColumnDeclarationError": (_START, "test_column_declaration"),
    "connectors.debezium.errors.SchemaError": (_RECORDS, "test_schema"),
    "connectors.debezium.errors.UnknownSchemaError": (_LETTERS, "test_unknown_schema"),
    "connectors.fabric.errors.FabricDeniedError": (_SERVICE, "TestFabric::test_refusal"),
    "connectors.fabric.errors.FabricNotFoundError": (_SERVICE, "TestFabric::test_refusal"),
    "connectors.java.JavaError": (_MACHINE, "test_java"),
    "connectors.kafka.errors.BrokerStartError": _DEMO,
    "connectors.kafka.errors.ClientOptionsError": (_MACHINE, "test_client_options"),
    "connectors.kafka.errors.DeadLetterRefusedError": (_KAFKA, "test_dead_letter_refused"),
    "connectors.kafka.errors.JarDigestError": (_MACHINE, "TestJars::test_other_bytes"),
    "connectors.kafka.errors.JarsError": (_MACHINE, "TestJars::test_no_network"),
    "connectors.kafka.errors.KafkaAccessError": (
        "tests/integration/test_secured_clients.py",
        "test_a_bridge_that_is_refused_lands_once_its_password_is_renewed",
    ),
    "connectors.kafka.errors.KafkaRequestError": (_RUNNING, "test_kafka_request"),
    "connectors.kafka.errors.RecordsGoneError": (_LEDGER, "test_records_gone"),
    "connectors.kafka.errors.RegistryAccessError": (_SERVICE, "TestRegistryAccess::test_file"),
    "connectors.kafka.errors.SignalRefusedError": (_KAFKA, "test_signal_refused"),
    "connectors.kafka.errors.TopicNotFoundError": (_KAFKA, "test_topic_not_found"),
    "connectors.kafka.errors.UnreadableBatchError": (
        "tests/remedies/test_unreadable_batch.py",
        "test_unreadable_batch",
    ),
    "connectors.landing_zone.errors.FencedError": (_LEDGER, "test_fenced"),
    "connectors.landing_zone.errors.ForeignFolderError": (_ZONE, "test_foreign_folder"),
    "connectors.landing_zone.errors.ForeignLedgerError": (_LEDGER, "test_foreign_ledger"),
    "connectors.landing_zone.errors.InvalidDraftError": (_LEDGER, "test_invalid_draft"),
    "connectors.landing_zone.errors.InvalidFileNameError": (_ZONE, "test_invalid_file_name"),
    "connectors.landing_zone.errors.InvalidZoneError": (_ZONE, "test_invalid_zone"),
    "connectors.landing_zone.errors.LedgerBehindError": (_ZONE, "test_ledger_behind_because_of_another_writer"),
    "connectors.landing_zone.errors.LedgerCorruptError": (_LEDGER, "test_ledger_corrupt"),
    "connectors.landing_zone.errors.LedgerFormatError": (_LEDGER, "test_ledger_format"),
    "connectors.landing_zone.errors.LedgerWholeError": (_LEDGER, "test_ledger_whole"),
    "connectors.landing_zone.errors.LostFileError": (_ZONE, "test_lost_file"),
    "connectors.landing_zone.errors.MetadataConflictError": (_ZONE, "test_metadata_conflict"),
    "connectors.landing_zone.errors.NullKeyError": (_RECORDS, "test_null_key"),
    "connectors.landing_zone.errors.OffsetGapError": (_TOPICS, "test_offset_gap"),
    "connectors.landing_zone.errors.PathNotFoundError": (_RUNNING, "test_path_not_found_by_a_running_bridge"),
    "connectors.landing_zone.errors.SequenceConflictError": (_ZONE, "test_sequence_conflict"),
    "connectors.landing_zone.errors.StorageDeniedError": (_START, "test_storage_denied"),
    "connectors.landing_zone.errors.TableResetError": (_ZONE, "test_table_reset"),
    "connectors.landing_zone.errors.TextSchemaChangeError": (_RECORDS, "test_text_schema_change"),
    "connectors.landing_zone.errors.TopicRecreatedError": (_TOPICS, "test_topic_recreated"),
    "connectors.landing_zone.errors.VersionNotKeptError": (_LEDGER, "test_version_not_kept"),
    "connectors.landing_zone.errors.ZoneOwnedError": (_LEDGER, "test_zone_owned"),
    "connectors.landing_zone.replay.content.UnreadableFileError": (_START, "test_unreadable_file"),
    "connectors.landing_zone.replay.export.ExportError": (_START, "test_export"),
    "connectors.landing_zone.storage.location.InvalidLocationError": (_START, "test_location"),
    "connectors.landing_zone.storage.paths.InvalidPathError": (_START, "test_path"),
    "connectors.source_database.errors.DatabaseAccessError": (_DATABASE, "test_database_access"),
    "connectors.source_database.errors.DatabaseRequestError": (_DATABASE, "test_database_request"),
    "connectors.source_database.errors.DatabaseUrlError": (_DATABASE, "test_database_url"),
    "connectors.source_database.errors.SourceTableError": (_DATABASE, "test_source_table"),
    "connectors.source_database.kafka_connect.ConnectAccessError": (_SERVICE, "TestConnect::test_access"),
    "connectors.source_database.kafka_connect.ConnectorNotFoundError": (_SERVICE, "TestConnect::test_name"),
    "streaming.dead_letters.coordinates.InvalidCoordinatesError": (_START, "test_letter"),
    "streaming.dead_letters.showing.NoSuchLetterError": (_START, "test_letter"),
    "streaming.demo.folder.DemoFolderError": _DEMO,
    "streaming.demo.produce.ProduceError": _DEMO,
    "streaming.driver.beginning.StartingOffsetError": (_START, "TestStartingOffset::test_that_is_not_there"),
    "streaming.driver.checkpoint.CheckpointError": (_RUNNING, "test_checkpoint"),
    "streaming.driver.spark_errors.SparkStartError": ("tests/remedies/test_spark_errors.py", "test_spark_start"),
    "streaming.explaining.explain.NoSuchRecordError": (_START, "TestRecord::test_that_is_not_there"),
    "streaming.health.server.AddressInUseError": (_MACHINE, "TestAddress::test_in_use"),
    "streaming.health.server.AddressNotOursError": (_MACHINE, "TestAddress::test_of_another_machine"),
    "streaming.lifecycle.asking.UnknownTableError": (_START, "test_table_that_nobody_knows"),
    "streaming.lifecycle.landed_letters.ReplayRefusedError": (_LETTERS, "test_replay_refused"),
    "streaming.lifecycle.later_reading.TooMuchToReadError": (_LETTERS, "test_too_much_to_read"),
    "streaming.lifecycle.refused_snapshots.SnapshotRefusedError": (
        "tests/remedies/test_snapshot_errors.py",
        "test_snapshot_refused",
    ),
    "streaming.reconciling.mirror.UnreadableMirrorError": (
        _DATABASE,
        "test_unreadable_mirror_of_a_file_that_is_damaged",
    ),
    "streaming.reconciling.reconcile.UnknownTableError": (_DATABASE, "test_unknown_table"),
    "streaming.resolving.decision.DecisionRefusedError": (
        _TAKEN,
        "test_a_refused_decision_is_followed_by_one_that_fits",
    ),
    "streaming.resolving.remaking.NotRemadeError": (_LOST, "test_that_retention_has_removed_is_not_made_again"),
    "streaming.settings.errors.SettingsError": (_START, "test_settings"),
    "streaming.task.bad_records.BadRecordError": (_RECORDS, "test_bad_record"),
    "streaming.zones.adopting.AdoptRefusedError": (_ADOPT, "test_a_position_has_to_be_declared"),
    "streaming.zones.replaying.RebuiltSinceError": (_LEDGER, "test_rebuilt_since"),
}

ACTS: dict[str, str] = {
    "connectors.debezium.errors.ColumnDeclarationError": "correct it in the settings",
    "connectors.fabric.errors.FabricNotFoundError": "give the identity a role there",
    "connectors.java.JavaError": "install Java 17 or 21",
    "connectors.kafka.errors.BrokerStartError": "a fresh folder",
    "connectors.kafka.errors.ClientOptionsError": "check PEM files and their rights",
    "connectors.kafka.errors.DeadLetterRefusedError": "raise the topic's `max.message.bytes`",
    "connectors.kafka.errors.JarDigestError": "delete the folder",
    "connectors.kafka.errors.JarsError": "fetch them where there is a network, and copy the folder",
    "connectors.kafka.errors.KafkaRequestError": "what the reason asks for",
    "connectors.landing_zone.errors.FencedError": "end it, start this one again",
    "connectors.landing_zone.errors.InvalidFileNameError": "move it out",
    "connectors.landing_zone.errors.InvalidZoneError": "put the file back from a copy",
    "connectors.landing_zone.errors.LedgerFormatError": "run the release that wrote it",
    "connectors.landing_zone.errors.LedgerWholeError": "look there why a table stands still",
    "connectors.landing_zone.errors.PathNotFoundError": "stop that, restart",
    "connectors.landing_zone.errors.VersionNotKeptError": "name one of those",
    "connectors.landing_zone.replay.export.ExportError": "Delta needs the extra `delta`",
    "connectors.source_database.errors.DatabaseAccessError": "grant SELECT on the tables",
    "connectors.source_database.errors.DatabaseRequestError": "what they ask for",
    "connectors.source_database.errors.DatabaseUrlError": "correct it",
    "connectors.source_database.errors.SourceTableError": "correct the URL, or grant SELECT",
    "streaming.dead_letters.coordinates.InvalidCoordinatesError": "write `topic:partition:offset`",
    "streaming.dead_letters.showing.NoSuchLetterError": "name one of those",
    "streaming.demo.folder.DemoFolderError": "name an empty folder",
    "streaming.demo.produce.ProduceError": "run it again",
    "streaming.driver.beginning.StartingOffsetError": "correct it",
    "streaming.driver.checkpoint.CheckpointError": "restart",
    "streaming.health.server.AddressNotOursError": "`0.0.0.0` for all",
    "streaming.lifecycle.asking.UnknownTableError": "write it as there",
    "streaming.reconciling.mirror.UnreadableMirrorError": "compare within that time, or after a resync",
    "streaming.reconciling.reconcile.UnknownTableError": "write it as there",
    "streaming.settings.errors.SettingsError": "put the last settings back that worked",
    "streaming.zones.replaying.RebuiltSinceError": "name a later version, or another table",
}
"""Where neither a command of the bridge's nor a setting helps: what the runbook says to do, in its words."""

ACTS_ALONE = frozenset(
    {
        "BrokerStartError",
        "CheckpointError",
        "ClientOptionsError",
        "ColumnDeclarationError",
        "DatabaseRequestError",
        "DatabaseUrlError",
        "FencedError",
        "InvalidDraftError",
        "InvalidFileNameError",
        "InvalidLocationError",
        "InvalidPathError",
        "InvalidZoneError",
        "JarDigestError",
        "KafkaRequestError",
        "NoSuchRecordError",
        "OffsetGapError",
        "PathNotFoundError",
        "ProduceError",
        "RegistryAccessError",
        "SchemaError",
        "SettingsError",
        "StartingOffsetError",
        "StorageDeniedError",
        "TopicNotFoundError",
    }
)
"""Errors of which some remedy is an act outside of the bridge, or an argument of the command that met it.

Behind it stands the command to try again (:mod:`streaming.remedies`).
"""


def told_to_do(error: str) -> str:
    """What the runbook says under *Do* about an error."""
    runbook = (Path(__file__).resolve().parents[2] / "docs/runbook.md").read_text(encoding="utf-8")
    section = re.search(rf"^### {error.rpartition('.')[2]}\n(.*?)(?=^### |^## |\Z)", runbook, re.MULTILINE | re.DOTALL)
    assert section is not None
    return re.findall(r"^- \*\*Do:\*\* (.+)$", section[1], re.MULTILINE)[0]
