"""Differences between a column's value and what lands of it, each with whom it comes from and why it stays.

``DEBEZIUM`` are made before the bridge, in the connector's events: nothing in an event says that its value is another
one, so nothing behind the connector can mend it. ``CONTRACT`` are the bridge's own: what a landing file can hold.
"""

from __future__ import annotations

from tests.rig.differences import Difference, Source

_PG, _MARIA, _BOTH = Source.POSTGRESQL, Source.MARIADB, Source.BOTH

ABSENT = Difference(
    "absent",
    _PG,
    "types that the connector does not know, and arrays of them: xid and the other numbers of the server, multiranges, "
    "pg_lsn, snapshots, jsonpath, tsquery, regclass and its like, box, circle and the other shapes, composites, cube, "
    "seg, lquery, ltxtquery, numbers of isn other than isbn",
    "the column is missing",
    "the connector leaves such columns out. With include.unknown.datatypes=true they arrive as bytes of their text",
)
ABSENT_ARRAYS = Difference(
    "array-absent",
    _PG,
    "arrays of money, interval, name, xml, point and bit varying",
    "the column is missing",
    "the connector leaves such columns out, with include.unknown.datatypes=true as well",
)
VECTOR_EMPTY = Difference(
    "vector-empty",
    _PG,
    "int2vector, oidvector",
    "an empty array",
    "the connector takes them for arrays, and does not read how their elements are written",
)
UNKNOWN_AS_BYTES = Difference(
    "unknown-as-bytes",
    _PG,
    "the same types with include.unknown.datatypes=true",
    "the value's text as bytes, or in base64 or hexadecimal where binary.handling.mode says so; in an array each "
    "element's text so, in base64 without a mode",
    "that is how the connector sends what it does not know",
)
STREAMED_NAME = Difference(
    "name-null",
    _PG,
    "name, events from the stream, include.unknown.datatypes=false",
    "NULL, in a key and elsewhere where it is NOT NULL an empty text; the snapshot has the value",
    "the connector takes name for unknown when it reads the log",
)
GENERATED = Difference(
    "generated-null",
    _PG,
    "generated columns, rows that changed after the snapshot",
    "NULL; the snapshot has the value",
    "PostgreSQL 15 does not send them to logical replication",
)
ELEMENTS_NULL = Difference(
    "array-null",
    _PG,
    "arrays with a NULL in them, of an enum, tsvector, ltree, isbn, and with include.unknown.datatypes=true of any "
    "type that the connector does not know; all arrays of bit",
    "NULL in place of the array",
    "the connector does not expect the element, has no converter for arrays of bit, and sends null",
)
FLATTENED_ARRAY = Difference(
    "array-dimensions",
    _PG,
    "arrays of two and more dimensions",
    "an array of NULL in place of the inner arrays; for text an array of Java's names of objects, such as "
    "`[Ljava.lang.String;@365c0ad4`",
    "the connector's schema of an array has one dimension",
)
ARRAY_TIME_MILLISECONDS = Difference(
    "array-time-milliseconds",
    _PG,
    "arrays of time",
    "times cut to milliseconds",
    "the connector reads the elements of time arrays with that precision",
)
ARRAY_TIMETZ_SECONDS = Difference(
    "array-timetz-seconds",
    _PG,
    "arrays of timetz",
    "times in UTC, cut to seconds",
    "the connector reads the elements of such arrays with that precision",
)
BIT_VARYING = Difference(
    "bit-varying-length",
    _PG,
    "bit varying",
    "zeros in front, up to the declared length or whole bytes",
    "the connector sends a number, which has no leading zeros and no length",
)
NEGATIVE_SCALE = Difference(
    "negative-scale",
    _PG,
    "numeric(p,-s)",
    "text of the right number with 2048-s zeros behind the point, or a double",
    "the connector reads the scale as an unsigned number of 11 bits",
)
NUMERIC_NULL = Difference(
    "numeric-nan-null",
    _PG,
    "numeric NaN and infinity, decimal.handling.mode=precise",
    "NULL",
    "Connect's decimal knows neither; string and double do",
)
NUMERIC_WORDS = Difference(
    "numeric-words",
    _PG,
    "numeric NaN and infinity, decimal.handling.mode=string",
    "`NAN`, `POSITIVE_INFINITY`, `NEGATIVE_INFINITY`",
    "the connector's words for them",
)
TRAILING_ZEROS = Difference(
    "trailing-zeros",
    _PG,
    "numeric without a scale, decimal.handling.mode=precise",
    "the number without zeros at its end: 123.4500 lands as 123.45",
    "the connector sends the shortest unscaled number",
)
BC_SNAPSHOT = Difference(
    "bc-snapshot",
    _PG,
    "dates before year 1 from a snapshot",
    "the same day of the year AD",
    "the connector reads them through a Java date without an era",
)
CALENDAR_GAP = Difference(
    "calendar-gap",
    _BOTH,
    "1582-10-05 to 1582-10-14 from a snapshot: PostgreSQL's date, MariaDB's datetime",
    "ten days later",
    "Java's calendar has no such days: it goes from Julian to Gregorian there",
)
TIMETZ_UTC = Difference(
    "timetz-utc",
    _PG,
    "timetz",
    "the time in UTC, without the offset; 24:00 is 00:00",
    "the connector converts to UTC",
)
MIDNIGHT_ISO = Difference(
    "iso-midnight",
    _BOTH,
    "time 24:00:00, time.precision.mode=isostring",
    "00:00:00",
    "Java's time of day ends before 24:00",
)
MILLISECONDS = Difference(
    "connect-milliseconds",
    _BOTH,
    "times and timestamps, time.precision.mode=connect",
    "cut to milliseconds",
    "Connect's own types count milliseconds",
)
NANOSECONDS_NULL = Difference(
    "nanoseconds-null",
    _PG,
    "timestamps outside 1677 to 2262, time.precision.mode=nanoseconds",
    "NULL",
    "64 bits of nanoseconds do not reach further",
)
NANOSECONDS_WRAP = Difference(
    "nanoseconds-wrap",
    _MARIA,
    "datetimes outside 1677 to 2262, time.precision.mode=nanoseconds",
    "another time: 1000-01-01 lands as 2169-02-08. Do not use this mode",
    "64 bits of nanoseconds do not reach further, and the connector lets them wrap around",
)
INTERVAL_NUMBER = Difference(
    "interval-microseconds",
    _PG,
    "interval, interval.handling.mode=numeric",
    "microseconds, with months of 30.4375 days, ending at 64 bits",
    "a number cannot hold months, days and microseconds apart; string can",
)
DOUBLES = Difference(
    "decimal-double",
    _BOTH,
    "decimals and money, decimal.handling.mode=double",
    "the nearest double: about 16 digits",
    "asked for by the mode",
)
BINARY_TEXT = Difference(
    "binary-text",
    _BOTH,
    "bytes, binary.handling.mode=base64, base64-url-safe or hex",
    "text in that encoding",
    "the event's schema says text and no more. In JSON without schema, a declared bytes(base64), bytes(base64url) or "
    "bytes(hex) makes bytes of it",
)
UNSIGNED_NEGATIVE = Difference(
    "unsigned-negative",
    _MARIA,
    "bigint unsigned from 2^63, bigint.unsigned.handling.mode=long",
    "the number minus 2^64, which is negative",
    "the event's schema says int64. precise gives a decimal; so does column.propagate.source.type=.*",
)
ZERO_DATE = Difference(
    "zero-date",
    _MARIA,
    "0000-00-00 and dates with a day or month 0",
    "NULL, or where it is NOT NULL the column's default, or 1970-01-01 without one; a timestamp from the stream: "
    "1970-01-01T00:00:00Z",
    "Java's dates have no such days",
)
YEAR_ONE = Difference(
    "two-digit-year",
    _MARIA,
    "dates of the years 0001 to 0099",
    "a year from 1970 to 2069: 0001 lands as 2001",
    "the connector takes them for years of two digits",
)
TIME_NULL = Difference(
    "time-null",
    _MARIA,
    "negative times and times behind 24:00, time.precision.mode=connect or isostring",
    "NULL",
    "a Java time of day cannot hold them",
)
FLOAT_DIGITS = Difference(
    "float-digits",
    _MARIA,
    "float, from a snapshot",
    "six digits",
    "the server prints a float with six digits, and a snapshot reads what it prints",
)
FLOAT_AS_DOUBLE = Difference(
    "float-as-double",
    _MARIA,
    "float(m,d)",
    "a double with the digits that a float has behind its sixth one",
    "the connector's type for it is a double",
)
UUID_SHIFTED = Difference(
    "uuid-shifted",
    _MARIA,
    "uuid that ends in zero bytes, from the stream",
    "its zero bytes in front",
    "the log leaves out trailing zero bytes, and the connector fills up at the wrong end",
)
BITS_REVERSED = Difference(
    "bits-reversed",
    _MARIA,
    "bit(n) with n above 8 in a key, rows of a snapshot",
    "the value's bytes in reverse order, as another row than the stream's changes find",
    "the connector converts the same bytes in place twice, for the record's key and for its value",
)
LABEL_CHARACTERS = Difference(
    "label-characters",
    _MARIA,
    "enum and set labels with characters beyond the basic plane, from the stream",
    "`?` in place of the character",
    "the connector takes labels from SHOW CREATE TABLE, in which the server writes them so",
)
LABEL_COMMA = Difference(
    "label-comma",
    _MARIA,
    "enum labels with a comma, from the stream",
    "a backslash before the comma",
    "the connector escapes commas in its list of labels and forgets to undo it",
)

