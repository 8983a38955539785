# SPDX-License-Identifier: MIT
"""Test the summary that a capture stores: reports made from it equal reports made from all records,
and it is ignored whenever it might not describe the records.

GPUTAP_GOLDEN=1 rewrites tests/golden/old/summary-0.1.gputap after a new STORED_SUMMARY_VERSION."""

import fcntl
import json
import os
import re
import shutil
import signal
import struct

import pytest

from gputap_file import END, INDEX, STREAM, SUMMARY, SUMMARY_HEAD, blocks_of, mend_head, put_payload
from processes import Tree, child_of, finish, sessions_of, tally, wait_until

TABLES = ("kernels,copies,other,operations,ranges,failures,devices,idle,latency,processes,threads,"
          "loss")


@pytest.fixture
def synth(run, build, work):
    def make(*options, out="a.gputap"):
        run([build / "tests/synth/synth", *options, "-o", out])
        return out
    return make


@pytest.fixture
def answers(tap):
    """Return a function: answers(path) returns the first screen, and all tables that can be made
    from a stored summary, as text, JSON and CSV."""
    def read(*options, status=0):
        return [re.sub(r'"bytes": \d+,\n      "bad_bytes"', "",
                       tap("report", *options, *form, status=status).out)
                for form in ([], ["--full-names"], ["-t", TABLES], ["-t", TABLES, "--json"],
                             ["-t", TABLES, "--csv"], ["-t", "kernels", "--json"])]
    return read


@pytest.fixture
def store(tap):
    def call(path):
        return tap("report", path, "--store-summary").out
    return call


@pytest.fixture
def stored(synth, store):
    """Return a capture with a stored summary."""
    path = synth("--calls", "4000", "--threads", "2", "--devices", "2", "--steps", "50", "--nested",
                 "--failed")
    store(path)
    return path


@pytest.fixture
def tree(build, work):
    return Tree(build)


def has_summary(path):
    return SUMMARY in [b.type for b in blocks_of(path.read_bytes())]


def damage_stream(path):
    """Damage a payload that only reading the records reveals."""
    data = bytearray(path.read_bytes())
    data[[b for b in blocks_of(data) if b.type == STREAM][0].payload_at + 20] ^= 255
    path.write_bytes(data)


def change_summary(path, change):
    """Let @change modify the fields in the head of the summary."""
    data = bytearray(path.read_bytes())
    block = next(b for b in blocks_of(data) if b.type == SUMMARY)
    fields = list(SUMMARY_HEAD.unpack_from(block.payload))
    change(fields)
    put_payload(data, block, SUMMARY_HEAD.pack(*fields) + block.payload[SUMMARY_HEAD.size:])
    path.write_bytes(data)


@pytest.mark.parametrize("options", [
    "--calls 8",
    "--calls 0",
    "--calls 3000 --threads 3 --devices 2 --queues 3 --kernels 40 --nested --failed --steps 60",
    "--calls 2000 --threads 2 --processes 3 --devices 2 --external --events --drops",
    "--calls 2000 --compress --layered --waits",
    "--calls 1500 --graphs --device-clock timer",
    "--calls 1500 --device-clock offset --overlap --late",
    "--calls 1500 --plain --names tricky --lose 7",
    "--calls 1200 --phases 30 --gap 500000",
    "--calls 2000 --steps 40 --noise 20 --slow 20,4,2",
    "--calls 1000 --dense --threads 4 --processes 2 --device-type cpu",
    "--calls 1000 --crash --nested",
])
def test_a_report_of_the_stored_summary_equals_one_of_all_records(synth, store, answers, options):
    path = synth(*options.split())
    before = answers(path)
    assert store(path) == before[0]
    assert answers(path) == before
    assert answers(path, "--read-records") == before
    assert store(path) == before[0]


@pytest.mark.parametrize("options", [["--steps", "20"], ["--job", "4", "--late-rank", "2"]])
def test_the_ranks_of_a_job_are_the_same(synth, store, answers, tap, options):
    files = [synth("--calls", "2000", *options, "--rank", str(rank), "--pid", str(5000 + rank),
                   "--host", f"node{rank % 2}", out=f"r{rank}.gputap") for rank in range(4)]
    tap("merge", *files, "-o", "job.gputap")
    before = answers("job.gputap")
    store("job.gputap")
    assert answers("job.gputap") == before == answers("job.gputap", "--read-records")


