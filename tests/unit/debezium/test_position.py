"""Log positions of every connector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from connectors.debezium.position import positions, source_fields
from connectors.debezium.schema import ConnectType

HIGH = 2**63


def words(connector: str, **source: Sequence[Any]) -> list[tuple[int, int]]:
    """The positions of a source that has some, whether its values are lists or Arrow's."""
    found, positioned = positions(connector, source)
    assert (positioned, found.dtype) == (True, np.uint64)
    arrays, also = positions(connector, {name: _array(connector, name, values) for name, values in source.items()})
    assert (arrays.tolist(), also) == (found.tolist(), positioned)
    return [(int(high), int(low)) for high, low in found]


def _array(connector: str, name: str, values: Sequence[Any]) -> pa.Array | Sequence[Any]:
    """The values as a part of a longer array, as Avro's are, or as they are where they are of no type of Avro's."""
    kind = pa.string() if source_fields(connector)[name] is ConnectType.STRING else pa.int64()
    try:
        return pa.array([*values[:1], *values], kind)[1:]
    except (pa.ArrowException, OverflowError):
        return values


def test_postgresql_orders_by_last_commit_then_lsn() -> None:
    # Recorded order: T1 writes at 100 and 124 and commits at 130, T2 writes at 108 and commits at 118.
    assert words("postgresql", sequence=['["90","108"]', '["118","100"]', '["118","124"]'], lsn=[108, 100, 124]) == [
        (90, 108),
        (118, 100),
        (118, 124),
    ]


def test_a_first_transaction_after_a_snapshot_stands_at_its_own_lsn() -> None:
    found = words("postgresql", sequence=['[null,"500"]', '[null,"480"]', '["520","530"]'], lsn=[500, 480, 530])
    assert found == [(500, 500), (480, 480), (520, 530)]


def test_an_incremental_snapshot_row_stands_at_the_event_that_closed_its_window() -> None:
    assert words("postgresql", sequence=['["6000","6100"]', '[null,"6100"]'], lsn=[None, None]) == [
        (6000, 6100),
        (6100, 6100),
    ]


def test_a_commit_lsn_is_preferred_to_the_sequence() -> None:
    found = words("postgresql", sequence=['["90","108"]', '["90","108"]'], lsn=[108, 108], commit_lsn=[118, None])
    assert found == [(118, 108), (90, 108)]


def test_postgresql_events_without_sequence_stand_at_their_lsn() -> None:
    assert words("postgresql", lsn=[7, 8]) == [(7, 7), (8, 8)]
    assert words("postgresql", sequence=[None, None], lsn=[7, 8]) == [(7, 7), (8, 8)]


@pytest.mark.parametrize(
    "odd", ["", "[]", '["1"]', '["1","2","3"]', '["a","b"]', "7,8", '["1", "2"', "[1,[2]]", "[[1,2]", "[1,2]]"]
)
def test_an_odd_sequence_leaves_the_others_alone(odd: str) -> None:
    good = '["90","108"]'
    assert words("postgresql", sequence=[good, odd, good], lsn=[108, 7, 109]) == [(90, 108), (7, 7), (90, 109)]
    assert words("postgresql", sequence=[odd, odd, good], lsn=[1, 2, 3]) == [(1, 1), (2, 2), (90, 3)]
    assert words("postgresql", sequence=[odd], lsn=[7]) == [(7, 7)]


def test_texts_whose_elements_only_add_up_are_not_mixed() -> None:
    assert words("postgresql", sequence=['["1"]', '["2","3","4"]'], lsn=[7, 8]) == [(7, 7), (8, 8)]


def test_an_event_without_any_number_has_no_position() -> None:
    assert words("postgresql", sequence=[None, '["1","2"]'], lsn=[None, 2]) == [(0, 0), (1, 2)]


@pytest.mark.parametrize("connector", ["mysql", "mariadb"])
def test_binlog_events_order_by_file_number_and_position(connector: str) -> None:
    files = ["mysql-bin.000003", "mysql-bin.999999", "mysql-bin.1000000", "host.domain-bin.000004"]
    assert words(connector, file=files, pos=[632, 4, 2**32, 1]) == [(3, 632), (999_999, 4), (1_000_000, 2**32), (4, 1)]


