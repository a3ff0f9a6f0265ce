import asyncio
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from qindex_pipeline.crawl.fetch.pace import Pace, retry_after
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.sockets import WoundClock

PUBLIC = "https://docs.example.com/a"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def paced(clock: WoundClock, start: str = PUBLIC, chance: float = 0.0, **options: object) -> Pace:
    site = Site.model_validate({"key": "s", "start_url": start} | options)
    return Pace(site, clock=clock, sleep=clock.sleep, chance=lambda: chance)


async def times_of_turns(pace: Pace, clock: WoundClock, url: str, count: int) -> list[float]:
    begun = clock.now
    times: list[float] = []

    async def ask() -> None:
        async with pace.turn(url):
            times.append(round(clock.now - begun, 6))

    await asyncio.gather(*(ask() for _ in range(count)))
    return times


def fetched(outcome: Outcome, status: int | None = None, url: str = PUBLIC) -> FetchOutcome:
    return FetchOutcome(outcome, url, NOW, status=status, error=str(outcome))


@pytest.mark.parametrize(
    ("start", "options", "expected"),
    [
        (PUBLIC, {}, [0, 0.5, 1.0]),
        (PUBLIC, {"min_interval": 2}, [0, 2, 4]),
        (PUBLIC, {"min_interval": 0}, [0, 0, 0]),
        ("http://127.0.0.2:8000/", {}, [0, 0, 0]),
        ("http://localhost/", {}, [0, 0, 0]),
        ("http://[::1]:80/", {}, [0, 0, 0]),
        ("http://10.0.0.1/", {}, [0, 0.5, 1.0]),
        ("http://127.0.0.1/", {"min_interval": 3}, [0, 3, 6]),
    ],
)
def test_requests_to_a_host_keep_their_distance(
    start: str, options: dict[str, object], expected: list[float]
) -> None:
    clock = WoundClock()
    pace = paced(clock, start, **options)
    assert asyncio.run(times_of_turns(pace, clock, start, 3)) == expected


def test_a_folder_is_read_without_waiting(tmp_path: object) -> None:
    clock = WoundClock()
    site = Site.model_validate({"key": "s", "folder": tmp_path, "base_url": PUBLIC})
    pace = Pace(site, clock=clock, sleep=clock.sleep)
    assert asyncio.run(times_of_turns(pace, clock, PUBLIC, 3)) == [0, 0, 0]


def test_jitter_adds_a_fifth_to_the_interval_at_most() -> None:
    clock = WoundClock()
    assert asyncio.run(times_of_turns(paced(clock, chance=1), clock, PUBLIC, 3)) == [0, 0.6, 1.2]


def test_a_burst_of_requests_leaves_one_by_one_however_many_are_in_flight() -> None:
    clock = WoundClock()
    pace = paced(clock, concurrency=16)
    times = asyncio.run(times_of_turns(pace, clock, PUBLIC, 16))
    assert all(later - earlier >= 0.5 for earlier, later in pairwise(times))


def test_no_more_requests_are_in_flight_than_a_host_may_have() -> None:
    pace, most, running = paced(WoundClock(), "http://127.0.0.1/", concurrency=3), 0, 0

    async def ask() -> None:
        nonlocal most, running
        async with pace.turn("http://127.0.0.1/"):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

    async def main() -> None:
        await asyncio.gather(*(ask() for _ in range(12)))

    asyncio.run(main())
    assert most == 3


def test_hosts_do_not_wait_for_each_other() -> None:
    clock = WoundClock()
    pace = paced(clock)
    other = "https://docs.example.com:8443/a"

    async def main() -> None:
        await times_of_turns(pace, clock, PUBLIC, 1)
        assert await times_of_turns(pace, clock, other, 1) == [0]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("start", "delay", "interval"),
    [(PUBLIC, 0.1, 0.5), (PUBLIC, 3, 3), (PUBLIC, 600, 10), ("http://127.0.0.1:9/", 1, 1)],
)
def test_a_crawl_delay_slows_down_within_bounds(start: str, delay: float, interval: float) -> None:
    clock = WoundClock()
    pace = paced(clock, start)
    pace.slow_down(start.split("/")[2], delay)
    assert asyncio.run(times_of_turns(pace, clock, start, 2)) == [0, interval]


