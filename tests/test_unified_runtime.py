# SPDX-License-Identifier: MIT
"""Test Unified Runtime (SYCL's), which no distribution packages. A stand-in for an adapter shows
the changes to its tables. tests/test_soft_level_zero_sycl.py uses the real adapters."""
import csv
import json
import re

import pytest

from conftest import REPO, run_command
from test_late_level_zero import sessions  # noqa: F401 (fixture)

LAUNCH = ["urKernelCreate", "urEnqueueKernelLaunchWithArgsExp"]
CALLS = [*LAUNCH, *LAUNCH, *["urEnqueueMemBufferReadRect"] * 2, "urQueueFinish"]


@pytest.fixture(scope="session")
def adapter(tmp_path_factory):
    """Build and return (program, adapter)."""
    folder = tmp_path_factory.mktemp("unified_runtime")
    for name, flags in (("ur_adapter", ["-shared", "-fPIC"]), ("ur_program", ["-ldl"])):
        run_command(["cc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{REPO}/src",
                     REPO / f"tests/unified_runtime/{name}.c", "-o", folder / name, *flags])
    return folder / "ur_program", folder / "ur_adapter"


@pytest.fixture
def calls(tap, work):
    """Return a function: calls(file) returns the rows of Unified Runtime calls."""
    def read(file):
        tap("export", file, "-o", "calls.csv")
        with open(work / "calls.csv", newline="") as table:
            return [row for row in csv.DictReader(table) if row["domain"] == "unified_runtime"]
    return read


@pytest.mark.parametrize("way", ["table", "handle"])
def test_calls_are_recorded_through_either_table(tap, adapter, calls, way):
    assert tap("run", "-q", "--mode", "sycl", "-o", "r.gputap", "--", *adapter, way).out == ""
    first, *rows = calls("r.gputap")
    assert first["operation"] == "urAdapterGet"
    assert [row["operation"] for row in rows] == CALLS
    assert [row["error"] for row in rows[4:]] == ["", "UR_RESULT_ERROR_INVALID_QUEUE", ""]
    said = [row["arguments"] for row in rows]
    assert 'pKernelName="scale"' in said[0] and "phKernel=0xc" in said[0]
    assert "pGlobalWorkSize=[32, 64], pLocalWorkSize=[8, 8]" in said[1]
    assert "region={width=0, height=0, depth=5}" in said[4]
    assert "phEventWaitList=[0xa]" in said[4] and "phEvent=0xb" in said[4]
    assert json.loads(tap("info", "--json", "r.gputap").out)["events"] == []


def test_what_an_adapter_does_not_support_is_refused_and_does_not_lead_what_failed(tap, adapter,
                                                                                     work):
    end = tap("run", "-d", "unified_runtime", "-o", "r.gputap", "--", *adapter, "probes").err
    labels = re.findall(r"^(Failed|Refused) +([\d,]+) x (\w+) (\w+)$", end, re.M)
    assert labels == [
        ("Failed", "1", "urEnqueueMemBufferReadRect", "UR_RESULT_ERROR_INVALID_QUEUE"),
        ("Refused", "1,320", "urQueueIsGraphCaptureEnabledExp",
         "UR_RESULT_ERROR_UNSUPPORTED_FEATURE")]
    report = json.loads(tap("report", "--json", "r.gputap").out)
    assert {o["name"]: (o["calls"], o["failed"], o["refused"]) for o in report["operations"]} == {
        "urAdapterGet": (1, 0, 0), "urEnqueueMemBufferReadRect": (1, 1, 0),
        "urQueueIsGraphCaptureEnabledExp": (1320, 0, 1320)}
    assert [(f["kind"], f["count"]) for f in report["failures"]] == [("failed", 1),
                                                                     ("refused", 1320)]
    failed = json.loads(tap("report", "--json", "--where", "failed", "r.gputap").out)
    assert [o["name"] for o in failed["operations"]] == ["urEnqueueMemBufferReadRect"]


@pytest.mark.parametrize("options", [[], ["--mode", "standard"], ["-d", "opencl"]])
def test_calls_are_recorded_on_request_only(tap, adapter, calls, options):
    assert tap("run", "-q", *options, "-o", "r.gputap", "--", *adapter, "handle").out == ""
    assert calls("r.gputap") == []


def test_a_domain_that_is_named_is_a_request(tap, adapter, calls):
    tap("run", "-q", "-d", "unified_runtime", "-o", "r.gputap", "--", *adapter, "table")
    assert [row["operation"] for row in calls("r.gputap")[1:]] == CALLS


@pytest.mark.parametrize("fault,words,said", [("release", [], "0.12"), ("version", ["11"], "0.11")])
@pytest.mark.parametrize("way", ["table", "handle"])
def test_another_release_is_left_alone_and_an_event_says_so(tap, adapter, calls, fault, words,
                                                            said, way):
    """With fault "release" the version is the same, but the set of tables differs, so arguments may
    have changed too."""
    env = {"UR_FAULT": fault}
    result = tap("run", "-q", "--mode", "sycl", "-o", "r.gputap", "--", *adapter, way, *words,
                 env=env)
    assert result.out == "" and calls("r.gputap") == []
    events = json.loads(tap("info", "--json", "r.gputap").out)["events"]
    assert [(e["event"], e["text"]) for e in events] == [(
        "not traced",
        f"calls of a Unified Runtime {said} adapter: unknown release")]
    tap("run", "-q", "-o", "default.gputap", "--", *adapter, way, *words, env=env)
    assert json.loads(tap("info", "--json", "default.gputap").out)["events"] == []


@pytest.mark.parametrize("way", ["table", "handle"])
@pytest.mark.parametrize("fault", ["", "release"])
def test_calls_are_recorded_after_gputap_has_attached(
        tap, run, sessions, build, adapter, calls, way, fault):  # noqa: F811
    session = sessions("r.gputap", "--mode", "sycl")
    env = {"UR_ATTACH": f"{build}/libgputap.so.0 {session.folder}", "UR_FAULT": fault}
    assert run([*adapter, way], env=env).out == ""
    session.end()
    assert [row["operation"] for row in calls("r.gputap")] == ([] if fault else CALLS)
    events = json.loads(tap("info", "--json", "r.gputap").out)["events"]
    assert len(events) == (1 if fault else 0)