@pytest.mark.parametrize("name", [None, "", "binlog-000000.ibb", "mysql-bin", "mysql-bin.00000x"])
def test_a_file_without_number_has_no_position(name: str | None) -> None:
    assert words("mariadb", file=["mysql-bin.000003", name], pos=[632, 700]) == [(3, 632), (0, 0)]
    assert positions("mariadb", {"file": [name], "pos": [700]})[1] is False


def test_sql_server_orders_by_ten_bytes_of_commit_lsn() -> None:
    found = words("sqlserver", commit_lsn=["00000027:00000ac0:0007", None, "FFFFFFFF:ffffffff:ffff", "garbage"])
    assert found == [(0x27_0000_0AC0, 7), (0, 0), (2**64 - 1, 0xFFFF), (0, 0)]


def test_db2_orders_by_sixteen_bytes_of_commit_lsn() -> None:
    lsn = "00000000:00000001:80000000000000ff"
    assert words("db2", commit_lsn=[lsn, lsn]) == [(1, HIGH + 0xFF)] * 2
    assert words("db2", commit_lsn=[lsn, None, "garbage"]) == [(1, HIGH + 0xFF), (0, 0), (0, 0)]


def test_db2_may_have_ten_bytes_of_commit_lsn_as_its_documentation_shows() -> None:
    assert words("db2", commit_lsn=["00000027:00000ac0:0007", None]) == [(0x27_0000_0AC0, 7), (0, 0)]
    assert positions("db2", {"commit_lsn": ["garbage", None]})[1] is False


def test_a_db2_lsn_of_another_length_changes_the_position_of_no_other_event() -> None:
    short, long = "00000027:00000ac0:0007", "00000000:00000001:80000000000000ff"
    assert words("db2", commit_lsn=[short, long, "00000000:00000000:" + "0" * 16, None, short]) == [
        (0x27_0000_0AC0, 7),
        (1, HIGH + 0xFF),
        (0, 0),
        (0, 0),
        (0x27_0000_0AC0, 7),
    ]


def test_oracle_orders_by_commit_scn_and_snapshots_by_scn() -> None:
    assert words("oracle", commit_scn=["13271102", None, str(HIGH)], scn=["13234397", "13000000", None]) == [
        (13_271_102, 0),
        (13_000_000, 0),
        (HIGH, 0),
    ]


def test_informix_orders_by_commit_lsn() -> None:
    assert words("informix", commit_lsn=["34359738368", None, "-1", "x"]) == [(2**35, 0), (0, 0), (0, 0), (0, 0)]


def test_mongodb_orders_by_cluster_time() -> None:
    assert words("mongodb", ts_ms=[1_558_965_508_000, 1_558_965_508_999, 0], ord=[1, 2, None]) == [
        (1_558_965_508, 1),
        (1_558_965_508, 2),
        (0, 0),
    ]
    assert words("mongodb", ts_ms=[1000], ord=[-1]) == [(1, 0)]


def test_spanner_orders_by_commit_time_record_and_mod() -> None:
    found = words(
        "spanner", ts_us=[5_000_001, None], ts_ms=[5000, 6000], sequence=["00000003", "00000000"], mod_number=[2, 0]
    )
    assert found == [(5_000_001, 3 << 32 | 2), (6_000_000, 0)]


@pytest.mark.parametrize("connector", ["vitess", "cassandra", "yugabytedb", ""])
def test_a_source_without_order_has_no_positions(connector: str) -> None:
    found, positioned = positions(connector, {"ts_ms": [1, 2]})
    assert (found.tolist(), positioned, dict(source_fields(connector))) == ([[0, 0], [0, 0]], False, {})
    assert positions(connector, {}, 3)[0].shape == (3, 2)


KNOWN = ["postgresql", "mysql", "mariadb", "sqlserver", "db2", "oracle", "informix", "mongodb", "spanner"]


