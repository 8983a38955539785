# SPDX-License-Identifier: MIT
"""Test tests/gpu/check_gpu.py, a script for machines with a GPU, on a machine without one."""
import json

import pytest


@pytest.fixture
def check_gpu(run, repo, build, work):
    """Return a function: check_gpu(word, ..., status=...) returns the output and the lines of the
    report."""

    def call(*words, status=0):
        done = run(["python3", repo / "tests/gpu/check_gpu.py", "--out", work / "report", *words],
                   status=status, env={"GPUTAP_BUILD": build})
        report = work / "report/report.json"
        return done, json.loads(report.read_text())["lines"] if report.exists() else []

    return call


def test_all_checks_are_listed(check_gpu):
    names = [line.split(":")[0] for line in check_gpu("--list")[0].out.splitlines()]
    parts = {name.split("/")[0] for name in names}
    assert len(names) == len(set(names)) > 30
    assert parts == {
        "calls", "work", "ends", "beside", "runtime", "said", "several", "exports",
        "answers", "causes", "costs", "attach"
    }


def test_a_part_runs_on_the_software_driver(check_gpu, work):
    done, lines = check_gpu("--soft", "-k", "costs/nothing", "-k", "torch")
    assert {line["verdict"] for line in lines} == {"info", "skipped"}
    assert "costs/nothing: bare: " in done.out
    assert "| needs an NVIDIA GPU | skipped |" in (work / "report/report.md").read_text()


def test_device_work_is_whole_on_the_software_driver(check_gpu):
    """Leave out the checks of ends that give gputap's thread 300 ms, because a loaded machine may
    take longer."""
    ends = ["exit", "_exit_at_once", "fault", "destroy", "reset", "fork"]
    words = [word for name in ends for word in ("-k", f"ends/{name}")]
    done, lines = check_gpu("--soft", "-k", "work/", "-k", "several", "-k", "said", *words)
    verdicts = [line["verdict"] for line in lines]
    assert "FAILS" not in verdicts and verdicts.count("ok") > 25, done.out


def test_calls_are_those_that_another_user_of_cupti_counts(check_gpu):
    done, lines = check_gpu("--soft", "-k", "calls/", "-k", "beside/")
    verdicts = [line["verdict"] for line in lines]
    assert "FAILS" not in verdicts and verdicts.count("ok") == 6, done.out


def test_without_a_gpu_it_says_so(check_gpu):
    done, lines = check_gpu("-k", "costs", status=2)
    assert "no NVIDIA GPU or driver found" in done.err and not lines


TORCH_WITHOUT_GPU = '''
import os, sys, time
from unittest import mock
torch = mock.MagicMock(name="torch")
torch.cuda.CUDAGraph.side_effect = lambda: time.sleep(1000)
torch.cuda.Event.side_effect = lambda: os._exit(1)
torch.empty_like.side_effect = RuntimeError("out of memory\\nsecond line")
sys.modules["torch"] = torch
'''


def test_predictions_continue_after_a_program_that_fails_hangs_or_ends(run, repo, build, work):
    (work / "torch.py").write_text(TORCH_WITHOUT_GPU)
    names = ["copy_bound", "graph", "events", "two_streams"]
    done = run(["python3", repo / "tests/gpu/gpu_what_if.py", "--gputap", build / "gputap",
                "--out", work / "out", "--stuck", "3", *names], status=1,
               env={"PYTHONPATH": work})
    assert "done two_streams" in done.out
    reasons = {r["name"]: r["reason"] for r in json.loads((work / "out/results.json").read_text())}
    assert list(reasons) == names
    assert reasons["copy_bound"] == "RuntimeError: out of memory"
    assert reasons["graph"] == "did not end in time"
    assert reasons["events"] == "the process ended"
    # recorded, but the package in its place makes no calls
    assert "no activity matches name=*spin*" in reasons["two_streams"]
    assert "0 of 4 predictions are within 5% or their range" in done.out
