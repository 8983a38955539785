# SPDX-License-Identifier: MIT
"""Test gputap diff, which shows what got slower. tests/synth writes the captures, with known,
reproducible noise. tests/unit/diff_statistics.c tests the verdicts, and test_diff_programs_hsa.py
tests real runs."""
import csv
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from test_cli_report import on_terminal


@pytest.fixture
def synth(run, build, work):
    """Return a function: synth("a.gputap", "--calls", 100) writes a capture and returns its
    name."""
    def call(name, *words):
        run([build / "tests/synth/synth", *words, "-o", name])
        return name
    return call


@pytest.fixture
def pair(synth):
    synth("a.gputap", "--calls", 3000)
    synth("b.gputap", "--calls", 3000, "--nested")


def rows(result, table):
    return {row["name"]: row for row in json.loads(result.out)[table]}


def test_two_captures_of_the_same_differ_by_noise_only(tap, synth):
    synth("a.gputap", "--calls", 3000)
    synth("b.gputap", "--calls", 3000, "--start", 99)
    out = tap("diff", "a.gputap", "b.gputap", env={"COLUMNS": 80}).out
    assert " rows compared, no difference beyond noise" in out
    assert "-t devices,idle,kernels,copies,operations" in re.sub(r"\s+", " ", out)
    tap("diff", "a.gputap", "b.gputap", "--fail-over", "0%")


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("options", [[], ["-t", "kernels,operations,totals"], ["--by", "device"],
                                     ["-n", "2"], ["--where", "kind=kernel"]])
def test_text_fits(tap, pair, columns, options):
    out = tap("diff", "a.gputap", "b.gputap", *options, env={"COLUMNS": columns}).out
    assert max(map(len, out.splitlines())) <= columns
    assert "\x1b" not in out


def test_what_is_only_on_one_side_is_said(tap, pair):
    result = tap("diff", "a.gputap", "b.gputap", "--json")
    operations = rows(result, "operations")
    assert operations["clBuildProgram"]["verdict"] == "new"
    assert operations["clBuildProgram"]["median_change"] is None
    assert operations["clFinish"]["count_baseline"] == 375
    assert rows(tap("diff", "b.gputap", "a.gputap", "--json"),
                "operations")["clBuildProgram"]["verdict"] == "gone"
    assert json.loads(result.out)["verdicts"]["new"] == 3


def test_a_limit_says_that_it_does_not_count_what_is_new(tap, pair):
    """A new row may be an old kernel with a new name. It is reported, but does not fail a job."""
    def said(before, after):
        return " ".join(tap("diff", before, after, "--fail-over", "900%").out.split())

    assert "got slower by more than the limit; 3 rows only in the candidate are not" in said(
        "a.gputap", "b.gputap")
    assert "got slower by more than the limit. " in said("b.gputap", "a.gputap")


def test_a_rows_figures_are_those_of_the_report(tap, pair):
    diff = rows(tap("diff", "a.gputap", "b.gputap", "--json"), "kernels")
    for side, name in (("baseline", "a.gputap"), ("candidate", "b.gputap")):
        report = {row["name"]: row for row in
                  json.loads(tap("report", name, "--json").out)["kernels"]}
        assert set(diff) == set(report)
        for kernel, row in diff.items():
            assert row[f"total_{side}_ns"] == report[kernel]["total_ns"]
            assert row[f"count_{side}"] == report[kernel]["count"]
            # diff samples a thousand values, and percentiles of the report are exact to 1.6 %
            assert row[f"median_{side}_ns"] == pytest.approx(report[kernel]["p50_ns"], rel=0.15)
            assert (row[f"median_{side}_low_ns"] <= row[f"median_{side}_ns"] <=
                    row[f"median_{side}_high_ns"])
    shares = [abs(row["share"]) for row in diff.values()]
    assert sum(shares) == pytest.approx(1) and shares == sorted(shares, reverse=True)


def test_csv_has_the_keys_of_json(tap, pair):
    keys = list(rows(tap("diff", "a.gputap", "b.gputap", "--json"), "kernels").popitem()[1])
    table = list(csv.reader(io.StringIO(
        tap("diff", "a.gputap", "b.gputap", "-t", "kernels", "--csv").out)))
    assert table[0] == keys and len(table) > 1


def test_the_manual_names_the_keys(tap, pair, repo):
    text = (repo / "docs/man/gputap-diff.1").read_text()
    document = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)
    side = document["baseline"]
    keys = {*document, *side, *side["runs"][0], *document["verdicts"],
            *document["kernels"][0]}
    assert not [key for key in keys if not re.search(rf"\b{key}\b", text)]


