"""The sites file: what it may hold, what is said about what it may not, and how it is edited."""

from pathlib import Path

import pytest

from qindex_pipeline.errors import UsageError
from qindex_pipeline.sites import (
    Site,
    add_site,
    check_key,
    load_sites,
    new_key,
    remove_site,
    site_of,
)

COMMENTED = """\
# Our docs sites.
sites:
  # The product's manual.
  docs.example.com:
    start_url: https://docs.example.com/  # the home page
    max_pages: 50
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sites.yaml"


def loaded(file: Path, text: str) -> dict[str, Site]:
    file.write_text(text, encoding="utf-8")
    return load_sites(file)


def refusal(file: Path, text: str) -> str:
    with pytest.raises(UsageError) as refused:
        loaded(file, text)
    assert refused.value.exit_code == 2
    return str(refused.value)


def test_sites_are_read_with_their_options_in_the_files_order(file: Path) -> None:
    sites = loaded(
        file,
        "sites:\n"
        "  b: {start_url: 'https://b.example.com/docs/', path_prefixes: [/docs/, /api/]}\n"
        "  a: {start_url: 'http://127.0.0.1:8000/', max_pages: 5}\n",
    )
    assert list(sites) == ["b", "a"]
    assert sites["b"].path_prefixes == ("/docs/", "/api/")
    assert [(site.key, site.max_pages) for site in sites.values()] == [("b", 30), ("a", 5)]


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "sites:\n", "sites: {}\n"])
def test_a_file_without_sites_holds_none(text: str, file: Path) -> None:
    assert loaded(file, text) == {}


def test_a_file_that_is_not_there_holds_none(file: Path) -> None:
    assert load_sites(file) == {}


def test_a_folder_is_relative_to_the_file(file: Path, tmp_path: Path) -> None:
    site = loaded(file, "sites: {built: {folder: docs/html, base_url: 'https://x.org/p'}}")["built"]
    assert site.folder == tmp_path / "docs" / "html"
    assert site.public_url == "https://x.org/p/"
    absolute = loaded(file, f"sites: {{built: {{folder: '{tmp_path / 'out'}'}}}}")["built"]
    assert absolute.folder == tmp_path / "out"
    assert absolute.public_url == "http://built/"


def test_question_files_are_relative_to_the_file_and_stay_found_when_a_site_is_added(
    file: Path, tmp_path: Path
) -> None:
    options = "{start_url: 'http://x', eval_questions: q/a.jsonl, eval_unanswerable: q/b.jsonl}"
    site = loaded(file, f"sites: {{x: {options}}}")["x"]
    assert site.eval_questions == tmp_path / "q" / "a.jsonl"
    assert site.eval_unanswerable == tmp_path / "q" / "b.jsonl"
    add_site(file, site)
    assert load_sites(file) == {"x": site}


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("{start_url: 'http://x', max_page: 4}", "'max_page'; did you mean 'max_pages'?"),
        ("{start_url: 'http://x', colour: red}", "unknown option 'colour'"),
        ("{start_url: 'http://x', max_pages: 0}", "max_pages: "),
        ("{start_url: 'http://x', max_pages: lots}", "max_pages: "),
        ("{start_url: 'http://x', render: maybe}", "render: "),
        ("{start_url: 'http://x', path_prefixes: /docs/}", "path_prefixes: "),
        ("{start_url: 'x.org/docs'}", "'x.org/docs' is not an http(s) address"),
        ("{start_url: 'file:///docs'}", "is not an http(s) address"),
        ("{start_url: 'http://x', folder: docs}", "either start_url or folder"),
        ("{max_pages: 4}", "either start_url or folder"),
        ("{folder: null}", "folder"),
        ("{start_url: 'http://x', key: other}", "'key'"),
        ("{start_url: 'http://x', eval_floor: 0.5}", "eval_floor needs eval_questions"),
        ("{start_url: 'http://x', eval_unanswerable: f}", "eval_unanswerable needs eval_questions"),
        ("{start_url: 'http://x', eval_questions: f, eval_floor: 60}", "eval_floor: "),
        ("http://x", "needs options"),
        ("null", "needs options"),
    ],
)
def test_a_wrong_option_is_named_with_file_and_site(
    options: str, complaint: str, file: Path
) -> None:
    line = refusal(file, f"sites:\n  good: {{start_url: 'http://g'}}\n  bad: {options}\n")
    assert line.startswith(f"{file}: site 'bad'")
    assert complaint in line
    assert "\n" not in line


def test_broken_yaml_is_told_with_its_line(file: Path) -> None:
    line = refusal(file, "sites:\n  a:\n    start_url: 'http://x\n  b: [\n")
    assert line.startswith(f"{file} line ")
    assert "is not valid YAML" in line


def test_a_key_given_twice_is_told_with_its_line(file: Path) -> None:
    twice = "sites:\n  a: {start_url: 'http://x'}\n  a: {start_url: 'http://y'}\n"
    assert refusal(file, twice).startswith(f"{file} line 3 ")


def test_a_file_that_is_not_text_is_refused(file: Path) -> None:
    file.write_bytes(b"sites: {a: {start_url: '\xff'}}")
    with pytest.raises(UsageError, match="is not valid YAML"):
        load_sites(file)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- a\n", "must begin with `sites:`"),
        ("site: {}\n", "must begin with `sites:`"),
        ("sites: [a, b]\n", "must map site keys to options"),
        ("sites: here\n", "must map site keys to options"),
    ],
)
def test_a_file_of_another_shape_is_refused(text: str, complaint: str, file: Path) -> None:
    assert complaint in refusal(file, text)


@pytest.mark.parametrize(
    "key", ["a", "docs.example.com", "127.0.0.1-8000", "1", "a" * 63, "a..b", "a-"]
)
def test_a_key_names_a_partition_and_a_file(key: str) -> None:
    assert check_key(key) == key


@pytest.mark.parametrize(
    "key", ["", "A", ".a", "-a", "a_b", "a/b", "a b", "../a", "a\n", "ä", "a" * 64]
)
def test_a_key_that_names_neither_is_refused(key: str, file: Path) -> None:
    with pytest.raises(UsageError, match="is not valid"):
        check_key(key)
    with pytest.raises(UsageError, match="is not valid"):
        Site(key=key, start_url="http://x")


def test_comments_survive_when_a_site_is_added_changed_and_removed(file: Path) -> None:
    file.write_text(COMMENTED, encoding="utf-8")
    add_site(file, Site(key="new", start_url="https://new.example.com/", path_prefixes=("/d/",)))
    assert file.read_text(encoding="utf-8").startswith(COMMENTED)
    added = load_sites(file)["new"]
    assert (added.start_url, added.path_prefixes) == ("https://new.example.com/", ("/d/",))
    assert added.max_pages == 30
    add_site(file, Site(key="new", start_url="https://new.example.com/", max_pages=9))
    assert load_sites(file)["new"].max_pages == 9
    remove_site(file, "new")
    assert file.read_text(encoding="utf-8") == COMMENTED


def test_comments_survive_when_the_first_site_is_added(file: Path) -> None:
    file.write_text("# Our docs sites.\nsites:\n", encoding="utf-8")
    add_site(file, Site(key="a", start_url="http://a"))
    assert file.read_text(encoding="utf-8").startswith("# Our docs sites.\nsites:\n")
    assert list(load_sites(file)) == ["a"]


def test_a_site_can_be_added_to_a_file_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "new" / "sites.yaml"
    add_site(file, Site(key="a", start_url="http://a"))
    assert list(load_sites(file)) == ["a"]
    assert list(file.parent.iterdir()) == [file]


def test_an_added_folder_is_the_same_folder_when_it_is_read(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    add_site(file, Site(key="built", folder=Path()))
    assert load_sites(file)["built"].folder == tmp_path / "docs"


def test_removing_an_unknown_site_says_so_and_changes_nothing(file: Path) -> None:
    file.write_text(COMMENTED, encoding="utf-8")
    with pytest.raises(UsageError, match="has no site 'other'"):
        remove_site(file, "other")
    assert file.read_text(encoding="utf-8") == COMMENTED


def test_the_last_site_can_be_removed(file: Path) -> None:
    file.write_text(COMMENTED, encoding="utf-8")
    remove_site(file, "docs.example.com")
    assert load_sites(file) == {}


def taken(*urls: str) -> dict[str, Site]:
    sites: dict[str, Site] = {}
    for url in urls:
        key = new_key(url, sites)
        sites[key] = Site(key=key, start_url=url)
    return sites


@pytest.mark.parametrize(
    ("url", "before", "key"),
    [
        ("https://docs.example.com/", (), "docs.example.com"),
        ("https://Docs.Example.COM/Guide/", (), "docs.example.com"),
        ("http://127.0.0.1:8000/docs/", (), "127.0.0.1-8000"),
        ("http://user:secret@h/", (), "h"),
        ("http://h/git/docs", ("http://h/svn/",), "h-git"),
        ("http://h/Git_Docs/", ("http://h/svn/",), "h-git-docs"),
        ("http://h:8000/git/", ("http://h:8000/svn/",), "h-8000-git"),
        ("http://h:8000/git/", ("http://h/git/",), "h-8000"),
        ("http://h/svn/", ("http://h/svn/",), "h"),
        ("http://h/git/", ("http://h/svn/", "http://h/git/"), "h-git"),
    ],
)
def test_a_new_key_is_the_host_and_what_tells_it_from_others(
    url: str, before: tuple[str, ...], key: str
) -> None:
    assert new_key(url, taken(*before)) == key


@pytest.mark.parametrize("url", ["http://", "http:///docs", "http://h:99999/", "http://[h/"])
def test_an_address_without_a_usable_host_gives_no_key(url: str) -> None:
    with pytest.raises(UsageError):
        new_key(url, {})


@pytest.mark.parametrize(
    ("in_file", "given", "expected"),
    [
        (None, None, "http"),
        (None, "auto", "auto"),
        ("auto", None, "auto"),
        ("auto", "browser", "browser"),
        ("auto", "http", "http"),
    ],
)
def test_what_the_command_line_says_of_rendering_replaces_what_the_file_says(
    in_file: str | None, given: str | None, expected: str
) -> None:
    options = {} if in_file is None else {"render": in_file}
    known = {"a": Site.model_validate({"key": "a", "start_url": "http://a/", **options})}
    site = site_of("http://a/", known, key=None, max_pages=None, base_url=None, render=given)
    assert (site.key, site.render, site.max_pages) == ("a", expected, 30)
