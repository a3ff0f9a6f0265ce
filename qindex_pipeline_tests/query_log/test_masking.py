"""What of a question is written down, and what never is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.query_log.masking import MAX_CHARACTERS, masked

HASH = "9fceb02d0ae598e95dc970b74767f19372d61af8"
KEY = "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("mail to ann.b+c@docs.example.co.uk?", "mail to [e-mail]?"),
        ("jörg@müller.de cannot log in", "[e-mail] cannot log in"),
        (f"why is {KEY} refused", "why is [secret] refused"),
        (f"what is in {HASH}", "what is in [secret]"),
        (f"Authorization: Bearer {JWT}", "Authorization: Bearer [secret]"),
        ("curl -u https://bob:hunter2@example.com/x", "curl -u https://[secret]@example.com/x"),
        ("git config http.password=hunter2 fails", "git config http.password=[secret] fails"),
        ('{"api_key": "abc"}', '{"api_key": "[secret]"}'),
        ("token: abc", "token: [secret]"),
        ("call +49 (30) 1234-5678 now", "call [number] now"),
        ("card 4111 1111 1111 1111", "card [number]"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id [secret]"),
        ("-----BEGIN RSA PRIVATE KEY----- MIIE\nabc", "[secret]"),
        ("two\n  lines\tand \x1b[31mred", "two lines and [31mred"),
    ],
)
def test_what_looks_private_is_masked(asked: str, kept: str) -> None:
    assert masked(asked) == kept


@pytest.mark.parametrize(
    "asked",
    [
        "How do I undo the last commit?",
        "What does --force-with-lease do in git 2.39.5?",
        "How do I set core.fileMode to false?",
        "error ORA-00942 in Oracle 19",
        "HTTP 404 on port 8080",
        "how to reset a password",
        "what is a token?",
        "Wie ändere ich die Schriftgröße der Überschriften?",
        "git-filter-branch versus git-fast-export and git-fast-import",
        "パスワードを忘れたらどうすればいいですか",
    ],
)
def test_what_people_ask_about_stays(asked: str) -> None:
    assert masked(asked) == asked


@given(st.text(max_size=300))
def test_masking_twice_is_masking_once(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@given(st.text(max_size=40), st.from_regex(r"[a-z]{1,9}@[a-z]{1,9}\.(com|org|de)", fullmatch=True))
def test_no_address_survives_among_other_words(around: str, address: str) -> None:
    assert address not in masked(f"{around} {address} {around}")


@given(
    st.text(max_size=40),
    st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=19, max_size=60),
    st.integers(0, 9),
)
def test_no_long_token_survives(around: str, letters: str, digit: int) -> None:
    token = f"{letters}{digit}"
    assert token not in masked(f"{around} {token} {around}")


@given(st.integers(0, 6000), st.integers(1, 4000))
def test_a_long_text_is_cut_and_no_part_of_a_secret_stands_at_the_cut(
    before: int, more: int
) -> None:
    kept = masked("a " * (before // 2) + KEY * 3 + " b" * more)
    assert len(kept) <= MAX_CHARACTERS
    assert "sk-proj" not in kept


def test_a_hostile_text_takes_no_time() -> None:
    for piece in ("a@", "1 ", "password=", "://", "-----BEGIN ", "Ab1-", "a.", "("):
        assert len(masked(piece * 100_000)) <= MAX_CHARACTERS