def test_markdown_is_a_table_in_which_a_name_is_only_a_name(tap, synth):
    synth("a.gputap", "--calls", 100)
    synth("b.gputap", "--calls", 100, "--names", "tricky", "--nested")
    out = tap("diff", "a.gputap", "b.gputap", "--markdown").out
    lines = [line for line in out.splitlines() if line.startswith("| ")]
    assert lines and all(line.count("|") == 9 for line in lines)
    assert "<script" not in out and out.startswith("### gputap diff: ")


def sign_of(text):
    """Return -1, 0 or 1 for text like "+1.2 ms", "-3.0%", "x2.00" and "0.0%", or None for "" and
    words."""
    if not re.match(r"[-+x\d]", text):
        return None
    return 1 if text[0] in "+x" else -(text[0] == "-")


@pytest.mark.parametrize("slow, calls", [("1:-40", 9600), ("1:20", 3200), ("0:-3", 3300)])
def test_all_figures_of_a_row_point_in_one_direction(tap, synth, slow, calls):
    """Kernels that take 40 % less time each and are launched three times as often take more time in
    total."""
    synth("a.gputap", "--calls", 3200, *NOISY)
    synth("b.gputap", "--calls", calls, *NOISY, "--seed", 3, "--slow", slow)
    out = tap("diff", "a.gputap", "b.gputap", "-n", 0, "--markdown").out
    table = [[c.strip() for c in line.split("|")[1:-1]] for line in out.splitlines()
             if line.startswith("| ") and "---" not in line and not line.startswith("| verdict")]
    assert len(table) >= 5
    for verdict, change, ratio, _, _, each, _, name in table:
        signs = {sign_of(change), sign_of(ratio), sign_of(each)} - {None, 0}
        assert len(signs) <= 1, (change, ratio, each, name)
        expected = {"slower": 1, "faster": -1}.get(verdict)
        assert expected is None or signs == {expected}
    if calls == 9600:
        verdict, change, ratio, baseline, candidate, each, _, _ = next(
            row for row in table if re.fullmatch("<code>kernel.*1</code>", row[-1]))
        assert (verdict, each) == ("more", "faster") and change[0] == ratio[0] == "+"
        assert baseline.split()[1] == candidate.split()[1] == "ms"  # totals


def test_outliers_of_the_baseline_do_not_hide_that_most_got_slower(tap, synth):
    """The last three of 133 launches of the baseline take 200 times as long."""
    synth("a.gputap", "--calls", 3200, *NOISY, "--slow", "1:20000:3100")
    synth("b.gputap", "--calls", 3200, *NOISY, "--seed", 2, "--slow", "1:30")
    result = tap("diff", "a.gputap", "b.gputap", "--json", "--fail-over", "kernels:5%", status=1)
    row = rows(result, "kernels")["kernel_1"]
    assert row["verdict"] == "slower" and row["change_ns"] < 0 < row["median_change_low"]
    out = tap("diff", "a.gputap", "b.gputap").out
    assert re.search(r"\n  noise +noise .* \+\d+\.\d% .* slower +kernel_1\n", out)


def test_a_change_within_noise_is_called_noise(tap, synth):
    for name, seed in (("a.gputap", 1), ("b.gputap", 2)):
        synth(name, "--calls", 3200, *NOISY, "--seed", seed)
    result = tap("diff", "a.gputap", "b.gputap", "--json")
    assert {row["verdict"] for row in json.loads(result.out)["kernels"]} == {"noise"}
    assert json.loads(result.out)["verdicts"]["noise"] > 5
    out = tap("diff", "a.gputap", "b.gputap", "-t", "kernels").out
    assert re.search(r"noise +kernel_\d\n", out)


