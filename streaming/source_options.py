"""From the settings to the addresses of the source database and of Kafka Connect."""

from __future__ import annotations

from connectors.source_database.kafka_connect import ConnectLocation
from connectors.source_database.location import DatabaseLocation, location_of_url
from streaming.settings import BridgeSettings


def database_location(settings: BridgeSettings) -> DatabaseLocation | None:
    """The source database; None where the settings name none.

    Raises:
        SettingsError: the password's file cannot be read.
        DatabaseUrlError: the URL holds what cannot be used.
    """
    database = settings.source.database
    if database is None:
        return None
    ca_file = None if database.ca_file is None else str(database.ca_file)
    return location_of_url(database.url, password=database.password_text(), ca_file=ca_file)


def connect_location(settings: BridgeSettings) -> ConnectLocation | None:
    """Kafka Connect and the connector there; None where the settings name none.

    Raises:
        SettingsError: the password's file cannot be read.
    """
    connect = settings.source.connect
    if connect is None:
        return None
    return ConnectLocation(
        url=connect.url,
        connector=connect.connector,
        username=connect.username,
        password=connect.password_text(),
        ca_file=None if connect.ca_file is None else str(connect.ca_file),
    )
