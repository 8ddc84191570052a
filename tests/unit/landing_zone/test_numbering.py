import pytest

from connectors.landing_zone.errors import InvalidFileNameError
from connectors.landing_zone.numbering import FIRST, LAST, SequenceNumber, file_name, parse


def test_the_first_file_has_twenty_digits_and_the_number_one() -> None:
    assert file_name(FIRST) == "00000000000000000001.parquet"


def test_numbers_follow_each_other_without_a_hole() -> None:
    assert file_name(SequenceNumber(10)) == "00000000000000000010.parquet"


@pytest.mark.parametrize("extension", ["parquet", "csv", "csv.gz", "tsv"])
@pytest.mark.parametrize("number", [1, 17, LAST])
def test_a_name_gives_its_number_back(number: int, extension: str) -> None:
    assert parse(file_name(SequenceNumber(number), extension), extension) == number


@pytest.mark.parametrize("number", [0, -1, LAST + 1])
def test_numbers_outside_of_twenty_digits_have_no_name(number: int) -> None:
    with pytest.raises(ValueError, match=f"from 1 to {LAST}, not {number}"):
        file_name(SequenceNumber(number))


@pytest.mark.parametrize("extension", ["", ".csv", "csv.", "c/v", "c v"])
def test_an_extension_is_letters_and_digits_between_dots(extension: str) -> None:
    with pytest.raises(ValueError, match="not a file extension"):
        file_name(FIRST, extension)


@pytest.mark.parametrize(
    "name",
    [
        "1.parquet",
        "00000000000000000001.csv",
        "00000000000000000001.parquet.tmp",
        "_00000000000000000001.parquet",
        "00000000000000000000.parquet",
        "0000000000000000000\u0661.parquet",
        "part-0001.parquet",
    ],
)
def test_a_foreign_name_is_reported_with_what_to_do(name: str) -> None:
    with pytest.raises(InvalidFileNameError) as caught:
        parse(name)
    assert str(caught.value) == (
        f"{name!r} is not the name of a landing file (20 digits from 1 on, then .parquet) [file={name}]. "
        "Remedy: move the file out of the table's folder; only the bridge may write there"
    )