@pytest.mark.parametrize("name", ["hip", "opencl", "ranges"])
def test_captures_of_real_programs_give_the_same_answers(repo, store, answers, work, name):
    """The summary is appended to a capture of an earlier format."""
    (work / "a.gputap").write_bytes((repo / f"tests/golden/old/{name}-0.1.gputap").read_bytes())
    before = answers("a.gputap")
    store("a.gputap")
    assert answers("a.gputap") == before == answers("a.gputap", "--read-records")


def test_the_summary_is_used(synth, store, tap, work):
    """Opening a capture reads some blocks, to determine the clocks. Damage in any other block is
    noticed only by a report that reads the records."""
    path = work / synth("--calls", "4000", "--threads", "4", "--flush-bytes", "20000")
    before = store(path)
    data = path.read_bytes()
    unnoticed = 0
    for block in [b for b in blocks_of(data) if b.type == STREAM]:
        damaged = bytearray(data)
        damaged[block.payload_at + 20] ^= 255
        path.write_bytes(damaged)
        result = tap("report", path, status=None)
        assert (result.status == 0) == (result.out == before)
        unnoticed += result.status == 0
        assert tap("report", path, "--read-records", status=1).out != before
    assert unnoticed


@pytest.mark.parametrize("options", [
    ["--all"], ["--where", "duration>1us"], ["--where", "at<1ms"], ["--by", "thread"],
    ["--mangled"], ["-t", "gaps"], ["-t", "kernels,gpu_by_range"], ["--json"], ["--timeline"],
    ["-o", "a.html"],
])
def test_anything_else_reads_the_records(stored, tap, work, options):
    path = work / stored
    (work / "plain.gputap").write_bytes(path.read_bytes())
    change_summary(work / "plain.gputap", lambda fields: fields.__setitem__(0, 99))
    same = tap("report", "plain.gputap", *options, "-f").out.replace("plain.gputap", stored)
    assert tap("report", stored, *options, "-f").out == same


def test_several_captures_are_read(stored, synth, store, answers):
    other = synth("--calls", "500", "--pid", "77", "--boot", "x", "--host", "y", out="b.gputap")
    before = answers(stored, other)
    store(other)
    assert answers(stored, other) == before


@pytest.mark.parametrize("field, value", [
    (0, 99),  # version of the content
    (1, 1),  # number of the part
    (2, 2),  # number of parts
    (4, 5),  # size
    (5, 64),  # position
    (6, 1234),  # checksum of the heads
])
def test_a_summary_that_does_not_fit_the_file_is_ignored(stored, answers, work, field, value):
    before = answers(stored)
    change_summary(work / stored, lambda fields: fields.__setitem__(field, value))
    assert answers(stored) == before
    damage_stream(work / stored)
    assert answers(stored, status=1) == answers(stored, "--read-records", status=1) != before


