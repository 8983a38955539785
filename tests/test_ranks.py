# SPDX-License-Identifier: MIT
"""Test the ranks of a job: tables of reports, and which rank waits for which other rank."""
import csv
import json

import mpi_jobs
import pytest

from consumers import perfetto

SIZE, LATE, LATE_NS, CALLS = 4, 2, 2_000_000, 80
JITTER_NS = 20_000


@pytest.fixture
def job(run, build, work):
    """Return a function: job(...) writes one capture per rank of a job with two ranks per host."""
    def write(*options, size=SIZE, hosts=1, skew=0):
        names = []
        for rank in range(size):
            host = rank * hosts // size
            names.append(f"r{rank}.gputap")
            run([build / "tests/synth/synth", "--calls", CALLS * 100, "--job", size, "--rank",
                 rank, "--host", f"node{host}", "--boot", f"{host}1111111-2222-3333-4444-55555",
                 "--start", 10**9 + host * 5 * 10**10, "--realtime-offset",
                 17 * 10**17 - host * 5 * 10**10 + host * skew, "--pid", 4000 + rank * 10,
                 *options, "-o", names[-1]])
        return names
    return write


def report(tap, *words):
    return json.loads(tap("report", *words, "--json", "--top", "0").out)


def ranks(found):
    return {row["rank"]: row for row in found["ranks"]}


def test_the_rank_that_comes_late_is_named_with_what_it_costs(tap, job):
    files = job("--late-rank", LATE, "--late-by", LATE_NS)
    found = report(tap, *files, "-t", "ranks,rank_spread,rank_waits")
    rows = ranks(found)
    assert sorted(rows) == list(range(SIZE)) and found["ranks"][0]["rank"] == LATE
    assert [rows[LATE][key] for key in ("last", "compared", "wait_ns")] == [CALLS, CALLS, 0]
    for rank in rows.keys() - {LATE}:
        assert CALLS * LATE_NS <= rows[rank]["wait_ns"] <= CALLS * (LATE_NS + JITTER_NS)
        assert rows[rank]["caused_ns"] == rows[rank]["last"] == 0
        assert rows[rank]["wait_ns"] < rows[rank]["collective_ns"] <= rows[rank]["call_ns"]
    assert rows[LATE]["caused_ns"] == sum(row["wait_ns"] for row in rows.values())
    spread = {row["what"]: row for row in found["rank_spread"]}
    assert spread["others waited for it"]["max_rank"] == LATE
    assert spread["waited for others"]["min_rank"] == LATE
    pairs = {(row["rank"], row["for_rank"]): row for row in found["rank_waits"]}
    assert set(pairs) == {(rank, LATE) for rank in rows.keys() - {LATE}}
    assert all(pairs[rank, LATE]["wait_ns"] == rows[rank]["wait_ns"] for rank, _ in pairs)


