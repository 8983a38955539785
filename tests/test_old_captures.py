# SPDX-License-Identifier: MIT
"""Test that captures of earlier versions still give the same reports. tests/golden/old holds a
capture of OpenCL, a capture of HIP and HSA on the software GPU, and their results at that time.

GPUTAP_GOLDEN=1 rewrites the expected results. Use it only if reports gained content, never if
existing content changed."""

import csv
import json
import os

import pytest

import conftest

OLD = conftest.REPO / "tests" / "golden" / "old"
# report keys that describe the reader, not the capture
OF_READER = ("gputap", )


def read(gputap, capture, work):
    """Return the contents of the capture as a report, and as rows of GPU activities and their
    calls."""
    report = json.loads(conftest.run_command([gputap, "report", "--json", capture.name],
                                             cwd=OLD).out)
    conftest.run_command([gputap, "export", "-f", capture.name, "-o", work / "all.csv"], cwd=OLD)
    with open(work / "all.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    called = {row["correlation"] for row in rows if row["kind"] == "device"}
    return {
        "report": {key: value for key, value in report.items() if key not in OF_READER},
        "rows": [{key: value for key, value in row.items() if value}
                 for row in rows if row["correlation"] in called],
        "row_count": len(rows)
    }


def missing(expected, found, at=""):
    """Return the paths in @expected that are missing from @found. Additional paths in @found are
    ignored."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [place for key, value in expected.items()
                for place in (missing(value, found[key], f"{at}.{key}") if key in found else
                              [f"{at}.{key}: gone"])]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [place for i, (a, b) in enumerate(zip(expected, found))
                for place in missing(a, b, f"{at}[{i}]")]
    return [] if expected == found else [f"{at}: {expected!r}, now {found!r}"]


def test_ranges_of_a_capture_whose_domain_was_torch_are_in_the_domain_ranges(tap, work):
    capture = OLD / "ranges-0.1.gputap"
    tap("export", "-f", capture, "-o", work / "a.csv")
    with open(work / "a.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(r["domain"], r["operation"], r["arguments"].split('"')[1]) for r in rows] == [
        ("ranges", "range_operator", "aten::empty"), ("ranges", "range_operator", "aten::add"),
        ("ranges", "range_backward", "AddBackward0"), ("ranges", "range_user", "step")]
    report = tap("report", "--all", capture).out
    assert "aten::add" in report and "torch" not in report
    info = tap("info", capture).out
    assert "ranges" in info and "torch" not in info


@pytest.mark.parametrize("name", ["hip-0.1", "opencl-0.1"])
def test_an_old_capture_is_read_as_it_was(gputap, work, name):
    found = read(gputap, OLD / f"{name}.gputap", work)
    golden = OLD / f"{name}.json"
    if os.environ.get("GPUTAP_GOLDEN"):
        golden.write_text(json.dumps(found, indent=None, separators=(",", ":")) + "\n")
    assert missing(json.loads(golden.read_text()), found) == []