def test_a_summary_with_any_wrong_byte_is_ignored_or_read(stored, tap, work):
    """The checksums are right, but not the content: no crash, and no other status than 0."""
    path = work / stored
    data = path.read_bytes()
    block = next(b for b in blocks_of(data) if b.type == SUMMARY)
    for at in range(SUMMARY_HEAD.size, block.stored_bytes, block.stored_bytes // 60):
        for value in (0, 1, 127, 255):
            changed, payload = bytearray(data), bytearray(block.payload)
            payload[at] = value
            put_payload(changed, block, bytes(payload))
            path.write_bytes(changed)
            tap("report", stored)
            tap("report", stored, "-t", TABLES, "--json")


@pytest.mark.parametrize("at", [0, 3, 30, 50, -1])
def test_a_damaged_summary_is_ignored(stored, answers, tap, work, at):
    before = answers(stored)
    data = bytearray((work / stored).read_bytes())
    block = next(b for b in blocks_of(data) if b.type == SUMMARY)
    data[at % block.stored_bytes + block.payload_at] ^= 1
    (work / stored).write_bytes(data)
    assert answers(stored) == before
    assert "summary  damaged" in tap("info", stored).out
    damage_stream(work / stored)
    assert answers(stored, status=1) != before


def test_a_capture_to_which_blocks_were_added_is_read(stored, answers, work):
    data = bytearray((work / stored).read_bytes())
    blocks = blocks_of(data)
    thread = next(b for b in blocks if b.type == 4)
    again = data[thread.at:thread.end]
    (work / stored).write_bytes(data[:blocks[-1].at] + again + data[blocks[-1].at:])
    damage_stream(work / stored)
    assert (answers(stored, status=1) == answers(stored, "--read-records", status=1))


def test_a_cut_capture_is_read(stored, answers, work):
    data = (work / stored).read_bytes()
    (work / stored).write_bytes(data[:-1])
    assert answers(stored, status=1) == answers(stored, "--read-records", status=1)


def test_a_reader_that_does_not_know_the_block_skips_it(stored, answers, tap, work):
    before = answers(stored)
    data = bytearray((work / stored).read_bytes())
    block = next(b for b in blocks_of(data) if b.type == SUMMARY)
    head = block.head[:4] + b"\x63" + block.head[5:]
    data[block.at:block.payload_at] = mend_head(head)
    (work / stored).write_bytes(data)
    assert answers(stored) == before
    assert json.loads(tap("info", "--json", stored).out)["unknown_blocks"] == 1


def test_the_blocks_stay_and_an_end_follows(stored, tap, work):
    blocks = blocks_of((work / stored).read_bytes())
    assert [b.type for b in blocks[-3:]] == [INDEX, SUMMARY, END]
    assert struct.unpack_from("<Q", blocks[-1].payload, 8)[0] == blocks[-1].at
    assert struct.unpack_from("<Q", blocks[-1].payload, 16)[0] == blocks[-3].at
    info = json.loads(tap("info", "--json", stored).out)
    assert info["index"]["blocks"] == len(blocks) - 3 and not info["index"]["wrong"]
    assert info["unknown_blocks"] == info["bad_blocks"] == 0
    size = blocks[-2].stored_bytes - SUMMARY_HEAD.size
    assert info["summary"] == {"bytes": size, "wrong": False}
    assert "summary  stored" in tap("info", stored).out


def test_storing_again_changes_nothing_unless_the_records_are_read(stored, store, tap, work):
    data = (work / stored).read_bytes()
    store(stored)
    assert (work / stored).read_bytes() == data
    screen = tap("report", stored).out
    tap("report", stored, "--store-summary", "--read-records")
    blocks = blocks_of((work / stored).read_bytes())
    assert [b.type for b in blocks[-3:]] == [SUMMARY, SUMMARY, END]
    assert tap("report", stored).out == screen


def test_files_made_from_a_capture_have_no_summary(stored, synth, tap, answers, work):
    other = synth("--calls", "500", "--pid", "77", out="b.gputap")
    tap("merge", stored, other, "-o", "m.gputap")
    tap("export", stored, "-o", "cut.gputap", "--where", "kind=kernel")
    for name in ("m.gputap", "cut.gputap"):
        assert not has_summary(work / name)
        assert answers(name) == answers(name, "--read-records")


def test_a_part_of_a_capture_can_have_a_summary(stored, tap, store, answers):
    tap("export", stored, "-o", "cut.gputap", "--where", "kind=kernel")
    before = answers("cut.gputap")
    store("cut.gputap")
    assert answers("cut.gputap") == before


def test_a_summary_of_a_damaged_or_cut_capture_is_not_stored(synth, tap, work):
    path = work / synth("--calls", "3000", "--cut")
    data = path.read_bytes()
    err = tap("report", path, "--store-summary", status=1).err
    assert "cannot store the summary" in err and path.read_bytes() == data
    path = work / synth("--calls", "3000", out="b.gputap")
    damage_stream(path)
    data = path.read_bytes()
    assert "damaged" in tap("report", path, "--store-summary", status=1).err
    assert path.read_bytes() == data


def test_a_file_that_another_process_writes_is_reported_after_the_report(synth, tap, work):
    path = work / synth("--calls", "3000")
    data = path.read_bytes()
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        result = tap("report", path, "--store-summary", status=1)
    assert "cannot store the summary" in result.err and "Kernels" in result.out
    assert path.read_bytes() == data


@pytest.mark.parametrize("steps, options, stores", [
    (["calls:1000000"], [], True),
    (["calls:1000000"], ["--compress"], True),
    (["calls:1000000"], ["--keep", "1h,1G"], True),
    (["calls:1000000"], ["-q"], False),
    (["calls:1000"], [], False),
])
def test_the_end_of_a_large_run_stores_the_summary(tree, answers, work, steps, options, stores):
    tree.run(*steps, options=options)
    assert has_summary(work / "c.gputap") == stores
    assert answers("c.gputap") == answers("c.gputap", "--read-records")


def test_an_exported_run_has_no_summary(tree, tap, work):
    tree.run("calls:1000000", capture="c.csv")
    assert [p.name for p in work.iterdir()] == ["c.csv"]


def test_a_snapshot_of_a_flight_recorder_can_have_a_summary(tree, store, answers, work):
    process = tree.start("calls:1000", "sleep:3000", f"tally:{work}/tally", "calls:20",
                         "sleep:1000", "calls:7",
                         options=["--keep", "200ms", "--snapshot-signal", "USR2"])
    wait_until(lambda: tally(work / "tally") >= 20, "the last calls")
    process.send_signal(signal.SIGUSR2)
    wait_until((work / "c.1.gputap").exists, "the snapshot")
    finish(process)
    for name in ("c.1.gputap", "c.gputap"):
        before = answers(name)
        store(name)
        assert has_summary(work / name)
        assert answers(name) == before == answers(name, "--read-records")


def test_a_recovered_capture_can_have_a_summary(tree, tap, store, answers, work):
    process = tree.start(f"tally:{work}/tally", "calls:1000", "forever")
    wait_until(lambda: tally(work / "tally") > 1000, "the calls")
    child = child_of(process)
    (folder,) = sessions_of("c.gputap")
    process.kill()
    os.kill(child, signal.SIGKILL)
    finish(process)
    tap("recover", folder, status=None)
    shutil.rmtree(folder, ignore_errors=True)
    assert not has_summary(work / "c.gputap")
    before = answers("c.gputap")
    store("c.gputap")
    assert answers("c.gputap") == before == answers("c.gputap", "--read-records")


@pytest.mark.parametrize("options", [
    ["--where", "failed"], ["--by", "thread"], ["--mangled"], ["--timeline"], ["a.gputap"],
])
def test_only_the_whole_of_one_capture_is_stored(synth, tap, options):
    path = synth("--calls", "8")
    assert "--store-summary" in tap("report", path, "--store-summary", *options, status=2).err


def test_many_names_take_several_parts(synth, store, answers, work):
    path = synth("--calls", "150000", "--kernels", "20000", "--kernel-name", "n" * 400)
    before = answers(path)
    store(path)
    parts = [b for b in blocks_of((work / path).read_bytes()) if b.type == SUMMARY]
    assert len(parts) > 1
    assert answers(path) == before


def test_an_old_summary_gives_the_numbers_of_this_version(repo, synth, store, answers, work):
    """If this test fails because the analysis has changed, increment STORED_SUMMARY_VERSION."""
    golden = repo / "tests/golden/old/summary-0.1.gputap"
    if os.environ.get("GPUTAP_GOLDEN"):
        path = synth("--calls", "300", "--threads", "2", "--devices", "2", "--processes", "2",
                     "--nested", "--failed", "--steps", "20", "--external", "--device-clock",
                     "timer", "--flush-bytes", "4000", "--slow", "20,4,2")
        store(path)
        golden.write_bytes((work / path).read_bytes())
    (work / "a.gputap").write_bytes(golden.read_bytes())
    blocks = blocks_of(golden.read_bytes())
    stored = next(b for b in blocks if b.type == SUMMARY)
    source = (repo / "src/analysis/tables/stored_summary.h").read_text()
    version = int(re.search(r"STORED_SUMMARY_VERSION = (\d+)", source).group(1))
    assert SUMMARY_HEAD.unpack_from(stored.payload)[0] == version
    assert answers("a.gputap") == answers("a.gputap", "--read-records")
