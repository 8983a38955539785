# SPDX-License-Identifier: MIT
"""Test the verdicts of gputap diff on counts, on renamed kernels, and that no verdict depends on
the printed tables. tests/synth writes the captures, each with one known change."""
import html
import json
import re

import pytest

from test_diff import synth  # noqa: F401, pylint: disable=unused-import

USUAL = ["--calls", 3200, "--noise", 4, "--steps", 160, "--jitter", 5]


def first_lines(result):
    return "\n".join(result.out.splitlines()[:5])


@pytest.mark.parametrize("extra, found", [
    ("finish:16", "200 more clFinish: 400 -> 600"),
    ("flush:320", "10 more clFlush: 400 -> 410"),
    ("copy:160", "20 more memcpy D2H: 400 -> 420"),
    ("launch:160", "20 more launches of kernel_0: 134 -> 154"),
    ("kernel:16", "only in the candidate: kernel added_kernel, 200 times"),
    ("alloc:16", "only in the candidate: clCreateBuffer, 200 times")])
def test_a_changed_count_is_in_the_first_five_lines(tap, synth, extra, found):  # noqa: F811
    synth("a.gputap", *USUAL)
    synth("b.gputap", *USUAL, "--seed", 5, "--extra", extra)
    result = tap("diff", "a.gputap", "b.gputap")
    assert found in first_lines(result)
    back = first_lines(tap("diff", "b.gputap", "a.gputap"))
    counts = re.search(r": ([\d,]+) -> ([\d,]+)", found)
    assert (f"{counts[2]} -> {counts[1]}" in back if counts else "only in the baseline" in back)
    changes = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)["changes"]
    assert found in changes["rows"][0]["text"] and changes["count"] == len(changes["rows"])
    markdown = html.unescape(re.sub(r"\\(.)", r"\1", tap("diff", "a.gputap", "b.gputap",
                                                         "--markdown").out))
    assert f"- {found}" in markdown


def test_calls_that_poll_have_no_verdict_on_their_count(tap, synth):  # noqa: F811
    synth("a.gputap", *USUAL, "--extra", "query:16")
    synth("b.gputap", *USUAL, "--extra", "query:160")
    document = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)
    row, = [r for r in document["operations"] if r["name"] == "clGetEventInfo"]
    assert (row["change_of_count"], row["verdict_of_count"]) == (-180, "varies")
    assert document["changes"]["count"] == 0 and document["exact_counts"] is True


def test_counts_that_vary_between_runs_are_noise(tap, synth):  # noqa: F811
    for i, every in enumerate((40, 48, 56, 40, 48, 8)):
        synth(f"{i}.gputap", *USUAL, "--seed", i, "--extra", f"finish:{every}")

    def row(*words):
        document = json.loads(tap("diff", *words, "--json").out)
        found, = [r for r in document["operations"] if r["name"] == "clFinish"]
        return found
    same = row("0.gputap", "1.gputap", "--vs", "2.gputap", "3.gputap", "4.gputap")
    assert same["verdict_of_count"] == "varies" and same["q_of_count"] > 0.05
    # one run of the candidate, and counts of the baseline that vary: 400 more than in the baseline
    more = row("0.gputap", "1.gputap", "2.gputap", "3.gputap", "--vs", "5.gputap")
    assert more["verdict_of_count"] == "more" and more["q_of_count"] <= 0.05
    # the counts of both sides are constant
    constant = row("0.gputap", "3.gputap", "--vs", "1.gputap", "4.gputap")
    assert constant["verdict_of_count"] == "fewer" and constant["q_of_count"] is None


@pytest.mark.parametrize("limit, status", [
    ("5%", 1), ("60%", 0), ("operations:5%", 1), ("kernels:5%", 0), ("counts:0", 1),
    ("counts:60%", 0), ("5%,counts:off", 0), ("5%,counts:60%", 0), ("counts:off", 0)])