def test_the_picture_has_an_axis_with_units_and_one_scale(tap, synth, work):
    """A pixel represents the same value in all tables and in both directions."""
    synth("a.gputap", "--calls", 3200, *NOISY)
    synth("b.gputap", "--calls", 3200, *NOISY, "--seed", 2, "--slow", "1:60")
    tap("diff", "a.gputap", "b.gputap", "-o", "a.svg")
    root = xml.etree.ElementTree.parse(work / "a.svg").getroot()
    ticks = {t.text: float(t.get("x")) for t in root.iter() if t.get("class") == "tick"}
    zero = ticks.pop("0")
    units = {"us": 1e3, "ms": 1e6}

    def pixels_of(text):
        number, unit = text.split()
        return float(number) * units[unit]
    scale = {round(pixels_of(text) / (x - zero)) for text, x in ticks.items()}
    assert len(ticks) >= 2 and max(scale) - min(scale) <= 0.01 * max(scale)
    document = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)
    changes = sorted(abs(row["change_ns"])
                     for table in ("kernels", "gpu_by_range", "operations", "ranges", "copies")
                     for row in document[table])[-2:]
    bars = sorted(float(r.get("width")) for r in root.iter() if r.get("class") == "bar")
    assert len(bars) > 2
    assert bars[-1] * max(scale) == pytest.approx(changes[-1], rel=0.03)
    assert bars[-2] * max(scale) == pytest.approx(changes[-2], rel=0.03)


@pytest.mark.parametrize("options, mode", [([], 0o600), (["--share"], 0o644)])
def test_its_files_are_as_private_as_captures(tap, pair, work, options, mode):
    for name in ("a.json", "a.csv", "a.md", "a.svg"):
        tap("diff", "a.gputap", "b.gputap", "-o", name, *options)
        assert (work / name).stat().st_mode & 0o777 == mode
    if not options:  # the existing file was readable by everyone
        (work / "a.md").chmod(0o644)
        tap("diff", "a.gputap", "b.gputap", "-f", "-o", "a.md")
        assert (work / "a.md").stat().st_mode & 0o777 == 0o600


def test_the_picture_is_an_svg_by_itself(tap, synth, work):
    synth("a.gputap", "--calls", 100)
    synth("b.gputap", "--calls", 200, "--names", "tricky")
    tap("diff", "a.gputap", "b.gputap", "-o", "a.svg")
    root = xml.etree.ElementTree.parse(work / "a.svg").getroot()
    text = (work / "a.svg").read_text()
    assert root.tag.endswith("svg") and "href" not in text and "<script" not in text
    bars = [r for r in root.iter() if r.get("class") == "bar"]
    assert bars and all(0 <= float(r.get("x")) <= 960 for r in bars)
    result = tap("diff", "a.gputap", "b.gputap", "-o", "a.svg", status=3)
    assert result.err == "gputap diff: a.svg exists: -f replaces it\n"
    tap("diff", "a.gputap", "b.gputap", "-f", "-o", "a.svg")


def test_the_picture_of_slices_says_which_and_has_the_factors_of_the_tables(tap, synth, work):
    synth("a.gputap", "--calls", 3200, *NOISY, "--slow", "1:900:1")
    tap("diff", "a.gputap", "--baseline", "range=step#1..8", "--candidate", "range=step#9", "-o",
        "a.svg")
    text = (work / "a.svg").read_text()
    assert ">a.gputap, where range=step#1..8<" in text and ">a.gputap, where range=step#9<" in text
    synth("b.gputap", "--calls", 3200, *NOISY)
    tap("diff", "b.gputap", "a.gputap", "-o", "b.svg")
    assert re.search(r"<title>kernel_1</title>.*\n?.*>x\d+(\.\d+)?</text>",
                     (work / "b.svg").read_text())


def test_the_extension_says_the_format(tap, pair, work):
    for name, begin in (("a.json", "{"), ("a.csv", "table,"), ("a.md", "###"),
                        ("a.txt", "baseline")):
        tap("diff", "a.gputap", "b.gputap", "-o", name)
        assert (work / name).read_text().startswith(begin)


# Noise and changes ----------------------------------------------------------------

NOISY = ["--noise", 4, "--steps", 160]


def differing(document, *tables):
    return {row["name"] for table in tables for row in document[table]
            if row["verdict"] in ("slower", "faster")}


def test_runs_of_one_program_differ_by_noise_only(tap, synth):
    """Compare 20 pairs of captures with fixed seeds. One verdict may be wrong, because the
    significance level is 5 %."""
    alarms = 0
    for i in range(20):
        for name, seed in (("a", 2 * i), ("b", 2 * i + 1)):
            synth(f"{name}.gputap", "--calls", 3200, *NOISY, "--seed", seed)
        verdicts = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)["verdicts"]
        alarms += verdicts["slower"] + verdicts["faster"] > 0
    assert alarms <= 1


@pytest.mark.parametrize("slow, limit, status", [
    ("1:20", "15%", 1), ("1:20", "25%", 0), ("1:20:12000", "10%", 1), ("2:-30", "1%", 0)])
