"""Tables, checks and conclusions."""

import math

import pytest

from delassus.benchmarks.reporting.checks import FINITE, Limit, find_failures
from delassus.benchmarks.reporting.conclusions import Largest, Spread, geometric_mean
from delassus.benchmarks.reporting.figures import figure
from delassus.benchmarks.reporting.pages import html_page, svg
from delassus.benchmarks.reporting.ratios import Ratio, ratio_records, ratio_table
from delassus.benchmarks.reporting.tables import Column, Table, named, numbers


def test_table_aligns_and_marks_what_is_missing():
    columns = [Column("name"), Column("value", "µs", ".2f"), Column("ratio", "", ".1f", "x")]
    records = [{"name": "a", "value": 1.0, "ratio": 2.0}, {"name": "bcd", "value": 10.0}]
    table = Table("key", "Title", columns, note="note").filled(records)
    assert str(table).splitlines() == [
        "Title",
        "─────────────────",
        "name     µs",
        "─────────────────",
        "a      1.00  2.0x",
        "bcd   10.00     -",
        "─────────────────",
        "note",
    ]
    assert table.data()[1] == {"name": "bcd", "value": 10.0, "ratio": None}


def test_some_columns_are_for_programs_only():
    columns = [*named("name"), *numbers(".1f", x="position"), Column("all", is_shown=False)]
    table = Table("key", "Title", columns, [{"name": "a", "x": 1.0, "all": [1, 2]}])
    assert "all" not in str(table)
    assert table.data() == [{"name": "a", "x": 1.0, "all": [1, 2]}]


def test_ratios_stand_beside_those_of_others():
    ratios = [Ratio("hyq", "slow / fast", 2.0, 3.0, 4.0), Ratio("hyq", "x / y", 1.0)]
    records = ratio_records(ratios)
    lines = str(ratio_table("note").filled(records)).splitlines()
    assert lines[4].split() == ["hyq", "slow", "/", "fast", "2.00", "3.00", "4.00"]
    assert lines[5].split()[-3:] == ["1.00", "-", "-"]


def test_results_beyond_a_limit_fail():
    findings = {"times": [{"robot": "a", "difference": x} for x in (1e-12, 1e-6, math.nan, None)]}
    limit = Limit("times", "difference", "{robot} differs by {difference:.0e}")
    assert find_failures([limit], findings) == ["a differs by 1e-06", "a differs by nan"]
    assert find_failures([limit], {"others": []}) == []


def test_limits_may_depend_on_the_record_and_hold_for_lists():
    findings = {"x": [{"own": 2.0, "peer": 1.0, "all": [1.0, math.inf]}]}
    assert not find_failures(
        [Limit("x", "own", "wrong", lambda record: 3 * record["peer"])], findings
    )
    assert find_failures([Limit("x", "all", "not finite", FINITE)], findings) == ["not finite"]
    assert not find_failures([Limit("x", "own", "not finite", FINITE)], findings)


def test_conclusions_are_numbers_and_lines():
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
    findings = {"t": [{"x": 4.0, "d": 1e-9}, {"x": None}, {"x": 1.0, "d": 1e-8}]}
    (fact,) = Spread("speed", "t", "x", "against others")(findings)
    assert fact.value == {"geometric_mean": pytest.approx(2.0), "smallest": 1.0}
    assert fact.line == "against others: geometric mean 2.00, smallest 1.00"
    (fact,) = Largest("worst", ["t"], "d", "difference")(findings)
    assert (fact.value, fact.line) == (1e-8, "largest difference: 1.0e-08")


def test_a_page_has_its_title_and_its_parts_and_needs_nothing_else():
    page = html_page("a < b", "p { color: red }", ["<p>one</p>", "<p>two</p>"])
    assert page.count("a &lt; b") == 2
    assert "<p>one</p><p>two</p></body></html>" in page and "http" not in page


def test_a_plot_is_a_part_of_a_page():
    pytest.importorskip("matplotlib")
    drawn = svg(figure(1, 2.0, 1.0, "title")[0])
    assert drawn.startswith("<svg") and drawn.rstrip().endswith("</svg>")