def test_a_limit_sees_counts(tap, synth, limit, status):  # noqa: F811
    synth("a.gputap", *USUAL)
    synth("b.gputap", *USUAL, "--extra", "finish:16")
    document = json.loads(tap("diff", "a.gputap", "b.gputap", "--json", "--fail-over", limit,
                              status=status).out)
    over = {row["name"] for table in document.values() if isinstance(table, list)
            for row in table if row["over_limit"]}
    assert over == ({"clFinish"} if status else set())


def test_a_limit_of_counts_sees_new_calls(tap, synth):  # noqa: F811
    synth("a.gputap", *USUAL)
    synth("b.gputap", *USUAL, "--extra", "alloc:1600")
    tap("diff", "a.gputap", "b.gputap", "--fail-over", "5%")
    tap("diff", "a.gputap", "b.gputap", "--fail-over", "counts:100%", status=1)


def test_no_verdict_depends_on_the_printed_tables(tap, synth):  # noqa: F811
    synth("a.gputap", *USUAL)
    synth("b.gputap", *USUAL, "--seed", 2, "--slow", "1:12", "--slow-call", "clFlush:4")
    whole = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)
    tables = [t for t, rows in whole.items() if isinstance(rows, list)]
    assert len(tables) > 8
    for table in tables:
        for more in ([], ["-n", 1]):
            words = ["a.gputap", "b.gputap", "-t", table, "--fail-over", "5%", *more]
            part = json.loads(tap("diff", *words, "--json", status=1).out)
            rows = whole[table][:1] if more else whole[table]
            assert [{**row, "over_limit": 0} for row in part[table]] == [
                {**row, "over_limit": 0} for row in rows]
            for key in ("verdict", "verdicts", "counts", "tests", "changes"):
                assert part[key] == whole[key]
            assert first_lines(tap("diff", *words, status=1)) == first_lines(
                tap("diff", "a.gputap", "b.gputap"))


def test_a_renamed_kernel_is_recognised(tap, synth):  # noqa: F811
    synth("a.gputap", *USUAL)
    synth("b.gputap", *USUAL, "--seed", 2, "--kernel-name", "gemm")
    result = tap("diff", "a.gputap", "b.gputap", "--json")
    found = {row["name"]: row for row in json.loads(result.out)["kernels"]}
    assert {name: row["name_baseline"] for name, row in found.items()} == {
        f"gemm_{i}": f"kernel_{i}" for i in range(3)}
    assert all(row["renamed"] == 1 and row["verdict"] == "renamed" for row in found.values())
    assert "renamed: kernel_0 -> gemm_0\n" in first_lines(tap("diff", "a.gputap", "b.gputap"))
    assert "differ only in numbers" not in tap("diff", "a.gputap", "b.gputap").out


def test_a_kernel_with_another_grid_is_not_called_renamed(tap, synth):  # noqa: F811
    synth("a.gputap", *USUAL, "--kernels", 1)
    synth("b.gputap", *USUAL, "--kernels", 1, "--kernel-name", "gemm", "--grid", "0:2")
    found = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)["kernels"]
    assert {row["verdict"] for row in found} == {"new", "gone"}


def test_counts_of_occurrences_that_vary_are_noise(tap, synth):  # noqa: F811
    """160 calls in a step contain 6 or 7 launches of each kernel."""
    synth("a.gputap", *USUAL)
    document = json.loads(tap("diff", "a.gputap", "--baseline", "range=step#1..9", "--candidate",
                              "range=step#10", "--json").out)
    assert {row["verdict_of_count"] for row in document["kernels"]} <= {"varies", "same"}
    assert document["verdicts"]["more"] == document["verdicts"]["fewer"] == 0


def test_lost_records_are_no_change_of_a_count(tap, synth):  # noqa: F811
    synth("a.gputap", *USUAL)
    synth("b.gputap", *USUAL, "--lose", 150)
    result = tap("diff", "a.gputap", "b.gputap", "--json")
    document = json.loads(result.out)
    row, = [r for r in document["operations"] if r["name"] == "clEnqueueNDRangeKernel"]
    assert row["change_of_count"] == -2 and row["verdict_of_count"] == "varies"
    assert document["exact_counts"] is False
    assert "Counts may be incomplete" in tap("diff", "a.gputap", "b.gputap").out


