# SPDX-License-Identifier: MIT
"""Test the patterns that reports name. tests/patterns/patterns_refdev.c runs loops, each with one
pattern."""
import json
import subprocess

import pytest
from conftest import REPO

STEPS = 40
LAUNCHES = 8  # in each step of the program


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    path = tmp_path_factory.mktemp("patterns") / "program"
    library = build / "soft/refdev/librefdev.so.1"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", "-g", f"-I{REPO}", f"-I{REPO}/include",
        REPO / "tests/patterns/patterns_refdev.c", "-o", path, library,
        f"-Wl,-rpath,{library.parent}", "-lpthread"
    ],
                   check=True)
    return path


@pytest.fixture
def find(tap, program, work):
    """Return a function: find(mode) returns the patterns of a run, by name."""
    def call(mode, *options, steps=STEPS):
        tap("run", "-q", "-f", "-o", "p.gputap", *options, "--", program, mode, str(steps))
        rows = json.loads(tap("report", "p.gputap", "-t", "patterns", "--json").out)["patterns"]
        return {row["pattern"]: row for row in rows}
    return call


@pytest.mark.parametrize("mode, activities", [("plain", LAUNCHES), ("small_copies", LAUNCHES + 1),
                                              ("copy_runs", LAUNCHES + 200), ("graph", 1)])
def test_the_steps_of_a_loop_are_found(find, mode, activities):
    row = find(mode)["period"]
    assert row["step_activities"] == activities
    assert STEPS - 2 <= row["steps"] <= STEPS
    assert row["step_low_ns"] <= row["step_ns"] <= row["step_high_ns"]


@pytest.mark.parametrize("mode, pattern, count, operation, then", [
    ("small_copies", "small_copies", STEPS, "refdevMemcpyAsync", "refdevStreamSynchronize"),
    ("blocking_copies", "small_copies", STEPS, "refdevMemcpy", None),
    ("wait_each", "wait_after_each_launch", STEPS * LAUNCHES, "refdevStreamSynchronize",
     "refdevLaunchKernel"),
    ("polling", "polling", STEPS * 3000, "refdevStreamQuery", None),
])
def test_a_pattern_is_found_with_its_exact_count(find, mode, pattern, count, operation, then):
    rows = find(mode)
    row = rows[pattern]
    assert (row["count"], row["operation"], row["then"]) == (count, operation, then)
    assert row["ns"] > 0 and row["sentence"]
    assert not set(rows) - {pattern, "period", "one_long_pause"}


def test_kernels_that_are_too_short_for_the_host_are_found(find):
    row = find("short_kernels", steps=200)["small_kernels"]
    assert row["count"] == 200 * LAUNCHES and row["advice"]


def test_allocations_count_from_the_third_step_on(find):
    row = find("allocations")["allocations_in_loop"]
    assert (STEPS - 5) * 600 < row["count"] <= (STEPS - 2) * 600
    assert row["operation"] == "refdevMalloc" and row["advice"]


def test_with_stacks_the_line_of_the_pattern_is_named(find):
    row = find("small_copies", "--stacks")["small_copies"]
    assert row["line"].startswith("step at patterns_refdev.c:")
    assert row["sentence"].endswith("; from " + row["line"])


def test_advice_needs_idle_time(find):
    assert find("wait_each")["wait_after_each_launch"]["advice"]
    assert find("polling")["polling"]["advice"] is None


def test_a_loop_without_a_pattern_has_none(find):
    for mode in ("plain", "host", "graph"):
        assert not set(find(mode)) - {"period", "one_long_pause"}


def test_one_long_pause_is_found(find):
    row = find("pause")["one_long_pause"]
    assert 300e6 <= row["idle_ns"] < 400e6
    assert "% of the idle time of device 0" in row["sentence"]


def test_the_first_screen_names_the_pattern_and_its_steps(tap, program, work):
    tap("run", "-q", "-o", "p.gputap", "--", program, "wait_each", "40")
    lines = tap("report", "p.gputap").out
    assert "Patterns idle" in lines and "Advice: wait once" in lines
    assert "\nSteps    " in lines


def test_a_stored_summary_has_the_patterns(tap, program, work):
    tap("run", "-q", "-o", "p.gputap", "--", program, "small_copies", "40")

    def rows(*options):
        return json.loads(tap("report", "p.gputap", "-t", "patterns", "--json",
                              *options).out)["patterns"]

    read = rows()
    tap("report", "p.gputap", "--store-summary")
    assert rows() == rows("--read-records") == read


def test_kernels_in_no_order_have_no_period(find):
    assert "period" not in find("random")