def test_a_slowdown_of_one_kernel_is_found_and_no_other(tap, synth, slow, limit, status):
    """The kernel is slower from the start, or from the tenth of forty steps on. A faster kernel
    does not fail a job."""
    synth("a.gputap", "--calls", 48000, "--noise", 4, "--steps", 1200, "--seed", 1)
    synth("b.gputap", "--calls", 48000, "--noise", 4, "--steps", 1200, "--seed", 2, "--slow", slow)
    document = json.loads(tap("diff", "a.gputap", "b.gputap", "--json", "--fail-over",
                              f"kernels:{limit}", status=status).out)
    assert differing(document, "kernels") == {f"kernel_{slow[0]}"}
    row = next(r for r in document["kernels"] if r["name"] == f"kernel_{slow[0]}")
    assert row["verdict"] == ("faster" if "-" in slow else "slower") and row["q"] <= 0.05
    truth = float(slow.split(":")[1]) / 100
    assert row["median_change_low"] < truth < row["median_change_high"]
    assert document["over_limit"] is bool(status) and row["over_limit"] == status


def test_a_few_slow_ones_that_take_much_time_are_shown_but_not_sworn_to(tap, synth):
    synth("a.gputap", "--calls", 3200, *NOISY)
    synth("b.gputap", "--calls", 3200, *NOISY, "--seed", 2, "--slow", "1:20000:3100")
    row = rows(tap("diff", "a.gputap", "b.gputap", "--json"), "kernels")["kernel_1"]
    assert row["verdict"] == "unsure" and abs(row["median_change"]) < .05 < row["mean_change"]
    out = tap("diff", "a.gputap", "b.gputap", "--fail-over", "5%").out
    assert " unsure (large changes that may be noise)" in re.sub(r"\s+", " ", out)
    assert re.search(r"x6\.\d+ \(mean\) .* unsure +kernel_1\n", out)
    assert "unsure" in tap("diff", "a.gputap", "b.gputap", "--markdown").out


@pytest.mark.parametrize("slow", ["1:5", "1:5:1600"])
def test_with_several_runs_a_side_five_percent_are_found(tap, synth, work, slow):
    for side, more in (("old", []), ("new", ["--slow", slow])):
        (work / side).mkdir()
        for i in range(4):
            synth(f"{side}/{i}.gputap", "--calls", 6400, *NOISY, "--seed",
                  i + 50 * (side == "new"), *more)
    document = json.loads(tap("diff", "old", "new", "--json").out)
    assert differing(document, "kernels") == {"kernel_1"}
    for limit, status in (("kernels:2%", 1), ("kernels:7%", 0)):
        tap("diff", "old", "new", "--fail-over", limit, status=status)


def test_runs_of_different_length_are_compared_by_step(tap, synth):
    synth("a.gputap", "--calls", 3200, *NOISY, "--seed", 1)
    synth("b.gputap", "--calls", 6400, *NOISY, "--seed", 2)
    row = rows(tap("diff", "a.gputap", "b.gputap", "--json"), "kernels")["kernel_0"]
    assert row["count_candidate"] > 1.9 * row["count_baseline"] and row["verdict"] == "more"
    result = tap("diff", "a.gputap", "b.gputap", "--per", "step", "--json")
    document = json.loads(result.out)
    assert document["per"] == "step"
    assert [document[side]["occurrences"] for side in ("baseline", "candidate")] == [20, 40]
    row = rows(result, "kernels")["kernel_0"]
    assert row["count_candidate"] == pytest.approx(row["count_baseline"], rel=0.02)
    assert row["verdict"] == "noise" and abs(row["mean_change"]) < 0.05
    text = tap("diff", "a.gputap", "b.gputap", "--per", "step").out
    assert "Counts and changes are per 'step': baseline 20, candidate 40." in text


def test_one_step_is_compared_with_the_others(tap, synth):
    """A kernel takes twice as long from the eleventh of twenty steps on."""
    synth("a.gputap", "--calls", 3200, *NOISY, "--slow", "1:100:1600")
    words = ["diff", "a.gputap", "--baseline", "range=step#1..9", "--json", "--candidate"]
    slow, usual = (json.loads(tap(*words, f"range=step#{n}").out) for n in (11, 10))
    assert slow["method"] == "occurrences" and slow["per"] == "step"
    assert [slow[side]["occurrences"] for side in ("baseline", "candidate")] == [9, 1]
    assert "kernel_1" in differing(slow, "kernels")
    assert "kernel_1" not in differing(usual, "kernels")
    row = next(r for r in slow["kernels"] if r["name"] == "kernel_1")
    assert row["verdict"] == "slower" and row["mean_change"] == pytest.approx(1, abs=0.25)