@pytest.mark.parametrize("connector", KNOWN)
def test_events_without_the_fields_are_not_positioned(connector: str) -> None:
    for source in ({}, {name: [None, None] for name in source_fields(connector)}):
        found, positioned = positions(connector, source, 2)
        assert (found.tolist(), positioned) == ([[0, 0], [0, 0]], False)


@pytest.mark.parametrize("connector", KNOWN)
def test_no_events_have_no_positions(connector: str) -> None:
    found, positioned = positions(connector, {name: [] for name in source_fields(connector)})
    assert (found.shape, positioned) == ((0, 2), True)


def test_the_fields_to_extract_are_named_with_their_types() -> None:
    assert dict(source_fields("postgresql")) == {
        "sequence": ConnectType.STRING,
        "lsn": ConnectType.INT64,
        "commit_lsn": ConnectType.INT64,
    }
    assert dict(source_fields("mysql")) == {"file": ConnectType.STRING, "pos": ConnectType.INT64}


DIGITS = st.one_of(
    st.integers(0, 2**64 + 1).map(str),
    st.from_regex(r"[0-9]{1,21}", fullmatch=True),
    st.sampled_from(["", "-1", "1e3", "٣", str(2**64), "9" * 20]),
)
PAIRS = st.one_of(
    st.tuples(DIGITS, DIGITS).map(lambda pair: f'["{pair[0]}","{pair[1]}"]'),
    st.sampled_from([None, "[null,null]", '[null,"5"]', '["5"]', "", '["1","2"]["3","4"]', '["1", "2"]']),
)


@given(st.lists(PAIRS, min_size=1, max_size=4))
@example(['["1","2"]', '["3","4"]["5","6"]', ""])
@example([f'["{2**64}","{2**64 - 1}"]'])
def test_sequences_read_together_are_those_read_one_by_one(texts: list[str | None]) -> None:
    together, _ = positions("postgresql", {"sequence": texts})
    alone = [positions("postgresql", {"sequence": [text, None]})[0][0].tolist() for text in texts]
    assert together.tolist() == alone


TEXTS = st.one_of(
    DIGITS,
    PAIRS,
    st.sampled_from(["0x10", "0X1f", "0x", "+5", " 5", "1_000", "mysql-bin.000003", "garbage"]),
    st.sampled_from(["00000027:00000ac0:0007", "00000000:00000001:80000000000000ff", "00000000:00000000:" + "0" * 16]),
)
NUMBERS = st.one_of(st.none(), st.integers(-2, 3), st.integers(2**62, 2**65))


@pytest.mark.parametrize("connector", KNOWN)
@given(drawn=st.data())
def test_the_position_of_an_event_is_that_which_it_has_alone(connector: str, drawn: st.DataObject) -> None:
    fields = source_fields(connector)
    kinds = {name: TEXTS if kind is ConnectType.STRING else NUMBERS for name, kind in fields.items()}
    events = drawn.draw(st.lists(st.fixed_dictionaries(kinds), min_size=1, max_size=4))

    together, _ = positions(connector, {name: [event[name] for event in events] for name in fields})

    alone = [positions(connector, {name: [value] for name, value in event.items()})[0][0].tolist() for event in events]
    assert together.tolist() == alone


def test_a_db2_lsn_of_either_length_is_itself_beside_the_other() -> None:
    texts = ["00000027:00000ac0:0007", "00000000:00000001:80000000000000ff"]
    together, known = positions("db2", {"commit_lsn": texts})
    alone = [positions("db2", {"commit_lsn": [text]})[0][0].tolist() for text in texts]
    assert known
    assert together.tolist() == alone
    assert all(any(words) for words in alone)


@given(st.lists(st.tuples(st.integers(10**9, 10**10 - 1), st.integers(10**9, 10**10 - 1)), min_size=1, max_size=4))
def test_sequences_of_one_length_are_their_numbers(pairs: list[tuple[int, int]]) -> None:
    assert words("postgresql", sequence=[f'["{first}","{second}"]' for first, second in pairs]) == pairs
