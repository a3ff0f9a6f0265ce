"""Cron expressions, in UTC: which minutes they name.

Dagster ticks by its own reading of the same five fields; here they are read to find a mistake
when the sites file is loaded, to tell which sites are due at a tick, and when one last was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Self

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_WEEKDAYS = "sun mon tue wed thu fri sat".split()
_NAMED: Mapping[str, str] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}

DAYS_BACK = 8 * 366
"""29 February, the rarest day that an expression can name, is at most eight years ago."""


@dataclass(frozen=True)
class Cron:
    """The minutes, hours, days, months and weekdays (0 = Sunday) of an expression."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `minute hour day month weekday`, or a name such as `@daily`.

        Raises ValueError saying which field is wrong.
        """
        fields = _NAMED.get(text.strip().lower(), text).lower().split()
        if len(fields) != 5:
            raise ValueError(f"{text!r} is no cron expression: it has five fields, like 0 2 * * *")
        minute, hour, day, month, weekday = fields
        days = _numbers("day", day, 1, 31)
        weekdays = frozenset(n % 7 for n in _numbers("weekday", weekday, 0, 7, _WEEKDAYS))
        return cls(
            minutes=_numbers("minute", minute, 0, 59),
            hours=_numbers("hour", hour, 0, 23),
            days=days,
            months=_numbers("month", month, 1, 12, _MONTHS),
            weekdays=weekdays,
            # Dagster's reading of a field that names every day in another way than `*`.
            any_day=day == "*" or (len(days) == 31 and "*" in weekday),
            any_weekday=weekday == "*" or (len(weekdays) == 7 and "*" in day),
        )

    def matches(self, moment: datetime) -> bool:
        """Whether the expression names the minute of `moment`."""
        utc = moment.astimezone(UTC)
        return utc.minute in self.minutes and utc.hour in self.hours and self._names_day(utc)

    def last(self, moment: datetime) -> datetime | None:
        """The latest minute up to `moment` that the expression names; None when it names none."""
        utc = moment.astimezone(UTC).replace(second=0, microsecond=0)
        for back in range(DAYS_BACK):
            day = utc - timedelta(days=back)
            if not self._names_day(day):
                continue
            times = [(hour, minute) for hour in self.hours for minute in self.minutes]
            if back == 0:
                times = [time for time in times if time <= (utc.hour, utc.minute)]
            if times:
                hour, minute = max(times)
                return day.replace(hour=hour, minute=minute)
        return None

    def _names_day(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        by_day, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return by_day and by_weekday
        return by_day or by_weekday  # cron's own rule: with both given, either is enough


def cron_expression(text: str) -> str:
    """Return `text` when it can be read and names a minute that exists, else raise ValueError."""
    if Cron.parse(text).last(datetime(2028, 12, 31, 23, 59, tzinfo=UTC)) is None:
        raise ValueError(f"{text!r} names a day that no month has")
    return text


def staggered(text: str, minutes: int) -> str:
    """The expression `minutes` later, as far as its hour and day allow.

    A daily time moves within its day and an hourly one within its hour, so that the fields that
    name days keep their meaning. An expression of several minutes or with a name stays as it is.
    """
    fields = text.split()
    if len(fields) != 5 or not fields[0].isdecimal():
        return text
    minute, hour = int(fields[0]), fields[1]
    if not hour.isdecimal():
        return " ".join([str(min(59, minute + minutes)), *fields[1:]])
    later = min(24 * 60 - 1, int(hour) * 60 + minute + minutes)
    return " ".join([str(later % 60), str(later // 60), *fields[2:]])


def _numbers(
    field: str, text: str, low: int, high: int, names: Sequence[str] | None = None
) -> frozenset[int]:
    """The numbers that one field names: `*`, `5`, `1-5`, `*/15`, `mon-fri`, and lists of them."""
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        if slash and not (step.isdecimal() and 0 < int(step) <= high):
            raise ValueError(f"{part!r} is no {field} of a cron expression")
        ends = [str(low), str(high)] if span == "*" else span.split("-")
        if slash and len(ends) == 1:
            ends.append(str(high))
        values = [_number(field, part, end, names) for end in ends]
        is_range = len(values) <= 2 and all(first < last for first, last in pairwise(values))
        if not is_range or not all(low <= value <= high for value in values):
            raise ValueError(f"{part!r} is no {field} of a cron expression ({low} to {high})")
        found |= set(range(values[0], values[-1] + 1, int(step or 1)))
    return frozenset(found)


def _number(field: str, part: str, text: str, names: Sequence[str] | None) -> int:
    if names and text in names:
        return names.index(text) + (1 if field == "month" else 0)
    if not text.isdecimal():
        raise ValueError(f"{part!r} is no {field} of a cron expression")
    return int(text)