# Sides -------------------------------------------------------------------------------

def test_several_runs_a_side_are_named_by_vs_or_by_folders(tap, synth, work):
    for side in ("old", "new"):
        (work / side).mkdir()
        for i in range(2):
            synth(f"{side}/{i}.gputap", "--calls", 500, "--start", 1000 * i + 7)
    by_folder = json.loads(tap("diff", "old", "new/", "--json").out)
    by_name = json.loads(tap("diff", "old/0.gputap", "old/1.gputap", "--vs", "new/0.gputap",
                             "new/1.gputap", "--json").out)
    for document in (by_folder, by_name):
        assert document["method"] == "runs"
        assert [len(document[side]["runs"]) for side in ("baseline", "candidate")] == [2, 2]
        assert document["totals"][0]["verdict"] == "noise"
    said = tap("diff", "old", "new").out
    assert "are per run" in said
    records = sum(run["records"] for run in by_name["baseline"]["runs"])
    assert re.search(rf"synthetic .*, \S+ \S+ to \S+ \S+ on \S+, {records:,} records in all", said)


def test_idle_time_of_a_slice_is_that_of_its_causes(tap, synth):
    """Time in which activities of another slice ran within a slice is not idle time of that
    slice."""
    synth("a.gputap", "--calls", 3200, *NOISY)
    document = json.loads(tap("diff", "a.gputap", "--baseline", "range=step and not range=step#7",
                              "--candidate", "range=step#7", "--json").out)
    (idle,) = [r for r in document["devices"] if r["name"] == "device 0: idle"]
    for side in ("baseline", "candidate"):
        key = f"total_{side}_ns"
        assert idle[key] == pytest.approx(sum(r[key] or 0 for r in document["idle"]), abs=20)


def test_that_only_a_part_of_a_run_was_kept_is_said(tap, synth):
    whole = synth("a.gputap", "--calls", 3000)
    tap("export", whole, "-o", "b.gputap", "--where", "at=1ms..5ms")
    assert "Retained: a part: --where 'at=1ms..5ms'" in tap("diff", whole, "b.gputap").out
    document = json.loads(tap("diff", whole, "b.gputap", "--json").out)
    assert document["baseline"]["runs"][0]["part"] is None
    assert document["candidate"]["runs"][0]["part"].startswith("Retained: a part")


def test_files_of_ranks_are_one_run(tap, synth, work):
    for side in ("old", "new"):
        (work / side).mkdir()
        for rank in range(3):
            synth(f"{side}/{rank}.gputap", "--calls", 300, "--rank", rank, "--pid", 100 + rank,
                  "--host", f"node{rank}")
    document = json.loads(tap("diff", "old", "new", "--json").out)
    assert document["method"] == "blocks"
    assert [len(run["paths"]) for run in document["baseline"]["runs"]] == [3]
    assert {row["rank"] for row in document["ranks"]} == {0, 1, 2}
    kernels = json.loads(tap("diff", "old", "new", "--by", "rank", "--json").out)["kernels"]
    assert {row["rank"] for row in kernels} == {0, 1, 2}


def test_slices_of_one_capture_are_compared(tap, synth):
    synth("a.gputap", "--calls", 3000)
    document = json.loads(tap("diff", "a.gputap", "--baseline", "duration<=10us", "--candidate",
                              "duration>10us", "-w", "kind=kernel", "--json").out)
    assert document["baseline"]["where"] == "duration<=10us"
    assert document["where"] == "kind=kernel" and not document["operations"]
    assert all(row["verdict"] == "slower" for row in document["kernels"])
    assert all(row["median_baseline_ns"] <= 10000 < row["median_candidate_ns"]
               for row in document["kernels"])


@pytest.mark.parametrize("shape", ["--steps 100 --nested", "--steps 100 --waits --threads 2"])
@pytest.mark.parametrize("before, after, per", [
    # Steps cross both ends of these time ranges.
    ("at=20ms..60ms", "at=60ms..100ms", ["--per", "step"]),
    ("at=20ms..60ms", "at=60ms..100ms", []),
    ("range=step#3..20", "range=step#30..50", ["--per", "step"]),
    # The kernels are inside steps. The cut keeps these steps for --per, but does not count them.
    ("kind=kernel and at<100ms", "kind=kernel and at>100ms", ["--per", "step"])])