@pytest.mark.parametrize(("asked", "granted"), [(7, 7), (3600, 120), (0, 0)])
def test_a_pause_holds_the_whole_host_for_two_minutes_at_most(asked: float, granted: float) -> None:
    clock = WoundClock()
    pace = paced(clock, "http://127.0.0.1/")
    pace.pause("http://127.0.0.1/x", asked)
    times = asyncio.run(times_of_turns(pace, clock, "http://127.0.0.1/y", 2))
    assert times == [granted, granted]


def test_a_pause_that_begins_while_others_wait_holds_them_too() -> None:
    clock = WoundClock()

    async def asked_to_pause_meanwhile(seconds: float) -> None:
        if not clock.slept:
            pace.pause(PUBLIC, 50)
        await clock.sleep(seconds)

    site = Site(key="s", start_url=PUBLIC)
    pace = Pace(site, clock=clock, sleep=asked_to_pause_meanwhile, chance=lambda: 0)
    assert asyncio.run(times_of_turns(pace, clock, PUBLIC, 3)) == [0, 50, 50.5]


def test_waits_between_retries_double_and_are_short_where_the_host_is_our_own() -> None:
    for start, share in ((PUBLIC, 1), ("http://127.0.0.1/", 1 / 50)):
        clock = WoundClock()
        pace = paced(clock, start, chance=0.5)
        for attempt in (0, 1, 2, 9):
            asyncio.run(pace.back_off(start, attempt))
        assert clock.slept == pytest.approx([1.1 * share * n for n in (1, 2, 4, 60)])


FAILURES = (
    *((kind, None) for kind in ("connect_error", "dns_error", "connect_timeout", "read_timeout")),
    *((kind, None) for kind in ("total_timeout", "reset")),
    ("http_5xx", 503),
    ("http_429", 429),
)


@pytest.mark.parametrize(("kind", "status"), FAILURES)
def test_five_failures_in_a_row_give_a_host_up(kind: str, status: int | None) -> None:
    pace = paced(WoundClock())
    for _ in range(4):
        pace.record(fetched(Outcome(kind), status))
    assert pace.unavailable is None
    last = fetched(Outcome(kind), status)
    pace.record(last)
    assert pace.unavailable is last
    pace.record(fetched(Outcome.OK, 200))
    assert pace.unavailable is last


@pytest.mark.parametrize("kind", ["ok", "not_modified", "http_404", "http_403", "truncated"])
def test_an_answer_between_failures_keeps_a_host(kind: str) -> None:
    pace = paced(WoundClock())
    for _ in range(3):
        for _ in range(4):
            pace.record(fetched(Outcome.HTTP_5XX, 500))
        pace.record(fetched(Outcome(kind), 200))
    assert pace.unavailable is None


@pytest.mark.parametrize("kind", ["tls_error", "private_address", "site_unavailable"])
def test_what_is_neither_answer_nor_failure_counts_as_nothing(kind: str) -> None:
    pace = paced(WoundClock())
    for _ in range(5):
        pace.record(fetched(Outcome(kind)))
        assert pace.unavailable is None
        pace.record(fetched(Outcome.RESET))
    assert pace.unavailable is not None


def test_another_host_of_the_site_is_given_up_alone() -> None:
    pace = paced(WoundClock(), "https://Docs.Example.com:443")
    other = "https://api.example.com/x"
    for _ in range(5):
        pace.record(fetched(Outcome.RESET, url=other))
    assert pace.unavailable is None
    assert pace.failure_of(other) is not None
    for _ in range(5):
        pace.record(fetched(Outcome.RESET))
    assert pace.unavailable is not None


def test_nobody_waits_for_a_host_that_was_given_up() -> None:
    clock = WoundClock()
    pace = paced(clock)
    pace.pause(PUBLIC, 100)
    for _ in range(5):
        pace.record(fetched(Outcome.HTTP_429, 429))
    assert asyncio.run(times_of_turns(pace, clock, PUBLIC, 3)) == [0, 0, 0]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("1.5", None),
        ("-3", None),
        ("0", 0),
        (" 30 ", 30),
        ("9" * 5000, float("inf")),
        ("Thu, 01 Jan 2026 12:01:30 GMT", 90),
        ("Thu, 01 Jan 2026 12:01:30 -0000", 90),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0),
        ("Thu, 99 Jan 2026 11:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(
    header: str | None, seconds: float | None
) -> None:
    assert retry_after(header, NOW) == seconds
