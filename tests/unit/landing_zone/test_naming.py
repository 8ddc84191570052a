import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.landing_zone import naming
from connectors.landing_zone.layout import table_folder, table_of_folder
from connectors.landing_zone.naming import TableNaming, by_the_rule, folder_of, landed_column_names

PLAIN = TableNaming()


@pytest.mark.parametrize(
    ("naming", "schema", "folder"),
    [
        (PLAIN, "public", "public.schema/orders"),
        (PLAIN, None, "orders"),
        (TableNaming(schema="", table="{table}"), "public", "orders"),
        (TableNaming(schema="{database}"), None, "shop.schema/orders"),
        (TableNaming(schema="", table="{database}_{table}"), "public", "shop_orders"),
        (TableNaming(schema="{database}_{schema}"), "public", "shop_public.schema/orders"),
    ],
)
def test_templates_name_the_folder(naming: TableNaming, schema: str | None, folder: str) -> None:
    assert folder_of(naming, "shop", schema, "orders") == folder


@pytest.mark.parametrize(
    ("table", "folder"),
    [
        ("Order Details", "Order Details"),
        ("größe", "größe"),
        ("gro\u0308ße", "größe"),
        ('a/b\\c:d*e?f"g<h>i|j', "a_b_c_d_e_f_g_h_i_j"),
        ("tab\tnul\x00", "tab_nul_"),
        ("v1.2", "v1_2"),
        ("..", "t__"),
        (" padded ", "t_padded_"),
        ("_hidden", "t_hidden"),
        ("CON", "CON_"),
        ("Lpt1", "Lpt1_"),
        ("console", "console"),
        ("x.schema", "x_schema"),
        ("ad\u200bmin", "ad_min"),
        ("\u00adadmin", "t_admin"),
        ("می\u200cرود", "می_رود"),
        ("a\U000e0041\ufe0f\ud800", "a___"),
        ("\ud800" * 200, "t" + "_" * 118 + "_d114bd13"),
    ],
)
def test_a_folder_name_follows_the_written_rule(table: str, folder: str) -> None:
    assert folder_of(PLAIN, "", None, table) == folder


def test_a_long_name_is_cut_and_told_from_others_by_a_digest() -> None:
    first, second = (folder_of(PLAIN, "", None, "x" * 200 + end) for end in "ab")
    assert first == "x" * 119 + "_f2e74f0a"
    assert first != second
    wide = folder_of(PLAIN, "", None, "日" * 100)
    assert len(wide.encode()) <= 240
    assert wide.startswith("日" * 77 + "_")


@given(st.text(min_size=1, max_size=300), st.text(max_size=20))
def test_any_name_becomes_a_folder_that_the_replicator_sees_and_that_leads_back(table: str, schema: str) -> None:
    table, schema = (text.encode(errors="replace").decode() for text in (table, schema))
    folder = folder_of(PLAIN, "db", schema, table)
    named_schema, dot, named_table = table_of_folder(folder).rpartition(".")
    assert table_folder(named_schema if dot else None, named_table) == folder


def test_a_folder_of_today_is_as_the_rule_would_have_it() -> None:
    for table in ("orders", "größe", "t_hidden", "CON_", "x" * 119 + "_f2e74f0a"):
        assert by_the_rule(table) == table
        assert by_the_rule(f"public.schema/{table}") == f"public.schema/{table}"
    assert by_the_rule("pub\u200blic.schema/\u200badmin") == "pub_lic.schema/t_admin"


def test_tables_may_be_given_one_name() -> None:
    naming = TableNaming("{schema}", "sales")
    assert {folder_of(naming, "shop", "public", table) for table in ("sales_1", "sales_2")} == {"public.schema/sales"}


@pytest.mark.parametrize(
    ("schema", "table", "message"),
    [
        ("{schma}", "{table}", "unknown placeholder {schma} in the naming template '{schma}'"),
        ("{schema}", "{schema}", "the table's naming template '{schema}' has to contain {table}, or text of its own"),
        ("{schema}", "{0}", "unknown placeholder {0}"),
    ],
)
def test_a_wrong_template_says_what_is_allowed(schema: str, table: str, message: str) -> None:
    with pytest.raises(ValueError, match="naming template") as caught:
        TableNaming(schema, table)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("names", "landed"),
    [
        (["id", "Customer Name", "größe", "a,b;{c}(d)=e"], ["id", "Customer Name", "größe", "a,b;{c}(d)=e"]),
        (["a\nb\tc", "x\x00y"], ["a\nb\tc", "x_y"]),
        # What lets one name look like another: "price" and, with marks of writing direction, "price" again.
        (["price", "\u202eecirp", "pri\u200ece", "a\x9bb"], ["price", "_ecirp", "pri_ce", "a_b"]),
        (["admin", "ad\u200bmin", "ad\u00admin"], ["admin", "ad_min", "ad_min__2"]),
        (["id", "ID", "Id"], ["id", "ID__2", "Id__3"]),
        (["id", "ID", "ID__2"], ["id", "ID__3", "ID__2"]),
        (["__rowMarker__", "x"], ["__rowMarker____2", "x"]),
        (["__ROWMARKER__"], ["__ROWMARKER____2"]),
        ([""], ["column"]),
        (["x" * 129], ["x" * 119 + "_0ec9eb33"]),
    ],
)
def test_columns_keep_their_names_where_they_can(names: list[str], landed: list[str]) -> None:
    assert landed_column_names(names) == tuple(landed)


def test_columns_that_are_there_keep_their_names() -> None:
    assert landed_column_names(["Name", "other"], taken=["name", "name__2"]) == ("Name__3", "other")


@pytest.mark.parametrize("name", ["abcdefghijk", "abcdefghijk" + "_" * 114, "abcdefghijk" + "_" * 120])
def test_very_many_names_that_differ_in_case_alone_take_a_few_steps_each(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut, steps = naming._cut, [0]

    def counted(cleaned: str, full: str) -> str:
        steps[0] += 1
        return cut(cleaned, full)

    monkeypatch.setattr(naming, "_cut", counted)
    letters = zip(name[:11], name[:11].upper(), strict=True)
    names = ["".join(spelling) + name[11:] for spelling in itertools.product(*letters)]
    landed = landed_column_names(names)
    assert len({name.casefold() for name in landed}) == len(names) == 2_048
    assert steps[0] < 5 * len(names)


@given(st.lists(st.text(max_size=4), unique=True, max_size=12), st.lists(st.text(max_size=3), max_size=4))
def test_landed_names_differ_whatever_their_case(names: list[str], taken: list[str]) -> None:
    landed = landed_column_names(names, taken)
    folded = [name.casefold() for name in landed]
    assert len(set(folded)) == len(names)
    assert not set(folded) & {name.casefold() for name in [*taken, "__rowMarker__"]}