def test_cuts_of_a_capture_are_compared_as_its_slices_are(tap, synth, shape, before, after, per):
    synth("a.gputap", "--calls", 20000, *shape.split())
    tap("export", "a.gputap", "-o", "before.gputap", "-w", before)
    tap("export", "a.gputap", "-o", "after.gputap", "-w", after)
    whole = json.loads(tap("diff", "a.gputap", "--baseline", before, "--candidate", after, *per,
                           "--json").out)
    cuts = json.loads(tap("diff", "before.gputap", "after.gputap", *per, "--json").out)

    def figures(document):
        """Return the figures of both sides, without verdicts: a verdict depends on noise, which
        diff estimates from two captures for cuts and from one capture for slices."""
        tables = {t: v for t, v in document.items() if isinstance(v, list) and t != "idle"}
        return {(t, row["name"]): {k: v for k, v in row.items()
                                   if k.startswith(("count_", "total_", "median_baseline",
                                                    "median_candidate"))}
                for t, v in tables.items() for row in v}

    expected = figures(whole)
    if not before.startswith("at"):  # idle time between the selected activities is unknown
        del expected["devices", "device 0: idle"]
        assert not cuts["idle"]
    else:
        assert cuts["idle"] and len(cuts["idle"]) == len(whole["idle"])
    assert figures(cuts) == expected
    for side in ("baseline", "candidate"):
        assert cuts[side].get("occurrences") == whole[side].get("occurrences")
        assert not per or cuts[side]["occurrences"] > 15


# --fail-over -------------------------------------------------------------------------

@pytest.mark.parametrize("limit, status", [("5%", 1), ("5", 1), ("kernels:5%", 1),
                                           ("kernels:9999%", 0), ("copies:5%", 0),
                                           ("copies:5%,kernels:5%", 1), ("9999%", 0)])
def test_a_slowdown_over_the_limit_is_the_exit_status(tap, synth, limit, status):
    synth("a.gputap", "--calls", 3000)
    result = tap("diff", "a.gputap", "--baseline", "kind=kernel and duration<=10us or kind=memcpy",
                 "--candidate", "kind=kernel and duration>10us or kind=memcpy", "--fail-over",
                 limit, status=status)
    said = "got slower by more than the limit" if status else "no row got slower by more"
    assert f"--fail-over {limit}: " in result.out and said in re.sub(r"\s+", " ", result.out)


# Bad input ---------------------------------------------------------------------------

@pytest.mark.parametrize("words, status, says", [
    ([], 2, "no captures given"),
    (["a.gputap"], 2, "select two parts with --baseline EXPR and --candidate EXPR"),
    (["a.gputap", "b.gputap", "c.gputap"], 2, "3 captures given: put --vs before"),
    (["a.gputap", "--vs"], 2, "at least one on each side"),
    (["a.gputap", "a.gputap"], 2, "both sides are a.gputap: name a second run"),
    (["a.gputap", "./a.gputap", "--vs", "b.gputap"], 2, "is given twice: name each run once"),
    (["a.gputap", "gone.gputap"], 3, "No such file"),
    (["a.gputap", "text"], 3, "is not a gputap capture"),
    (["a.gputap", "empty"], 3, "empty contains no .gputap file"),
    (["a.gputap", "b.gputap", "-w", "name=xyz"], 3, "'name=xyz' matches no record of a.gputap"),
    (["a.gputap", "b.gputap", "--per", "step"], 3, "--per step: no such range"),
    (["a.gputap", "b.gputap", "-t", "kernel"], 2, "did you mean 'kernels'?"),
    (["a.gputap", "b.gputap", "--fail-over", "much"], 2, "--fail-over needs a limit"),
    (["a.gputap", "b.gputap", "--fail-over", "kernel:5%"], 2, "did you mean 'kernels'?"),
    (["a.gputap", "b.gputap", "--noise", "x"], 2, "--noise needs a percentage"),
    (["a.gputap", "b.gputap", "--json", "--csv"], 2, "choose one"),
    (["a.gputap", "b.gputap", "--fail-over", ""], 2, "--fail-over needs a limit"),
])
def test_what_cannot_be_done_is_said_in_a_sentence(tap, pair, work, words, status, says):
    (work / "empty").mkdir()
    (work / "text").write_text("no capture at all, just some text that is long enough " * 3)
    result = tap("diff", *words, status=status)
    assert says in result.err and result.out == ""


