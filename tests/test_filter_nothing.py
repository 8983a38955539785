# SPDX-License-Identifier: MIT
"""Test expressions that match no record: every command reports this and prints no rows of zeros."""

import csv
import json

import pytest

EXPRESSIONS = {
    "name=clNoSuch": "",
    "range=none": ": there is no range 'none'",
    "range=step#99": ": no process has more than",
    "range=none#1": ": there is no range 'none'",
    "name=clFinish and range=none":
        ": no record that meets the first conditions has range 'none'",
    "at=100s..200s": ": the capture ends after ",
    "rank=7": "",
    "duration>5h": "",
    "failed and domain=hip": "",
}


@pytest.fixture
def capture(run, build, work):
    for name in ("a.gputap", "b.gputap"):
        run([build / "tests/synth/synth", "--calls", "400", "--steps", "50", "-o", name])
    return "a.gputap"


@pytest.mark.parametrize("where", EXPRESSIONS)
def test_a_report_says_so_and_has_no_tables(tap, capture, where):
    said = f"gputap: --where '{where}' matches no record{EXPRESSIONS[where]}"
    result = tap("report", capture, "-w", where)
    assert result.err.startswith(said)
    head, _, tables = result.out.partition("\n\n")
    assert f"Only where {where}, which matches no record{EXPRESSIONS[where]}" in head
    assert tables == ""
    for options in (["--by", "device"], ["-t", "processes,threads"]):
        assert tap("report", capture, "-w", where, *options).err.startswith(said)
    assert " none\n" in tap("report", capture, "-w", where, "-t", "processes").out


@pytest.mark.parametrize("where", EXPRESSIONS)
def test_scripts_see_it_as_no_rows_and_a_count_of_0(tap, capture, where):
    result = tap("report", capture, "-w", where, "--json")
    assert "matches no record" in result.err
    report = json.loads(result.out)
    assert report["matched"] == report["matched_ranges"] == 0 and report["where"] == where
    assert not report["threads"] and not report["kernels"]
    result = tap("report", capture, "-w", where, "-t", "processes", "--csv")
    assert "matches no record" in result.err and len(result.out.splitlines()) == 1


@pytest.mark.parametrize("where", EXPRESSIONS)
def test_the_page_and_the_timeline_say_so(tap, capture, where):
    assert "matches no record" in tap("report", capture, "-w", where, "-o", "a.html").err
    with open("a.html", encoding="utf-8") as page:
        assert "which matches no record" in page.read()
    result = tap("report", capture, "-w", where, "--timeline")
    assert "matches no record" in result.err and "No matching record has a time" in result.out
    result = tap("report", capture, "-w", where, "--timeline", "--json")
    assert "matches no record" in result.err and json.loads(result.out)["rows"] == []


@pytest.mark.parametrize("format", ["perfetto", "chrome", "rpd", "rocpd", "csv", "folded",
                                    "speedscope", "gputap"])
@pytest.mark.parametrize("where", ["name=clNoSuch", "at=100s..200s", "range=step#99"])
def test_an_export_says_so(tap, capture, where, format):
    result = tap("export", capture, "-w", where, "-o", "out", "--format", format)
    assert "matches no record" in result.err and EXPRESSIONS[where] in result.err
    if format == "csv":
        with open("out", newline="", encoding="utf-8") as file:
            assert len(list(csv.reader(file))) == 1


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"], ["--markdown"], ["--svg"]])
@pytest.mark.parametrize("where", EXPRESSIONS)
def test_a_diff_says_so_and_compares_nothing(tap, capture, where, form):
    for sides in (["b.gputap", "-w", where], ["--baseline", "name=clFinish", "--candidate", where]):
        result = tap("diff", capture, *sides, *form, status=3)
        assert result.out == "" and f"'{where}' matches no record of" in result.err
        assert EXPRESSIONS[where] in result.err
