"""Markdown for properties: blocks of every kind, well and badly formed, and any text at all."""

from hypothesis import strategies as st

from qindex_pipeline.chunking import ChunkConfig

CONFIGS = st.builds(
    ChunkConfig,
    full_page_words=st.sampled_from([0, 30]),
    max_words=st.sampled_from([4, 12, 60]),
    overlap_chars=st.sampled_from([0, 25, 100]),
    min_words=st.sampled_from([0, 5]),
)

WORD = st.sampled_from(
    [
        "alpha",
        "e.g.",
        "`a. b`",
        "[x y](u.html)",
        "Run.",
        "why?",
        "中文。",
        "日本",
        "¶",
        "naïve",
        "אב",
        "ไทย",
    ]
)
SENTENCE = st.lists(WORD, min_size=1, max_size=9).map(" ".join)
LINES = st.lists(SENTENCE, min_size=1, max_size=5)
PARAGRAPH = LINES.map("\n".join)
HEADING = st.one_of(
    st.builds(lambda level, text: f"{'#' * level} {text}", st.integers(1, 6), SENTENCE),
    st.builds(lambda text, line: f"{text}\n{line}", SENTENCE, st.sampled_from(["===", "---"])),
)
CODE_LINES = st.lists(
    st.sampled_from(["x = 1", "", "# not a heading", "  y z", "\tz", "## not a heading"]),
    max_size=30,
)
FENCE = st.builds(
    lambda mark, info, lines: "\n".join([f"{mark}{info}", *lines, mark]),
    st.sampled_from(["```", "````", "`````", "~~~", "~~~~", "~~~~~"]),
    st.sampled_from(["", "py", " sh", 'js title="a b"']),
    CODE_LINES,
)
FENCE_IN_FENCE = FENCE.filter(lambda fence: fence[3] not in "`~").map(
    lambda fence: f"``````md\n{fence}\n``````"
)
INDENTED = CODE_LINES.map(lambda lines: "\n".join(f"    {line}" for line in ["code", *lines]))
LIST = LINES.map(
    lambda lines: "\n".join(f"- {line}\n\n  ## nested\n\n  - {line}" for line in lines)
)
NESTED = st.builds(
    lambda prefix, fence: "\n".join(prefix + line for line in fence.split("\n")),
    st.sampled_from(["> ", "    ", "> > "]),
    FENCE,
).map(lambda block: block if block.startswith(">") else f"1.  item\n\n{block}\n\n2.  next")
FENCE_IN_LISTS = FENCE.map(
    lambda fence: "- outer\n  - inner\n\n" + "\n".join(f"    {line}" for line in fence.split("\n"))
)
TABLE = LINES.map(
    lambda lines: "\n".join(["| k | v |", "|---|---|", *(f"| {i} | c |" for i in lines)])
)
QUOTE = LINES.map(lambda lines: "\n".join(f"> {line}" for line in lines))
OTHER = st.sampled_from(
    [
        "---",
        "<div>\n# html\n</div>",
        "<details>\n<summary>more</summary>\n</details>",
        "[a]: https://b.c",
        "[a]: https://b.c\n[b]: <c d> 'title'",
        "Announced:",
        "**--flag**",
    ]
)
BLOCK = st.one_of(
    HEADING,
    PARAGRAPH,
    FENCE,
    FENCE_IN_FENCE,
    INDENTED,
    LIST,
    NESTED,
    FENCE_IN_LISTS,
    TABLE,
    QUOTE,
    OTHER,
)
MARKDOWN = st.lists(BLOCK, max_size=12).map("\n\n".join)
ANY_TEXT = st.one_of(
    st.text(max_size=300),
    st.text(alphabet="#`~>|-*_[]()<>!\\ \n\t1.a\u2028\0\ud800\u202e", max_size=200),
    st.lists(BLOCK, max_size=6).map("\n".join),
    st.lists(BLOCK, max_size=6).map("\r\n".join),
)
"""Blocks that run into one another, and characters that no page should hold."""
