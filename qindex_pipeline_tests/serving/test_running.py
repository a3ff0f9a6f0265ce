"""The servers as processes: what they announce, how they end, and addresses they may listen on."""

import signal
import socket
import subprocess
import sys

import httpx2
import pytest

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.serving.guard import is_loopback
from qindex_pipeline.serving.listening import listen, url_of
from qindex_pipeline.serving.running import serve_page
from qindex_pipeline_tests.command import qindex
from qindex_pipeline_tests.serving.lantern import WICK, Lantern


def test_serve_announces_its_address_and_a_signal_ends_it_in_order(published: Lantern) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "qindex_pipeline", "serve", "--port", "0"],
        env=published.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert process.stdout is not None
            line = process.stderr.readline()
            assert line.startswith("Asking lantern (docs, fog) on http://127.0.0.1:"), line
            url = line.split()[-3]
            asked = httpx2.get(f"{url}ask", params={"question": WICK.question})
            assert asked.json()["answer"] == f"{WICK.text} [1]"
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
            assert (process.stdout.read(), process.stderr.read()) == ("", "")
        finally:
            process.kill()


def test_a_port_that_is_taken_is_one_line_and_exit_code_1(published: Lantern, tmp_path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        ran = qindex(tmp_path, "serve", "--port", port, **published.variables)
    assert ran.returncode == 1
    assert ran.stderr == (
        f"qindex: cannot listen on 127.0.0.1, port {port} (it is taken): give another --port or "
        "--host\n"
    )


def test_a_site_that_the_index_does_not_have_is_a_wrong_call(published: Lantern) -> None:
    with pytest.raises(UsageError, match="the index has no site 'other'"):
        serve_page(published.settings, "127.0.0.1", 0, "other")


def test_an_address_that_is_not_this_machine_s_is_refused() -> None:
    with pytest.raises(WorkError, match=r"cannot listen on 192\.0\.2\.1, port 8765"):
        listen("192.0.2.1", 8765)


def test_an_address_is_shown_as_a_browser_takes_it() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert url_of(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}/"
    if socket.has_ipv6:
        with listen("::1", 0) as listening:
            assert url_of(listening) == f"http://[::1]:{listening.getsockname()[1]}/"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.1.2", False),
        ("ask.example.com", False),
    ],
)
def test_only_an_address_of_this_machine_alone_is_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
