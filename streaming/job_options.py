"""From the settings to what a task needs: plain values that travel to the executors."""

from __future__ import annotations

from dataclasses import replace

from connectors.debezium.declared import parse_column
from connectors.debezium.events import Op
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.landing_zone.partner import partner_events
from connectors.landing_zone.storage.location import RenameMode as StorageRenameMode
from connectors.landing_zone.storage.location import StorageLocation
from streaming.kafka_options import dead_letter_config, kafka_config, registry_config
from streaming.landing.shaping.secrecy import Secrecy
from streaming.plan import JobOptions, TableOptions
from streaming.policies import TableMode
from streaming.settings import BridgeSettings, fingerprint
from streaming.settings.tables import ResolvedTable, RowOperation, SchemaOrigin

_OPERATIONS = {
    RowOperation.CREATE: Op.CREATE,
    RowOperation.UPDATE: Op.UPDATE,
    RowOperation.DELETE: Op.DELETE,
    RowOperation.READ: Op.READ,
    RowOperation.TRUNCATE: Op.TRUNCATE,
}


def job_options(settings: BridgeSettings) -> JobOptions:
    """What stays the same from batch to batch.

    Raises:
        ColumnDeclarationError: a declared column has a type that is not known.
        SettingsError: a secret's file cannot be read.
    """
    tables = tuple((rule.match, _table_options(rule)) for rule in settings.tables.resolved())
    return JobOptions(
        fingerprint=fingerprint(settings),
        decode=decode_options(settings),
        zone=storage_location(settings, settings.landing_zone.url),
        kafka=kafka_config(settings),
        isolation=settings.kafka.isolation.value,
        tables=tables,
        markers=settings.markers,
        on_bad_record=settings.tables.on_bad_record,
        registry=registry_config(settings),
        dead_letters=dead_letter_config(settings),
        compression=settings.parquet.compression.value,
        compression_level=settings.parquet.compression_level,
        row_group_rows=settings.parquet.row_group_rows,
        lasting_fall=settings.ordering.lasting_fall,
        upload_threads=settings.publish.threads,
        most_tables=settings.tables.most,
        secrecy=Secrecy.of(settings.tables.secrecy.salt_text(), settings.tables.secrecy.key_text()),
    )


def decode_options(settings: BridgeSettings) -> DecodeOptions:
    """How records are read."""
    form = settings.format
    return DecodeOptions(
        connector=settings.connector.value,
        value_format=form.value,
        key_format=form.key,
        value_formats=tuple((topic, each.value) for topic, each in form.topics.items() if each.value is not None),
        key_formats=tuple((topic, each.key) for topic, each in form.topics.items() if each.key is not None),
        envelope=form.envelope,
        envelope_forms=tuple(
            (topic, each.envelope) for topic, each in form.topics.items() if each.envelope is not None
        ),
        tombstones=form.tombstones,
        placeholder=form.placeholder.encode(),
        metadata_prefix=form.flattened_prefix,
        out_of_range=form.out_of_range,
        inexact_keys=form.inexact_keys,
        rules=TableRules(
            include=tuple(settings.tables.include),
            exclude=tuple(settings.tables.exclude),
            tables=tuple((rule.match, _table_decoding(rule)) for rule in settings.tables.resolved()),
        ),
        signal_tables=tuple(form.control.signal_tables),
        heartbeat_topics=tuple(form.control.heartbeat_topics),
        transaction_topics=tuple(form.control.transaction_topics),
        schema_change_topics=tuple(form.control.schema_change_topics),
        framing=form.framing,
        topic_prefix=settings.source.topic_prefix,
    )


def storage_location(settings: BridgeSettings, url: str) -> StorageLocation:
    """The landing zone's or the state's storage, with the landing zone's connection options."""
    zone = settings.landing_zone
    location = StorageLocation(
        url=url,
        ca_file=None if zone.ca_file is None else str(zone.ca_file),
        rename_mode=StorageRenameMode(zone.rename_mode.value),
        dfs_endpoint=zone.dfs_endpoint,
        blob_endpoint=zone.blob_endpoint,
        read_timeout=zone.request_timeout.total_seconds(),
    )
    return location if zone.api_version is None else replace(location, api_version=zone.api_version)


def partner_file(settings: BridgeSettings) -> bytes:
    """Content of ``_partnerEvents.json``."""
    partner = settings.landing_zone.partner
    return partner_events(
        partner.source_type or settings.connector.value,
        source_version=partner.source_version or "",
        partner=partner.name,
        additional={"source": settings.name},
    )


def _table_decoding(rule: ResolvedTable) -> TableDecoding:
    table = rule.settings
    return TableDecoding(
        declared=tuple(parse_column(name, text) for name, text in table.declared.items()),
        learn=table.schema_origin is SchemaOrigin.LEARN,
        keys=tuple(table.keys),
        excluded_operations=tuple(op for name, op in _OPERATIONS.items() if name not in table.landing_operations()),
        before_images=table.soft_delete.column is not None or table.mode is TableMode.HISTORY,
        append=table.mode is TableMode.HISTORY,
    )


def _table_options(rule: ResolvedTable) -> TableOptions:
    table = rule.settings
    return TableOptions(
        include=tuple(table.columns.include),
        exclude=tuple(table.columns.exclude),
        mask=tuple(table.columns.mask),
        hashed=tuple(table.columns.hashed),
        encrypted=tuple(table.columns.encrypted),
        casts=tuple(table.casts.items()),
        added=tuple(table.add.items()),
        mode=table.mode,
        soft_delete=table.soft_delete.column or "",
        compaction=table.compaction,
        merge_sources=rule.merge_sources,
        metadata_columns=tuple(table.metadata_columns),
        metadata_prefix=table.metadata_prefix,
        schema_template=rule.naming.schema_template,
        table_template=rule.naming.table_template,
        on_type_change=table.policies.on_type_change,
        on_key_change=table.policies.on_key_change,
        on_truncate=table.policies.on_truncate,
        on_drop=table.policies.on_drop,
        on_unavailable=table.policies.on_unavailable,
        on_missing_key=table.policies.on_missing_key,
        on_resnapshot=table.policies.on_resnapshot,
        on_cast_failure=table.policies.on_cast_failure,
        file_format=table.file_format,
        column_separator=table.delimited.column_separator.value,
        gzip=table.delimited.gzip,
    )
