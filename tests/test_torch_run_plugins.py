# SPDX-License-Identifier: MIT
"""Test captures of gputap run in which a vendor's plug-in records the activities of torch's
operators."""
import json
import os

import pytest
from test_torch_backend import backend  # noqa: F401: fixture


@pytest.fixture
def capture(tap, torch_python, backend, torch_package, repo, build, work):  # noqa: F811
    """Return a function: make() runs the training program, with refdev's activities from its
    plug-in, and returns the capture's info and report."""
    def make(*words, options=()):
        paths = f"{torch_package['PYTHONPATH']}{os.pathsep}{backend['PYTHONPATH']}"
        tap("run", "-q", "-f", "-o", "a.gputap", *options, "--", torch_python,
            repo / "tests/torch_refdev_program.py", *words,
            env={**backend, "PYTHONPATH": paths, "HOME": work,
                 "KINETO_PLUGIN_PATH": build / "soft/refdev/librefdev_pu1.so"})
        return (json.loads(tap("info", "--json", "a.gputap").out),
                json.loads(tap("report", "--json", "--by", "range", "--top", "0",
                               "a.gputap").out))
    return make


def test_operators_have_the_same_work_as_by_gputaps_own_means(capture):
    own, theirs = [], []
    for domains, rows in (("ranges,refdev", own), ("ranges,privateuse1", theirs)):
        info, whole = capture("profile", "mlp", options=["-d", domains])
        assert info["seen"] == info["recorded"] and info["activities"] == info["linked"] > 100
        rows.append({o["name"]: o["activities"] for o in whole["gpu_by_range"]})
    assert own == theirs
    assert own[0]["aten::addmm"] > 0
