"""The list of what has gone wrong in crawls of documentation sites, and the tests that cover it.

`OBSERVED` are failures that were seen when real sites were crawled with a stock crawl4ai; their
keys are letters. `REPORTED` are reports about crawl4ai; their keys are the numbers under which we
keep them. Every entry names tests by file and function; where a report cannot touch us, the test
is about the fact that rules it out.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FailureMode:
    """What goes wrong in general, and the tests (`file::function`) that show that it does not.

    `ruled_out` says why a report cannot touch us, where that is so.
    """

    what: str
    tests: tuple[str, ...]
    ruled_out: str = ""


_CONTENT = "crawl/test_failure_modes_content.py::test_"
_MARKUP = "crawl/test_failure_modes_markup.py::test_"
_ROBOTS = "crawl/test_failure_modes_robots.py::test_"
_NETWORK = "crawl/test_failure_modes_network.py::test_"
_SCOPE = "crawl/test_failure_modes_scope.py::test_"
_ENGINE = "crawl/test_failure_modes_engine.py::test_"
_SITE = "crawl/test_hostile_site.py::test_"
_BROWSER = "gated/test_browser_crawl.py::test_"
_LAUNCH = "crawl/test_browser.py::test_"
_PACE = "crawl/test_pace.py::test_"

_XML = f"{_CONTENT}a_page_with_an_xml_declaration_is_read_and_leads_on"
_BLANKS = f"{_MARKUP}the_blanks_of_highlighted_code_survive_whatever_is_chosen"
_GENERATORS = f"{_MARKUP}code_of_the_common_generators_is_verbatim_with_its_language"
_APART = f"{_MARKUP}paragraphs_admonitions_and_code_stand_apart"
_WORDS = f"{_CONTENT}words_in_links_and_emphasis_stay_in_their_sentence"
_ANY_CHOICE = f"{_CONTENT}the_content_of_a_page_is_there_whatever_was_chosen"
_LIMIT = f"{_NETWORK}failures_links_back_and_duplicates_cost_no_place_under_the_limit"
_EXACTLY = f"{_SITE}exactly_as_many_pages_are_stored_as_are_wanted"
_HANG = f"{_NETWORK}pages_that_hang_cost_only_themselves"
_ONCE = f"{_SCOPE}a_page_is_stored_once_under_all_its_addresses"
_LINKS = f"{_SCOPE}links_are_resolved_where_the_page_really_lies"
_NO_WAY_OUT = f"{_SCOPE}no_page_leads_to_another_host_or_port"
_MEMORY = f"{_ENGINE}memory_grows_by_the_pages_that_are_kept_and_no_more"
_NO_FILES = f"{_ENGINE}crawls_side_by_side_share_no_file_and_leave_none"
_IN_BROWSER = (
    "gated/test_browser_failure_modes.py::"
    "test_a_crawl_in_the_browser_judges_answers_as_one_over_http"
)

OBSERVED: Mapping[str, FailureMode] = {
    "A": FailureMode(
        "An XML declaration makes the parser refuse the page, and its complaint is kept as text.",
        (
            _XML,
            f"{_SITE}no_error_text_is_documentation",
            "crawl/test_engine.py::test_an_exception_while_reading_is_one_line_and_never_content",
        ),
    ),
    "B": FailureMode(
        "Pruning a page drops elements that hold only blanks, so that words of code run together.",
        (_BLANKS, f"{_MARKUP}a_nav_heavy_page_whose_code_would_be_lost_stays_whole"),
    ),
    "C": FailureMode(
        "Code blocks lose language, lines or fences; lists and tables around them fall apart.",
        (
            _GENERATORS,
            f"{_MARKUP}a_block_of_code_in_a_list_item_belongs_to_the_item",
            f"{_MARKUP}pipes_and_lists_in_a_cell_leave_the_table_a_table",
            "crawl/test_code_blocks.py::test_code_is_kept_to_the_character_with_its_language",
        ),
    ),
    "D": FailureMode(
        "Blocks follow each other without a blank line, so that nobody can tell paragraphs apart.",
        (_APART,),
    ),
    "E": FailureMode(
        "Permalink signs and edit links become part of the headings.",
        (f"{_MARKUP}marks_beside_a_heading_are_no_part_of_it",),
    ),
    "F": FailureMode(
        "Signatures of functions get blanks and lose their description.",
        (f"{_CONTENT}a_signature_reads_as_it_is_typed_and_its_description_follows",),
    ),
    "G": FailureMode(
        "The page limit is missed by one, failures count or links are lost, the start comes twice.",
        (
            _LIMIT,
            _EXACTLY,
            "crawl/test_crawl.py::test_the_start_page_is_asked_once_and_robots_once",
        ),
    ),
    "H": FailureMode(
        "The status of an answer is lost or is a redirect's, and error pages count as pages.",
        (
            f"{_NETWORK}an_error_page_is_recorded_with_its_status_and_never_stored",
            f"{_NETWORK}the_status_is_the_last_one_and_the_redirects_before_it_are_kept",
            f"{_SITE}errors_are_one_short_line",
            _IN_BROWSER,
        ),
    ),
    "I": FailureMode(
        "A busy server is neither left alone nor asked again, and requests come in bursts.",
        (
            f"{_NETWORK}a_page_that_fails_twice_is_asked_a_third_time",
            f"{_NETWORK}a_host_that_asks_for_time_gets_it_before_its_next_page",
            f"{_NETWORK}no_more_requests_are_in_flight_than_the_site_allows",
            f"{_PACE}a_burst_of_requests_leaves_one_by_one_however_many_are_in_flight",
        ),
    ),
    "J": FailureMode(
        "Other ports, sibling hosts and redirect targets pass for the site; bare names do not.",
        (
            _NO_WAY_OUT,
            f"{_SITE}the_other_host_sees_no_connection",
            f"{_SITE}every_stored_page_is_one_of_this_host",
            f"{_SCOPE}a_bare_host_name_is_a_site_in_any_case",
        ),
    ),
    "K": FailureMode(
        "Short pages, forwarding pages and text files are taken for a bot's block page.",
        (
            f"{_CONTENT}a_page_of_a_few_bytes_is_documentation",
            f"{_CONTENT}a_page_about_robots_checks_and_errors_is_documentation",
            f"{_NETWORK}a_start_page_that_only_leads_on_is_no_failure",
            f"{_NETWORK}text_files_are_pages_where_the_site_says_so",
        ),
    ),
    "L": FailureMode(
        "Files are downloaded whole into the home folder and count as pages; no size is too large.",
        (
            f"{_NETWORK}no_more_of_a_body_is_taken_than_can_be_used",
            f"{_NETWORK}a_file_is_no_page_whatever_its_name_and_type_say",
            f"{_SITE}endless_bodies_are_left_as_soon_as_that_is_clear",
            _NO_FILES,
        ),
    ),
    "M": FailureMode(
        "robots.txt is asked for with every page, misread, or taken for open when it fails.",
        (
            f"{_ROBOTS}robots_txt_is_asked_once_whatever_it_answers",
            f"{_ROBOTS}the_longest_rule_for_our_own_name_decides",
            f"{_ROBOTS}a_robots_txt_that_fails_closes_the_site_for_this_night",
            f"{_ROBOTS}the_delay_that_robots_txt_asks_for_is_kept",
            f"{_ROBOTS}what_a_page_asks_of_robots_is_done",
            f"{_ROBOTS}a_link_marked_nofollow_is_followed_only_where_the_site_says_so",
        ),
    ),
    "N": FailureMode(
        "Spellings of an address, and addresses with the same text, become pages of their own.",
        (_ONCE, f"{_SITE}no_page_is_stored_twice"),
    ),
    "O": FailureMode(
        "An application that answers every path hides the sitemap; entries lead to other hosts.",
        (
            f"{_SCOPE}an_application_at_the_sitemaps_address_hides_no_real_one",
            f"{_SCOPE}no_file_of_a_site_leads_to_another_host",
        ),
    ),
    "P": FailureMode(
        "A page that never ends holds up the crawl, above all in the browser.",
        (_HANG, f"{_BROWSER}a_page_that_hangs_costs_only_itself"),
    ),
    "Q": FailureMode(
        "The encoding that a page names itself is ignored.",
        (
            f"{_CONTENT}a_page_reads_right_in_any_encoding",
            f"{_SITE}texts_in_other_encodings_read_right",
        ),
    ),
    "R": FailureMode(
        "Titles and first headings are the site's name, first paragraphs its navigation.",
        (f"{_CONTENT}labels_are_the_pages_own_and_the_summary_is_no_navigation",),
    ),
    "S": FailureMode(
        "The browser asks for icons again and again, under the name of another browser.",
        (_IN_BROWSER, f"{_BROWSER}a_page_that_only_javascript_fills_is_read_in_the_browser"),
    ),
    "T": FailureMode(
        "Several copies of every page stay in memory until the crawl ends.", (_MEMORY,)
    ),
}

REPORTED: Mapping[str, FailureMode] = {
    "1": FailureMode("The pruned text loses the blanks between spans of code.", (_BLANKS,)),
    "2": FailureMode("The whole page's text loses the blanks between spans of code.", (_BLANKS,)),
    "3": FailureMode("Code blocks lose their lines and indentation.", (_GENERATORS,)),
    "4": FailureMode("Text stands on the line of the fence that follows it.", (_APART,)),
    "5": FailureMode("Paragraphs lose the blank line between them.", (_APART,)),
    "6": FailureMode("Pruning takes links and emphasised words out of sentences.", (_WORDS,)),
    "7": FailureMode("The pruned text is empty, or is the whole page.", (
        _ANY_CHOICE,
        f"{_CONTENT}a_page_without_container_gets_its_fit_text_above_four_times_its_words",
    )),
    "8": FailureMode("More pages are crawled than were asked for.", (_LIMIT, _EXACTLY)),
    "9": FailureMode("A limit of one page gives none.", (_LIMIT, _EXACTLY)),
    "10": FailureMode(
        "A crawl in depth ends after its first page.",
        ("crawl/test_crawl.py::test_pages_come_breadth_first_in_document_order_every_time",),
        "the frontier is ours and goes breadth first",
    ),
    "11": FailureMode("An address is asked several times.", (
        f"{_SITE}every_address_is_asked_once_and_again_only_when_it_failed", _LIMIT,
    )),
    "12": FailureMode("A crawl stands still for ever.", (
        _HANG,
        f"{_SCOPE}a_growing_path_and_an_endless_calendar_end",
        f"{_SITE}every_address_has_the_outcome_that_it_deserves",
    )),
    "13": FailureMode("The time limit of a page ends a crawl that takes longer.", (
        f"{_NETWORK}the_time_limit_is_that_of_a_page_and_not_of_the_crawl",
    )),
    "14": FailureMode("Memory grows with every page until the process is killed.", (_MEMORY,)),
    "15": FailureMode(
        "Tabs of a shared browser are left open and mixed up.",
        (f"{_BROWSER}pages_of_a_browser_that_dies_are_shown_in_the_next_one",),
        "every crawl has a browser of its own; each gated test ends without a process left",
    ),
    "16": FailureMode("A browser that went away fails every later page.", (
        f"{_BROWSER}pages_of_a_browser_that_dies_are_shown_in_the_next_one",
        f"{_BROWSER}a_page_that_crashes_its_renderer_costs_only_itself",
    )),
    "17": FailureMode("A busy page holds the browser after it has loaded.", (
        f"{_BROWSER}a_page_that_hangs_costs_only_itself",
        "crawl/test_engine.py::test_reading_that_never_ends_costs_its_own_page_only",
    )),
    "18": FailureMode("The time limit is ignored when many pages are asked together.", (_HANG,)),
    "19": FailureMode("Relative links are resolved against the wrong address.", (_LINKS,)),
    "20": FailureMode("Links lose their secure scheme.", (f"{_SCOPE}a_link_keeps_its_scheme",)),
    "21": FailureMode("The base element is ignored, or leads away.", (_LINKS, _NO_WAY_OUT)),
    "22": FailureMode("Hosts that look alike pass for the site.", (
        "crawl/test_urls.py::test_a_site_is_one_host_and_port",
        f"{_SITE}what_nobody_may_ask_for_is_not_asked",
    )),
    "23": FailureMode("Wildcards of robots.txt are not understood.", (
        f"{_ROBOTS}the_longest_rule_for_our_own_name_decides",
    )),
    "24": FailureMode("Requests come in bursts, and Retry-After is not read.", (
        f"{_NETWORK}a_host_that_asks_for_time_gets_it_before_its_next_page",
        f"{_PACE}a_pause_that_begins_while_others_wait_holds_them_too",
    )),
    "25": FailureMode("Pages are vetoed as blocked; links of unfilled templates are asked.", (
        f"{_CONTENT}a_page_about_robots_checks_and_errors_is_documentation",
        f"{_SCOPE}links_that_a_template_left_behind_are_not_asked",
    )),
    "26": FailureMode("The status of an answer is missing.", (
        f"{_NETWORK}an_error_page_is_recorded_with_its_status_and_never_stored",
    )),
    "27": FailureMode("HTML is taken for an address and cut at a number sign.", (
        f"{_CONTENT}a_page_may_begin_with_any_character",
    )),
    "28": FailureMode("Fetching over HTTP breaks after a few pages.", (
        f"{_ENGINE}forty_pages_come_over_the_same_session",
    )),
    "29": FailureMode("Reading a sitemap needs a service elsewhere.", (
        f"{_SCOPE}a_sitemap_alone_is_enough_and_is_read_anew_every_night",
        f"{_SCOPE}a_crawl_looks_up_no_other_name",
    )),
    "30": FailureMode("A sitemap comes from a cache; redirected parts of one are lost.", (
        f"{_SCOPE}a_sitemap_alone_is_enough_and_is_read_anew_every_night",
    )),
    "31": FailureMode(
        "Crawls at the same time lock each other's database in the home folder.",
        (_NO_FILES,),
        "no database is opened: two crawls with one home folder leave it empty",
    ),
    "32": FailureMode(
        "A cached page hides that page or options have changed.",
        (
            f"{_NETWORK}a_page_that_changed_is_read_anew_and_the_others_are_not",
            f"{_NETWORK}other_options_read_the_same_site_in_another_way",
        ),
        "crawl4ai's cache is bypassed; what is stored is asked for with its validators",
    ),
    "33": FailureMode("Deeply nested markup ends in a recursion error.", (
        f"{_CONTENT}deep_markup_is_read_or_costs_its_own_page_only",
        f"{_CONTENT}odd_markup_is_an_outcome_and_the_site_goes_on",
    )),
    "34": FailureMode("No other browser than the bundled one can be used.", (
        f"{_LAUNCH}crawl4ai_still_builds_the_arguments_of_a_launch_where_we_add_to_them",
        f"{_LAUNCH}a_browser_that_cannot_start_is_one_line_that_says_what_to_do",
    )),
    "35": FailureMode("A PDF counts as a page, with nothing in it.", (
        f"{_NETWORK}a_file_is_no_page_whatever_its_name_and_type_say",
    )),
    "36": FailureMode(
        "A context variable is reset in another task while results stream.",
        (f"{_ENGINE}pages_of_one_batch_keep_their_own_text",),
        "nothing streams: a page is one call in one task",
    ),
    "xml": FailureMode("An XML declaration spoils the page (nobody has reported it).", (_XML,)),
}  # fmt: skip