def test_copies_of_a_capture_are_one_run(tap, pair, work):
    (work / "c.gputap").write_bytes((work / "a.gputap").read_bytes())
    for words in (["a.gputap", "c.gputap"], ["a.gputap", "c.gputap", "--vs", "b.gputap"]):
        err = tap("diff", *words, status=3).err
        assert err == ("gputap diff: a.gputap and c.gputap are copies of one capture: name each "
                       "run once\n")


def test_a_lambda_of_another_number_is_the_same_kernel(tap, synth):
    synth("a.gputap", "--calls", 800, "--kernels", 1, "--names", "lambda:2")
    synth("b.gputap", "--calls", 800, "--kernels", 1, "--names", "lambda:5")
    row, = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)["kernels"]
    assert row["name_baseline"] == "run<f()::{lambda(int)#2}>"
    assert row["name"] == "run<f()::{lambda(int)#5}>" and row["verdict"] == "noise"
    text = tap("diff", "a.gputap", "b.gputap").out
    said = re.sub(r"\s+", " ", text)
    assert "1 kernel name differs only in numbers chosen by a compiler" in said


def test_where_several_lambdas_are_alike_nothing_is_guessed(tap, synth):
    synth("a.gputap", "--calls", 800, "--kernels", 2, "--names", "lambda:2")
    synth("b.gputap", "--calls", 800, "--kernels", 2, "--names", "lambda:5")
    found = json.loads(tap("diff", "a.gputap", "b.gputap", "--json").out)["kernels"]
    assert sorted(row["verdict"] for row in found) == ["gone", "gone", "new", "new"]


def test_what_was_recorded_otherwise_is_said(tap, pair, synth, build):
    synth("tricky.gputap", "--calls", 3000, "--names", "tricky")
    out = re.sub(r"\s+", " ", tap("diff", "a.gputap", "tricky.gputap").out)
    assert 'Devices differ: baseline: Synthetic device; candidate: Synthetic "Dev\\ice"' in out
    assert "Devices differ" not in tap("diff", "a.gputap", "b.gputap").out
    assert "Devices differ" in tap("diff", "a.gputap", "tricky.gputap", "--markdown").out
    tap("run", "-q", "-o", "all.gputap", build / "examples/steps")
    tap("run", "-q", "-m", "standard", "-o", "standard.gputap", build / "examples/steps")
    out = re.sub(r"\s+", " ", tap("diff", "all.gputap", "standard.gputap").out)
    assert "Recording differs: baseline: all; candidate: mode standard (" in out


@pytest.mark.parametrize("option", ["--where", "--baseline", "--candidate"])
def test_a_wrong_expression_gets_a_caret(tap, pair, option):
    err = tap("diff", "a.gputap", "b.gputap", option, "name=x and (kind=memcpy", status=2).err
    lines = err.splitlines()
    assert lines[0].startswith(f"gputap diff: {option}: ") and lines[2].strip() == "^"


def test_captures_with_nothing_in_common_are_not_compared(tap, synth):
    synth("a.gputap", "--calls", 100)
    result = tap("diff", "a.gputap", "--baseline", "name=kernel_0", "--candidate", "name=kernel_1",
                 status=3)
    assert "nothing in common" in result.err and result.out == ""