def test_where_nobody_is_late_all_are_last_in_turn(tap, job):
    rows = ranks(report(tap, *job(), "-t", "ranks"))
    assert {row["last"] for row in rows.values()} == {CALLS // SIZE}


def test_people_read_one_sentence(tap, job):
    out = tap("report", *job("--late-rank", LATE, "--late-by", LATE_NS), "-t", "ranks",
              env={"COLUMNS": "80"}).out
    assert (f"Ranks: rank {LATE} on node0 made others wait longest: 482 ms in all, as the last to"
            ) in out.replace("\n  ", " ")
    assert all(len(line) <= 80 for line in out.splitlines())


def test_devices_of_each_rank_are_busy_and_idle(tap, job):
    found = report(tap, *job(), "-t", "ranks,devices", "--by", "rank")
    rows, devices = ranks(found), {row["rank"]: row for row in found["devices"]}
    for rank, row in rows.items():
        assert row["busy_ns"] == devices[rank]["busy_ns"] > 0
        assert row["idle_ns"] == devices[rank]["idle_ns"] > 0


def test_missing_records_are_not_compared(tap, job, run, build):
    """Rank 1 lacks one call at the end, and rank 3 has no records."""
    files = job()
    run([build / "tests/synth/synth", "--calls", CALLS * 50, "--job", SIZE, "--rank", 1, "--every",
         "100", "--host", "node0", "--boot", "01111111-2222-3333-4444-55555", "--pid", 4010, "-o",
         files[1]])
    rows = ranks(report(tap, *files, "-t", "ranks"))
    assert {row["compared"] for row in rows.values()} == {CALLS // 2}


def test_one_rank_alone_has_no_table(tap, job):
    files = job(size=1)
    assert report(tap, *files)["ranks"] == [] and "Ranks" not in tap("report", *files).out


def test_where_no_process_has_a_rank_by_rank_says_so(tap, run, build, work):
    run([build / "tests/synth/synth", "--calls", "100", "-o", "a.gputap"])
    said = "No launcher assigned ranks"
    assert said in tap("report", "a.gputap", "--by", "rank").out
    assert said not in tap("report", "a.gputap", "--by", "host").out


def test_rows_by_rank_and_by_host(tap, job):
    files = job(hosts=2)
    by_rank = report(tap, *files, "--by", "rank")
    assert sorted({row["rank"] for row in by_rank["operations"]}) == [0, 1, 2, 3]
    by_host = report(tap, *files, "-t", "kernels", "--by", "host")["kernels"]
    assert sorted(row["host"] for row in by_host) == ["node0", "node1"]
    both = report(tap, *files, "-t", "kernels,copies", "--by", "rank,host")
    assert sorted((row["host"], row["rank"]) for row in both["kernels"]) == [
        ("node0", 0), ("node0", 1), ("node1", 2), ("node1", 3)]
    whole = sum(row["count"] for row in report(tap, *files, "-t", "kernels")["kernels"])
    assert sum(row["count"] for row in by_host) == whole


def test_ranks_beside_each_other_are_one_screen(tap, job):
    files = job(size=12)
    out = tap("report", *files, "--by", "rank", env={"COLUMNS": 80}).out
    assert out.count("\n") < 50 and "made others wait longest" in out
    assert "\nOperations" not in out and "\nKernels" not in out
    rest = " ".join(out.split()).split("More tables that can be split the same way: -t ")[1]
    assert "kernels" in rest.split(",")
    kernels = tap("report", *files, "--by", "rank", "-t", "kernels", env={"COLUMNS": 80}).out
    assert "\nKernels" in kernels and "split the same way" not in kernels
    operations = tap("report", *files, "--by", "name,rank").out
    assert "\nOperations" in operations


def test_a_table_that_has_nothing_is_not_shown_by_rank(tap, job):
    assert "none" not in tap("report", *job(), "--by", "rank").out


@pytest.mark.parametrize("kind", sorted(mpi_jobs.KINDS))
def test_a_real_job_is_compared_over_its_communicators(tap, work, kind):
    if not mpi_jobs.library_of(kind):
        pytest.skip(f"needs {mpi_jobs.KINDS[kind][0]}")
    program = mpi_jobs.build(kind, work, "steps")
    tap("run", "-q", "-o", "job.gputap", *mpi_jobs.launcher(kind, SIZE), program, 10, LATE, 50,
        env={"TMPDIR": str(work)})
    rows = ranks(report(tap, "job.gputap", "-t", "ranks"))
    # split and dup, then two barriers, an allreduce on half of the ranks, and a broadcast per step
    assert {row["compared"] for row in rows.values()} == {2 + 10 * 4}
    assert rows[LATE]["caused_ns"] > 0


# Clocks -----------------------------------------------------------------------

SKEW_NS = 3_000_000  # error of the second host's wall clock


def sessions(tap, files):
    tap("merge", *files, "-o", "job.gputap")
    return json.loads(tap("info", "job.gputap", "--json").out)["sessions"]


def test_clocks_of_two_hosts_are_aligned_by_what_they_did_together(tap, job):
    """Without drift the correct result is known exactly: all clocks started at the same time."""
    found = sessions(tap, job(hosts=2, skew=SKEW_NS))
    assert [s["clock"] for s in found] == ["boot", "boot", "collectives", "collectives"]
    for session in found[2:]:
        error = abs(session["shift_ns"] + 5 * 10**10)
        assert error <= session["uncertainty_ns"] + 500 < JITTER_NS


def test_without_calls_of_all_wall_clocks_are_left(tap, job):
    found = sessions(tap, job("--every", 10**9, hosts=2, skew=SKEW_NS))
    assert [s["clock"] for s in found] == ["boot", "boot", "wall clock", "wall clock"]
    assert found[2]["shift_ns"] == SKEW_NS - 5 * 10**10


@pytest.mark.parametrize("ppm", [-80, 80])
def test_clocks_that_run_apart_stay_together(tap, job, run, build, ppm):
    """80 ppm over 8 s are 640 us, which would be visible in the waits."""
    files = []
    for rank in range(SIZE):
        host = rank // 2
        files.append(f"d{rank}.gputap")
        run([build / "tests/synth/synth", "--calls", CALLS * 100, "--period", 10**8, "--job", SIZE,
             "--rank", rank, "--host", f"node{host}", "--boot", f"{host}1111111-2222", "--start",
             10**9 + host * 5 * 10**10, "--realtime-offset", 17 * 10**17 - host * 5 * 10**10,
             "--drift", host * ppm, "--pid", 4000 + rank * 10, "-o", files[-1]])
    assert max(s["uncertainty_ns"] or 0 for s in sessions(tap, files)) < JITTER_NS
    rows = ranks(report(tap, *files, "-t", "ranks"))
    for row in rows.values():
        assert abs(row["last"] - CALLS // SIZE) <= 4
        assert row["wait_ns"] < CALLS * JITTER_NS


def test_a_host_that_is_always_late_is_placed_by_the_returns(tap, job):
    """The bounds on the clock offset are 2 ms apart. The reported uncertainty reflects this
    distance, although the actual error is below 1 us."""
    files = job("--late-rank", LATE, "--late-by", LATE_NS, hosts=2, skew=SKEW_NS)
    found = sessions(tap, files)
    assert LATE_NS / 4 < found[2]["uncertainty_ns"] < LATE_NS + 2 * JITTER_NS
    assert abs(found[2]["shift_ns"] + 5 * 10**10) < 1000
    rows = ranks(report(tap, *files, "-t", "ranks"))
    for rank in rows.keys() - {LATE}:
        assert abs(rows[rank]["wait_ns"] / CALLS - LATE_NS) < JITTER_NS + 1000


def test_each_command_says_how_well_clocks_agree(tap, job):
    err = tap("report", *job(hosts=2), "-t", "ranks").err
    assert "2 sessions ran on another machine or boot than r0.gputap: aligned by the" in err
    assert "collective calls that they made together, within" in err.replace("\n  ", " ")


# Many -------------------------------------------------------------------------

def test_many_captures_are_one_screen_and_few_descriptors(gputap, run, build, work):
    """320 captures are read with a limit of 290 open files. The head does not have a line for each
    capture."""
    for rank in range(320):
        run([build / "tests/synth/synth", "--calls", 200, "--job", 320, "--rank", rank, "--host",
             f"node{rank // 80}", "--late-rank", 317, "--late-by", LATE_NS, "--pid",
             4000 + rank * 10, "--kernels", 1, "-o", f"r{rank:03}.gputap"])
    out = run(["sh", "-c", f"ulimit -n 290; exec {gputap} report r*.gputap -t"
               " ranks,rank_spread,rank_waits"], env={"COLUMNS": "80"}).out
    lines = out.splitlines()
    assert len(lines) < 50 and all(len(line) <= 80 for line in lines)
    assert lines[0] == "320 sessions; the first: r000.gputap: synthetic --size 42"
    assert "All sessions: longest" in lines[2] and "on 4 hosts, 320 processes" in lines[2]
    assert "Ranks: rank 317 on node3 made others wait longest" in out
    assert ".. and 310 more (--top 0 shows all)" in out


def test_of_many_captures_those_that_are_cut_are_named(tap, job):
    files = job(size=12)
    with open(files[5], "r+b") as cut:
        cut.truncate(100_000)
    out = tap("report", *files, "-t", "ranks", status=1).out
    assert "r5.gputap: " in out and "r4.gputap" not in out
    assert "The capture has no end" in out



def test_exports_name_ranks_and_hosts_and_sort_by_rank(tap, job):
    """The captures are passed from the last rank to the first."""
    tap("export", *reversed(job(hosts=2)), "-o", "job.json")
    found = json.load(open("job.json"))["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}
    order = {e["pid"]: e["args"]["sort_index"] for e in found if e["name"] == "process_sort_index"}
    ranks = [names[pid] for pid in sorted(names, key=order.get) if "rank" in names[pid]]
    assert ranks == [f"synthetic (rank {rank}, node{rank // 2})" for rank in range(SIZE)]


def test_perfetto_has_processes_in_the_order_of_their_ranks(tap, job):
    tap("export", *reversed(job(hosts=2)), "-o", "job.pftrace")
    rows = perfetto.ask("job.pftrace", names="select name from process where name glob '*rank*' "
                        "order by upid", complaints=perfetto.COMPLAINTS)
    assert [r["name"] for r in rows["names"]] == [
        f"synthetic (rank {rank}, node{rank // 2})" for rank in range(SIZE)]
    assert rows["complaints"] == []


def test_devices_of_several_hosts_are_named_with_them(tap, job):
    rows = json.loads(tap("report", *job(hosts=2), "--timeline", "--json").out)["rows"]
    assert {r["group"] for r in rows if r["kind"] in ("device", "queue")} == {
        f"device {i}: Synthetic device (node{i})" for i in (0, 1)}
    rows = json.loads(tap("report", *job(), "--timeline", "--json").out)["rows"]
    assert {r["group"] for r in rows if r["kind"] in ("device", "queue")} == {
        "device 0: Synthetic device"}


def test_pictures_have_the_threads_numbers_of_their_own_hosts(tap, job):
    rows = json.loads(tap("report", *job(hosts=2), "--timeline", "--json").out)["rows"]
    assert {(r["group"], r["label"]) for r in rows if r["kind"] == "thread"} == {
        (f"synthetic (rank {rank}, node{rank // 2}), pid {4000 + rank * 10}",
         f"worker {4001 + rank * 10}") for rank in range(SIZE)}


def test_time_in_kernels_of_collectives_is_told_of_each_rank(tap, job):
    files = job("--kernel-name", "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
    kernels = {row["rank"]: row for row in report(tap, *files, "-t", "kernels", "--by", "rank")[
        "kernels"]}
    found = report(tap, *files, "-t", "ranks,rank_spread")
    for rank, row in ranks(found).items():
        assert row["kernel_ns"] == kernels[rank]["total_ns"] > 0
        assert row["kernels"] == kernels[rank]["count"]
    assert "in kernels of collectives" in {row["what"] for row in found["rank_spread"]}
    assert all(row["kernels"] == 0 for row in ranks(report(tap, *job(), "-t", "ranks")).values())


# Captures that start at different calls -----------------------------------------------------

RANK_VARIABLES = {"mpich": "PMI_RANK", "openmpi": "OMPI_COMM_WORLD_RANK"}


@pytest.mark.parametrize("kind", sorted(mpi_jobs.KINDS))
def test_ranks_that_are_recorded_from_different_calls_are_matched_by_time(tap, work, build, kind):
    if not mpi_jobs.library_of(kind):
        pytest.skip(f"needs {mpi_jobs.KINDS[kind][0]}")
    steps, late_ms, size = 16, 40, 3
    program = mpi_jobs.build(kind, work, "windows")
    tap("run", "-q", "-o", "job.gputap", *mpi_jobs.launcher(kind, size), program,
        build / "libgputap.so.0", RANK_VARIABLES[kind], steps, LATE, late_ms,
        env={"TMPDIR": str(work)})
    calls = {(row["rank"], row["name"]): row["calls"] for row in report(
        tap, "job.gputap", "-t", "operations", "--by", "rank,name")["operations"]}
    found = report(tap, "job.gputap", "-t", "ranks,rank_waits")
    assert [calls[rank, "MPI_Barrier"] for rank in range(size)] == [
        steps, steps - 2, steps - 4]
    assert calls[1, "MPI_Comm_dup"] == 1 and (1, "MPI_Init") not in calls
    rows = ranks(found)
    # each step that all ranks recorded has a barrier and an allreduce; the dup is not compared,
    # because it stands alone before a gap
    assert {row["compared"] for row in rows.values()} == {2 * (steps - 4)}
    waits = {(row["rank"], row["for_rank"]): row["wait_ns"] for row in found["rank_waits"]}
    for rank in (0, 1):
        assert (steps - 4) * (late_ms - 2) * 1e6 * 0.2 < waits[rank, LATE]
    assert waits.get((LATE, 0), 0) < waits[0, LATE]


def test_a_slice_is_matched_by_time_too(tap, job):
    files = job("--late-rank", LATE, "--late-by", LATE_NS)
    whole = report(tap, *files, "-t", "ranks")["ranks"]
    assert whole
    rows = ranks(report(tap, *files, "-t", "ranks", "--where", "at>3ms"))
    for rank in rows.keys() - {LATE}:
        assert rows[rank]["compared"] and rows[rank]["caused_ns"] == 0
        assert rows[rank]["wait_ns"] >= rows[rank]["compared"] * LATE_NS


# Two hosts ------------------------------------------------------------------------------------

APART_NS = 5000 * 10**9  # difference between the two hosts' CLOCK_BOOTTIME
OTHER_HOST = ["unshare", "--time", "--uts", "--boottime", 5000, "--monotonic", 3000, "--fork", "sh",
              "-c", 'hostname other; exec "$@"', "sh"]


@pytest.fixture
def other_host(run):
    """Return the words before a command that run it on a host that has another name and started
    earlier."""
    if run([*OTHER_HOST, "true"], status=None).status:
        pytest.skip("needs the right to make namespaces of time and names")
    return OTHER_HOST


def test_two_hosts_that_share_nothing_are_aligned_by_wall_clocks(tap, run, gputap, build, work,
                                                                other_host):
    run([gputap, "run", "-q", "-o", "here.gputap", build / "examples/demo"])
    run([*other_host, gputap, "run", "-q", "-o", "there.gputap", build / "examples/demo"])
    found = sessions(tap, ["here.gputap", "there.gputap"])
    assert [s["host"] == "other" for s in found] == [False, True]
    assert [s["clock"] for s in found] == ["boot", "wall clock"]
    assert abs(found[1]["shift_ns"] + APART_NS) < 10**6  # both hosts share one wall clock
    err = tap("report", "--all", "here.gputap", "there.gputap").err
    assert "aligned by wall clocks (CLOCK_REALTIME), which moved by" in err.replace("\n  ", " ")


@pytest.mark.parametrize("kind", ["mpich"])
def test_a_job_on_two_hosts_is_aligned_by_its_collective_calls(tap, run, gputap, work, kind,
                                                               other_host):
    if not mpi_jobs.library_of(kind):
        pytest.skip(f"needs {mpi_jobs.KINDS[kind][0]}")
    program = mpi_jobs.build(kind, work, "steps")
    words = " ".join(f"'{word}'" if " " in str(word) else str(word) for word in other_host)
    run([*mpi_jobs.launcher(kind, 2), "sh", "-c",
         f'if [ "$PMI_RANK" = 1 ]; then exec {words} "$@"; fi; exec "$@"', "sh", gputap, "run",
         "-q", "-o", "r%r.gputap", program, 60], env={"TMPDIR": str(work)}, timeout=100)
    found = sessions(tap, ["r0.gputap", "r1.gputap"])
    assert [s["clock"] for s in found] == ["boot", "collectives"]
    # the times of the session that started later are converted to the clock of the other session
    moved, apart_ns = ("r1.gputap", APART_NS) if found[1]["host"] == "other" else (
        "r0.gputap", -APART_NS)
    spans = []
    for files in ([moved], ["r0.gputap", "r1.gputap"]):
        tap("export", "-f", *files, "-o", "job.csv")
        with open("job.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["operation"] == "MPI_Allreduce"]
        process = str(len(files) - 1)  # process number of the second session
        spans.append([int(row["start_ns"]) for row in rows if row["process"] == process])
    errors = [abs(b - a + apart_ns) for a, b in zip(*spans)]
    assert len(errors) == 60
    assert max(errors) <= found[1]["uncertainty_ns"] + 1000


def test_captures_of_a_slice_on_hosts_without_a_common_clock_are_not_guessed(tap, job):
    """The first calls, which would have aligned the clocks, are missing."""
    cut = []
    for file in job("--late-rank", LATE, "--late-by", LATE_NS, hosts=2):
        cut.append("cut-" + file)
        tap("export", file, "--where", "at>3ms", "-o", cut[-1])
    rows = ranks(report(tap, *cut, "-t", "ranks"))
    assert {row["compared"] for row in rows.values()} == {None}
    out = " ".join(tap("report", *cut, "-t", "ranks").out.split())
    assert "later calls are ambiguous and not compared" in out