OUT_OF_RANGE = Difference(
    "out-of-range",
    _BOTH,
    "infinite dates and timestamps, years before 1 and after 9999",
    "the nearest value that a landing file holds, counted in the ledger; NULL or a dead letter where "
    "format.out_of_range says so. In a key: a [dead letter](#keys)",
    "Parquet readers and Delta hold the years 1 to 9999",
)
WIDE_DECIMAL = Difference(
    "decimal-text",
    _BOTH,
    "decimals of more than 38 digits, of a scale above their precision, or without both",
    "text of all their digits",
    "Delta's decimal ends at 38 digits, and a column cannot change its type later",
)
TIME_TEXT = Difference(
    "time-text",
    _BOTH,
    "times of day",
    "text HH:MM:SS[.ffffff]",
    "Delta has no type for them",
)
NESTED_TEXT = Difference(
    "json-text",
    _BOTH,
    "arrays, hstore",
    "JSON text; decimals, dates and times in it are text in quotes",
    "open mirroring takes no nested columns",
)
BIT_TEXT = Difference(
    "bit-text",
    _BOTH,
    "bit(n) with n above 1, bit varying",
    "text of 0 and 1",
    "Delta has no bit strings",
)

DEBEZIUM: tuple[Difference, ...] = (
    ABSENT,
    ABSENT_ARRAYS,
    VECTOR_EMPTY,
    UNKNOWN_AS_BYTES,
    STREAMED_NAME,
    GENERATED,
    ELEMENTS_NULL,
    FLATTENED_ARRAY,
    ARRAY_TIME_MILLISECONDS,
    ARRAY_TIMETZ_SECONDS,
    BIT_VARYING,
    NEGATIVE_SCALE,
    NUMERIC_NULL,
    NUMERIC_WORDS,
    TRAILING_ZEROS,
    BC_SNAPSHOT,
    CALENDAR_GAP,
    TIMETZ_UTC,
    MIDNIGHT_ISO,
    MILLISECONDS,
    NANOSECONDS_NULL,
    NANOSECONDS_WRAP,
    INTERVAL_NUMBER,
    DOUBLES,
    BINARY_TEXT,
    UNSIGNED_NEGATIVE,
    ZERO_DATE,
    YEAR_ONE,
    TIME_NULL,
    FLOAT_DIGITS,
    FLOAT_AS_DOUBLE,
    UUID_SHIFTED,
    BITS_REVERSED,
    LABEL_CHARACTERS,
    LABEL_COMMA,
)
CONTRACT: tuple[Difference, ...] = (OUT_OF_RANGE, WIDE_DECIMAL, TIME_TEXT, NESTED_TEXT, BIT_TEXT)
