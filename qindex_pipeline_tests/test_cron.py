"""Cron expressions: read as Dagster reads them, told apart from mistakes, moved without harm."""

from datetime import UTC, datetime, timedelta

import pytest
from dagster._utils.schedules import is_valid_cron_string, reverse_cron_string_iterator
from hypothesis import given, settings
from hypothesis import strategies as st

from qindex_pipeline.cron import Cron, cron_expression, staggered

MISTAKES = {
    "": "it has five fields",
    "0 2 * *": "it has five fields",
    "0 2 * * * *": "it has five fields",
    "60 2 * * *": "'60' is no minute of a cron expression (0 to 59)",
    "0 24 * * *": "'24' is no hour",
    "0 2 0 * *": "'0' is no day",
    "0 2 * 13 *": "'13' is no month",
    "0 2 * * 8": "'8' is no weekday",
    "0 2 * * monday": "'monday' is no weekday",
    "nightly 2 * * *": "'nightly' is no minute",
    "*/0 2 * * *": "'*/0' is no minute",
    "*/90 2 * * *": "'*/90' is no minute",
    "5-1 2 * * *": "'5-1' is no minute",
    "5-5 2 * * *": "'5-5' is no minute",
    "1-2-3 2 * * *": "'1-2-3' is no minute",
    "1,,3 2 * * *": "'' is no minute",
    "0 2 30 2 *": "a day that no month has",
}

LAST = [
    ("0 2 * * *", "2024-05-15 01:59", "2024-05-14 02:00"),
    ("0 2 * * *", "2024-05-15 02:00", "2024-05-15 02:00"),
    ("30 4 * * mon-fri", "2024-05-13 00:00", "2024-05-10 04:30"),
    ("0 0 29 2 *", "2027-06-01 00:00", "2024-02-29 00:00"),
    ("0 12 * * 7", "2024-05-15 09:00", "2024-05-12 12:00"),
    ("0 0 13 * fri", "2024-09-12 00:00", "2024-09-06 00:00"),
    ("@monthly", "2024-05-15 09:00", "2024-05-01 00:00"),
]

LATER = [
    ("0 2 * * *", 25, "25 2 * * *"),
    ("50 2 * * *", 25, "15 3 * * *"),
    ("30 23 * * 1-5", 45, "59 23 * * 1-5"),
    ("15 * * * *", 20, "35 * * * *"),
    ("15 */6 * * *", 50, "59 */6 * * *"),
    ("*/10 2 * * *", 25, "*/10 2 * * *"),
    ("@daily", 25, "@daily"),
    ("0 2 * * *", 0, "0 2 * * *"),
]


def field(low: int, high: int) -> st.SearchStrategy[str]:
    numbers = st.integers(low, high)
    ranges = st.tuples(st.integers(low, high - 1), numbers).map(
        lambda ends: f"{ends[0]}-{max(ends[0] + 1, ends[1])}"
    )
    steps = st.integers(1, high).map(lambda step: f"*/{step}")
    parts = st.lists(numbers.map(str) | ranges | steps, min_size=1, max_size=3).map(",".join)
    return st.just("*") | parts


MOMENTS = st.timedeltas(timedelta(), timedelta(days=3000)).map(
    lambda passed: datetime(2024, 1, 1, tzinfo=UTC) + passed
)
CRONS = st.tuples(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)).map(" ".join)


@settings(deadline=None)
@given(cron=CRONS, moment=MOMENTS)
def test_an_expression_names_the_minutes_at_which_dagster_ticks(
    cron: str, moment: datetime
) -> None:
    assert is_valid_cron_string(cron)
    tick = next(reverse_cron_string_iterator(moment.timestamp(), cron, "UTC"))
    assert Cron.parse(cron).last(moment) == tick
    assert Cron.parse(cron).matches(tick)


@pytest.mark.parametrize(("text", "problem"), MISTAKES.items())
def test_a_mistake_is_named_by_its_field(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"cron|day") as raised:
        cron_expression(text)
    assert problem in str(raised.value)


@pytest.mark.parametrize(("text", "moment", "expected"), LAST)
def test_the_last_time_of_an_expression(text: str, moment: str, expected: str) -> None:
    found = Cron.parse(text).last(datetime.fromisoformat(moment + "+00:00"))
    assert found == datetime.fromisoformat(expected + "+00:00")


def test_a_moment_elsewhere_is_taken_for_its_minute_in_utc() -> None:
    moment = datetime.fromisoformat("2024-05-15T04:00:59+02:00")
    assert Cron.parse("0 2 * * *").matches(moment)
    assert not Cron.parse("0 2 * * *").matches(moment + timedelta(minutes=1))


@pytest.mark.parametrize(("text", "minutes", "expected"), LATER)
def test_a_time_is_moved_within_its_day_or_its_hour(text: str, minutes: int, expected: str) -> None:
    assert staggered(text, minutes) == expected
    cron_expression(staggered(text, minutes))
