"""PostgreSQL's types that the connector does not know, and arrays of them; the types that no column is tried of."""

from __future__ import annotations

from tests.rig import types_differences as differences
from tests.rig.database import Database
from tests.rig.database_server import USER
from tests.rig.types_kinds import arrays, missing, unknown, unknown_arrays
from tests.rig.types_model import Column, Deviation


def _unknown(sql: str, literal: str, text: str) -> Column:
    return Column(f"c_{sql}", sql, unknown(), ((literal, text),))


SCALARS: tuple[Column, ...] = (
    _unknown("xid", "'4294967295'", "4294967295"),
    _unknown("int4multirange", "'{[1,3),[5,7)}'", "{[1,3),[5,7)}"),
    _unknown("lquery", "'a.*'", "a.*"),
    _unknown("cube", "'(1,2)'", "(1, 2)"),
    _unknown("line", "'{1,2,3}'", "{1.0,2.0,3.0}"),
    _unknown("lseg", "'[(0,0),(1,1)]'", "[(0.0,0.0),(1.0,1.0)]"),
    _unknown("box", "'(2,2),(0,0)'", "(2.0,2.0),(0.0,0.0)"),
    _unknown("path", "'[(0,0),(1,1)]'", "[(0.0,0.0),(1.0,1.0)]"),
    _unknown("polygon", "'((0,0),(1,1),(1,0))'", "((0.0,0.0),(1.0,1.0),(1.0,0.0))"),
    _unknown("circle", "'<(0,0),1>'", "<(0.0,0.0),1.0>"),
    _unknown("tsquery", "'a & b'", "'a' & 'b'"),
    _unknown("pg_lsn", "'16/B374D848'", "16/B374D848"),
    _unknown("txid_snapshot", "'10:20:10,14,15'", "10:20:10,14,15"),
    _unknown("pg_snapshot", "'10:20:10,14,15'", "10:20:10,14,15"),
    _unknown("regclass", "'pg_class'", "pg_class"),
    _unknown("composite", "ROW(1,'x')", "(1,x)"),
)
"""Types of which keys are tried too (:mod:`tests.rig.types_keys_postgres`)."""

FURTHER: tuple[Column, ...] = (
    _unknown("xid8", "'18446744073709551615'", "18446744073709551615"),
    _unknown("cid", "'4294967295'", "4294967295"),
    _unknown("tid", "'(4294967295,65535)'", "(4294967295,65535)"),
    _unknown("aclitem", f"'=r/{USER}'", f"=r/{USER}"),
    _unknown("jsonpath", "'$.a[*] ? (@ > 1)'", '$."a"[*]?(@ > 1)'),
    _unknown("int8multirange", "'{[1,9223372036854775807)}'", "{[1,9223372036854775807)}"),
    _unknown("nummultirange", "'{(1.10,2.5],[7,7]}'", "{(1.10,2.5],[7,7]}"),
    _unknown("tsmultirange", "'{[2024-01-01,infinity)}'", '{["2024-01-01 00:00:00",infinity)}'),
    _unknown("tstzmultirange", "'{[2024-01-01 00:00:00+02,)}'", '{["2023-12-31 22:00:00+00",)}'),
    _unknown("datemultirange", "'{}'", "{}"),
    _unknown("regproc", "'pg_backend_pid'", "pg_backend_pid"),
    _unknown("regprocedure", "'lower(text)'", "lower(text)"),
    _unknown("regoper", "'||/'", "||/"),
    _unknown("regoperator", "'+(integer,integer)'", "+(integer,integer)"),
    _unknown("regcollation", "'\"C\"'", '"C"'),
    _unknown("regtype", "'int4'", "integer"),
    _unknown("regrole", f"'{USER}'", USER),
    _unknown("regnamespace", "'pg_catalog'", "pg_catalog"),
    _unknown("regconfig", "'simple'", "simple"),
    _unknown("regdictionary", "'simple'", "simple"),
    _unknown("seg", "'1.5 .. 2.50'", "1.5 .. 2.50"),
    _unknown("ltxtquery", "'a & b'", "a & b"),
    _unknown("ean13", "'978-0-393-04002-9'", "978-0-393-04002-9"),
    _unknown("isbn13", "'978-0-393-04002-9'", "978-0-393-04002-9"),
    _unknown("ismn", "'M-2306-7118-7'", "M-2306-7118-7"),
    _unknown("issn", "'1436-4522'", "1436-4522"),
    _unknown("upc", "'220356483481'", "220356483481"),
    *(
        Column(
            f"{column.name}_array",
            f"{column.sql}[]",
            unknown_arrays(),
            (
                ("'{}'", []),
                (f"ARRAY[{sql}::{column.sql}]", [text]),
                (f"ARRAY[{sql}::{column.sql}, NULL]", [text, None]),
            ),
        )
        for column in SCALARS
        for sql, text in column.values
    ),
    *(
        Column(f"c_{name}_array", f"{sql}[]", missing(), ((literal, None),))
        for name, sql, literal in (
            ("money", "money", "'{1.10,NULL}'"),
            ("interval", "interval", "'{1 day,NULL}'"),
            ("name", "name", "'{n,NULL}'"),
            ("xml", "xml", "'{<a/>,NULL}'"),
            ("point", "point", """'{"(1,2)",NULL}'"""),
            ("varbit", "bit varying", "'{101,NULL}'"),
        )
    ),
    *(
        Column(f"c_{sql}", sql, arrays(), ((literal, numbers),), (Deviation(differences.VECTOR_EMPTY, literal, []),))
        for sql, literal, numbers in (
            ("int2vector", "'1 -32768'", [1, -32768]),
            ("oidvector", "'1 4294967295'", [1, 4294967295]),
        )
    ),
)
"""More of them, which are keys like those above."""

NOT_CARRIED = {
    "gtsvector": "an index's form of tsvector: its input function refuses every value",
    "pg_brin_bloom_summary": "an index's summary: its input function refuses every value",
    "pg_brin_minmax_multi_summary": "an index's summary: its input function refuses every value",
    "pg_dependencies": "extended statistics: its input function refuses every value",
    "pg_mcv_list": "extended statistics: its input function refuses every value",
    "pg_ndistinct": "extended statistics: its input function refuses every value",
    "pg_node_tree": "a stored expression: its input function refuses every value",
    "refcursor": "a snapshot reads the cursor of that name, and ends the connector where there is none",
}
"""Types of the server that the wide table does not have, each with the reason."""

_BASE = """
SELECT format_type(t.oid, NULL) FROM pg_type t
 WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype IN ('b', 'r', 'm') AND t.typname NOT LIKE '\\_%%'
"""
_USED = """
SELECT DISTINCT format_type(a.atttypid, NULL) FROM pg_attribute a
 WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
"""


def not_carried(database: Database, table: str) -> set[str]:
    """The server's own types, arrays left out, of which the table has no column."""
    base = {str(name) for (name,) in database.execute(_BASE)}
    return base - {str(name) for (name,) in database.execute(_USED, table)}