def test_a_damaged_capture_is_compared_as_far_as_it_goes_and_fails(tap, pair, work):
    data = (work / "b.gputap").read_bytes()
    (work / "b.gputap").write_bytes(data[:len(data) * 2 // 3])
    result = tap("diff", "a.gputap", "b.gputap", status=3)
    assert "Damaged or incomplete input" in result.out
    assert not json.loads(tap("diff", "a.gputap", "b.gputap", "--json",
                              status=3).out)["candidate"]["complete"]


def test_one_that_is_no_capture_is_left_out_among_others(tap, synth, work):
    for name in "abc":
        synth(f"{name}.gputap", "--calls", 100, "--start", ord(name))
    (work / "c.gputap").write_bytes(b"no capture, but long enough to be read as one" * 9)
    result = tap("diff", "a.gputap", "c.gputap", "--vs", "b.gputap", status=3)
    assert "left out: c.gputap" in result.err and "baseline" in result.out


def test_a_capture_without_records_is_refused(tap, pair, synth):
    synth("none.gputap", "--calls", 0)
    result = tap("diff", "a.gputap", "none.gputap", status=3)
    assert "none.gputap has no records: nothing to compare" in result.err


def test_only_a_terminal_gets_colours(tap, gputap, synth):
    synth("a.gputap", "--calls", 3200, "--noise", 4, "--seed", 1)
    synth("b.gputap", "--calls", 3200, "--noise", 4, "--seed", 2, "--slow", "1:50")
    words = ["diff", "a.gputap", "b.gputap", "-t", "kernels"]
    plain = tap(*words, env={"TERM": "xterm", "COLUMNS": 100}).out
    colours = on_terminal([gputap, *words])
    assert "\x1b[31mslower\x1b[0m" in colours and "\x1b" not in plain
    assert re.sub("\x1b\\[\\d*m", "", colours) == plain


# A machine with other users -------------------------------------------------------------

def test_what_others_took_of_the_processors_is_noise_of_one_run(tap, synth):
    for name, slow, others in (("a.gputap", 0, 0), ("b.gputap", 40, 0), ("c.gputap", 40, 50),
                               ("d.gputap", 400, 50)):
        synth(name, "--calls", 9600, "--noise", 4, "--slow", f"1:{slow}", "--others", others,
              "--device-type", "cpu")

    def verdict(after, *options):
        result = tap("diff", "a.gputap", after, *options, "--json")
        return rows(result, "kernels")["kernel_1"]["verdict"], json.loads(result.out)["noise"]
    assert verdict("b.gputap") == ("slower", 0.02)
    assert verdict("c.gputap") == ("noise", 1)
    assert verdict("d.gputap") == ("slower", 1)
    assert verdict("c.gputap", "--noise", "3%") == ("slower", 0.03)
    out = re.sub(r"\s+", " ", tap("diff", "a.gputap", "c.gputap").out)
    assert "Other programs used 50% of the processors' time during a run" in out
    assert "slow everything by a factor of 2" in out
    tap("diff", "a.gputap", "c.gputap", "--fail-over", "5%")
    for name, slow, others in (("a.gputap", 0, 0), ("c.gputap", 40, 50)):
        synth(name, "--calls", 9600, "--noise", 4, "--slow", f"1:{slow}", "--others", others)
    assert verdict("c.gputap") == ("slower", 1)  # kernels do not wait for processors


def test_what_others_took_is_no_noise_of_several_runs(tap, synth):
    for i in range(4):
        synth(f"{i}.gputap", "--calls", 9600, "--noise", 4, "--seed", i, "--slow",
              f"1:{40 * (i > 1)}", "--others", 50, "--device-type", "cpu")
    result = tap("diff", "0.gputap", "1.gputap", "--vs", "2.gputap", "3.gputap", "--json")
    assert rows(result, "kernels")["kernel_1"]["verdict"] == "slower"


def test_a_run_says_what_others_took_of_its_processors(tap, gputap, run, synth):
    """Trace a program that sleeps while another program keeps their only processor busy."""
    processor = str(min(os.sched_getaffinity(0)))
    busy = subprocess.Popen(["taskset", "-c", processor, sys.executable, "-c",
                             "while True: pass"])
    try:
        run(["taskset", "-c", processor, gputap, "run", "-q", "-o", "a.gputap", "--",
             "sleep", "1"])
    finally:
        busy.kill()
        busy.wait()
    info = json.loads(tap("info", "a.gputap", "--json").out)
    assert info["processors"] == 1 and info["load_of_others"] > 0.6
    assert re.search(r"load +\d+% of 1 processor by the program, \d+% by others",
                     tap("info", "a.gputap").out)
    synth("b.gputap")
    assert json.loads(tap("info", "b.gputap", "--json").out)["load_of_others"] is None


def test_much_time_of_few_values_is_shown(tap, synth):
    """One step is compared with another. The difference may be noise, but diff shows which kernel
    took the time."""
    synth("a.gputap", "--calls", 800, "--noise", 4, "--steps", 20, "--slow", "2:900:400")
    out = tap("diff", "a.gputap", "--baseline", "range=step#2", "--candidate", "range=step#39").out
    assert re.search(r"too few +kernel_2", out)


def test_an_interval_that_says_nothing_has_no_digits(tap, synth):
    for name, seed in (("a.gputap", 0), ("b.gputap", 3)):
        synth(name, "--calls", 400, "--noise", 300, "--seed", seed)
    said = tap("diff", "--noise", "999%", "-t", "kernels", "a.gputap", "b.gputap").out
    assert "<-99%..>x100" in said
    assert all(abs(float(end)) < 100 for end in re.findall(r"\.\.x([\d.]+)", said))