@pytest.mark.parametrize("slow, calls", [("1:-40", 9600), ("2:-20", 4000), ("0:-60", 6400)])
def test_more_time_in_total_is_never_faster(tap, synth, slow, calls):  # noqa: F811
    synth("a.gputap", *USUAL)
    synth("b.gputap", *USUAL, "--calls", calls, "--seed", 3, "--slow", slow)
    document = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)
    every = [row for rows in document.values() if isinstance(rows, list) for row in rows]
    assert all(row["change_ns"] <= 0 for row in every if row["verdict"] == "faster")
    assert all(row["change_ns"] >= 0 or row["total_is_noise"] for row in every
               if row["verdict"] == "slower")


def test_a_small_change_of_a_kernel_does_not_precede_a_large_one(tap, synth):  # noqa: F811
    """Kernel 0 saves a tenth of the time that the host computes longer."""
    synth("a.gputap", *USUAL, "--slow", "0:60")
    synth("b.gputap", *USUAL, "--seed", 2, "--pause", "100000:16")
    lines = first_lines(tap("diff", "a.gputap", "b.gputap")).splitlines()
    assert lines[2].startswith("  longer: idle time of device 0: host, outside any call, x")
    small = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)["changes"]["rows"]
    assert any(row["text"].startswith("faster: kernel kernel_0") for row in small[1:])


def test_idle_time_has_a_verdict(tap, synth):  # noqa: F811
    synth("a.gputap", *USUAL)
    synth("b.gputap", *USUAL, "--seed", 2, "--pause", "100000:16")
    rows = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)["idle"]
    row, = [r for r in rows if r["name"] == "device 0: host, outside any call"]
    assert (row["verdict"], row["by"]) == ("slower", "total")
    assert row["change_ns"] == pytest.approx(200 * 100000, rel=0.02)
    assert {r["verdict"] for r in rows if r is not row} == {"noise"}


def test_other_programs_and_load_are_named(tap, synth):  # noqa: F811
    for name, seed, slow in (("a", 1, 0), ("b", 2, 60)):
        synth(f"{name}.gputap", *USUAL, "--seed", seed, "--slow", f"1:{slow}", "--others", 60,
              "--device-type", "cpu", "--gap", 1)
    result = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)
    assert result["changes"]["count"] == 0
    assert "Other programs used 60% of the processors' time" in " ".join(
        tap("diff", "a.gputap", "b.gputap").out.split())


@pytest.mark.deep
def test_pairs_with_a_known_answer(run, build, repo):
    """240 pairs of equal synthetic captures, and 36 pairs with one known change."""
    out = run([repo / "bench/diff_pairs.py", build, "--quick"]).out
    assert "240 pairs of the same: 0 with a wrong verdict" in out
    assert "36 pairs with one change: 0 without it" in out


@pytest.mark.parametrize("seed, step", [(1, 8), (2, 20), (3, 20), (4, 8)])
def test_a_step_with_one_launch_less_is_not_faster(tap, synth, seed, step):  # noqa: F811
    """About a third of the steps have 6 launches of kernel_1, the others 7."""
    synth("a.gputap", *USUAL, "--seed", seed)
    document = json.loads(tap("diff", "a.gputap", "--baseline",
                              f"range=step and not range=step#{step}", "--candidate",
                              f"range=step#{step}", "--json").out)
    row, = [r for r in document["kernels"] if r["name"] == "kernel_1"]
    assert row["count_candidate"] == 6 and row["change"] < -0.1
    assert row["verdict"] == "noise"


@pytest.mark.parametrize("percent, verdict", [(15, "noise"), (60, "slower")])
def test_calls_of_a_step_need_a_thousandth_of_it(tap, synth, percent, verdict):  # noqa: F811
    """20 calls of clFlush take 9 us of a step of 2.2 ms."""
    synth("a.gputap", *USUAL, "--slow-call", f"clFlush:{percent}:380")
    document = json.loads(tap("diff", "a.gputap", "--baseline", "range=step#1..19", "--candidate",
                              "range=step#20", "--json").out)
    row, = [r for r in document["operations"] if r["name"] == "clFlush"]
    assert row["verdict"] == verdict and row["mean_change_low"] > 0
