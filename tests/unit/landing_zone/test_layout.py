import json

import pytest

from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.layout import (
    cleanup_folders,
    data_path,
    metadata_path,
    possible_paths,
    table_folder,
    table_of_folder,
)
from connectors.landing_zone.numbering import SequenceNumber
from connectors.landing_zone.partner import partner_events


@pytest.mark.parametrize(
    ("schema", "table", "folder", "name"),
    [("public", "orders", "public.schema/orders", "public.orders"), (None, "orders", "orders", "orders")],
)
def test_folder_and_name_of_a_table_lead_to_each_other(schema: str | None, table: str, folder: str, name: str) -> None:
    assert table_folder(schema, table) == folder
    assert table_of_folder(folder) == name


@pytest.mark.parametrize(
    "folder", ["", "_scratchPad", "a.b", "public/orders", "public.schema/_x", ".schema/x", "a/b.schema/c", "x.schema/"]
)
def test_a_folder_that_no_table_has_is_reported(folder: str) -> None:
    with pytest.raises(InvalidZoneError) as caught:
        table_of_folder(folder)
    assert caught.value.message == f"{folder!r} is not the folder of a table that the bridge has made"
    assert "begins with an underscore" in caught.value.remedy


def test_paths_within_a_table_folder() -> None:
    folder, number = "public.schema/orders", SequenceNumber(17)
    assert metadata_path(folder) == "public.schema/orders/_metadata.json"
    assert data_path(folder, number) == "public.schema/orders/00000000000000000017.parquet"
    assert cleanup_folders(folder) == (
        "public.schema/orders/_ProcessedFiles",
        "public.schema/orders/_FilesReadyToDelete",
    )
    assert possible_paths("orders", number, "csv") == (
        "orders/00000000000000000017.csv",
        "orders/_ProcessedFiles/00000000000000000017.csv",
        "orders/_FilesReadyToDelete/00000000000000000017.csv",
    )


def test_partner_events_name_the_source_in_the_order_of_the_contract() -> None:
    body = partner_events("PostgreSQL", source_version="17", additional={"b": "2", "a": "1"})
    assert json.loads(body) == {
        "partnerName": "cdc-bridge",
        "sourceInfo": {
            "sourceType": "PostgreSQL",
            "sourceVersion": "17",
            "additionalInformation": {"a": "1", "b": "2"},
        },
    }
    assert body == partner_events("PostgreSQL", source_version="17", additional={"a": "1", "b": "2"})
    assert json.loads(partner_events("Db2", partner="contoso")) == {
        "partnerName": "contoso",
        "sourceInfo": {"sourceType": "Db2", "sourceVersion": "", "additionalInformation": {}},
    }
