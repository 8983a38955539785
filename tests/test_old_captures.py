# SPDX-License-Identifier: MIT
"""Captures that earlier versions wrote are read to the same reports: tests/golden/old has one of
OpenCL and one of HIP and HSA on the software GPU, and what was read from them then.

GPUTAP_GOLDEN=1 writes what is expected anew: only where a report says more, never where it says
something else."""

import csv
import json
import os

import pytest

import conftest

OLD = conftest.REPO / "tests" / "golden" / "old"
# of the reader, not of the capture
OF_READER = ("gputap", )


def read(gputap, capture, work):
    """What there is in it, as report and as rows of device work and its calls."""
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
    """Places of @expected that @found has not; what @found has beside them is not looked at."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [place for key, value in expected.items()
                for place in (missing(value, found[key], f"{at}.{key}") if key in found else
                              [f"{at}.{key}: gone"])]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [place for i, (a, b) in enumerate(zip(expected, found))
                for place in missing(a, b, f"{at}[{i}]")]
    return [] if expected == found else [f"{at}: {expected!r}, now {found!r}"]


@pytest.mark.parametrize("name", ["hip-0.1", "opencl-0.1"])
def test_an_old_capture_is_read_as_it_was(gputap, work, name):
    found = read(gputap, OLD / f"{name}.gputap", work)
    golden = OLD / f"{name}.json"
    if os.environ.get("GPUTAP_GOLDEN"):
        golden.write_text(json.dumps(found, indent=None, separators=(",", ":")) + "\n")
    assert missing(json.loads(golden.read_text()), found) == []
