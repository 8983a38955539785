# SPDX-License-Identifier: MIT
"""Test `gputap recover` on session folders that are damaged, that name another session's capture,
or that contain files of other users. Such captures and files are never changed."""

import os
import random
import shutil
import signal
import struct
import subprocess

import conftest
import pytest

from processes import (Tree, child_of, finish, printed_calls, sessions_of, tally, wait_until)


@pytest.fixture
def tree(build, work):
    return Tree(build)


def kill_both(process):
    """Kill the collector and its program."""
    child = child_of(process)
    process.kill()
    os.kill(child, signal.SIGKILL)
    finish(process)


def lost_of(process):
    return sum(process["count_calls"]["dropped"].values())


@pytest.fixture
def left(tree, work):
    """Return a session folder whose collector and program were killed."""
    process = tree.start(f"tally:{work}/tally", "calls:1", "forever")
    wait_until(lambda: tally(work / "tally") > 0, "the first call")
    child = child_of(process)
    (folder,) = sessions_of("c.gputap")
    process.kill()
    os.kill(child, signal.SIGKILL)
    finish(process)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_another_sessions_capture_of_the_same_name_is_left_as_it_is(tree, tap, work, left):
    tree.run("calls:3", options=["--force"])
    other = (work / "c.gputap").read_bytes()
    said = tap("recover", left, status=1).err
    assert "is the capture of another session; not modified" in said
    assert (work / "c.gputap").read_bytes() == other
    assert left.exists()


def test_after_the_right_capture_is_back_it_is_finished(tree, tap, work, left):
    (work / "c.gputap").rename(work / "mine")
    tree.run("calls:3")
    tap("recover", left, status=1)
    (work / "mine").rename(work / "c.gputap")
    tap("recover", left)
    assert tree.read()["processes"][0]["calls"] >= tally(work / "tally")
    assert not left.exists()


def test_a_capture_that_was_cut_meanwhile_is_finished_and_not_complete(tree, tap, work, left):
    os.truncate("c.gputap", 200)
    tap("recover", left)
    assert tree.read()["end"] == "incomplete"


@pytest.mark.parametrize("content", [b"", b"not a capture\n" * 100])
def test_a_file_that_is_no_capture_is_left_as_it_is(tap, work, left, content):
    (work / "c.gputap").write_bytes(content)
    tap("recover", left, status=1)
    assert (work / "c.gputap").read_bytes() == content
    assert left.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root: chown()")
@pytest.mark.parametrize("name", [".", "session", "output", "journal"])
def test_what_is_another_users_is_refused_and_kept(tap, work, left, name):
    before = (work / "c.gputap").read_bytes()
    os.chown(left / name, 65534, 65534)
    assert "cannot recover" in tap("recover", left, status=1).err
    assert (work / "c.gputap").read_bytes() == before
    assert left.exists()


@pytest.mark.parametrize("name", ["session", "output", "journal"])
def test_links_in_the_place_of_its_files_are_not_followed(tap, work, left, name):
    before = (work / "c.gputap").read_bytes()
    shutil.move(left / name, work / "elsewhere")
    (left / name).symlink_to(work / "elsewhere")
    tap("recover", left, status=1)
    assert (work / "c.gputap").read_bytes() == before
    assert left.exists()


@pytest.mark.parametrize("name", ["session", "output"])
def test_a_folder_that_lacks_a_file_and_has_records_is_kept(tap, work, left, name):
    (left / name).unlink()
    tap("recover", left, status=1)
    assert list(left.glob("*.gpuring"))


def test_a_ring_that_is_gone_is_reported(tree, tap, work, left):
    (ring,) = left.glob("*.gpuring")
    ring.unlink()
    tap("recover", left)
    assert tree.read()["end"] == "incomplete"


# Files that another program truncated ----------------------------------------------


def cut_to(path, size):
    if size is None:
        path.unlink()
    else:
        os.truncate(path, size)


@pytest.mark.parametrize("size", [0, 4096])
@pytest.mark.parametrize("name", ["journal", "session", "position", "untraced", "output"])
def test_a_file_that_is_cut_while_a_session_runs_costs_nothing(tree, work, name, size):
    process = tree.start(f"tally:{work}/tally", "calls:100000", "wait:go", "calls:100000")
    wait_until(lambda: sessions_of("c.gputap"), "the session")
    (folder,) = sessions_of("c.gputap")
    path = folder / name
    wait_until(path.exists, f"the file {name}")
    if name != "session":  # the program's calls read the file `session`
        cut_to(path, size)
        wait_until(lambda: tally(work / "tally") > 1000 or process.poll() is not None, "calls")
        cut_to(path, size)
    wait_until(lambda: tally(work / "tally") > 100000 or process.poll() is not None, "the pause")
    whole = path.stat().st_size
    cut_to(path, size)
    if name == "session":
        wait_until(lambda: path.stat().st_size == whole, "the collector's repair")
    (work / "go").touch()
    result = finish(process)
    assert result.status == 0, result
    assert "nothing lost" in result.err
    assert tree.calls() == printed_calls(result) and printed_calls(result)[0][1] == 200001


def test_a_session_whose_journal_is_cut_can_be_recovered(tree, tap, work):
    """The collector rewrites a truncated journal."""
    process = tree.start(f"tally:{work}/tally", "calls:100000", "wait:go", "forever")
    wait_until(lambda: tally(work / "tally") > 1000, "calls")
    (folder,) = sessions_of("c.gputap")
    os.truncate(folder / "journal", 0)
    wait_until(lambda: (folder / "journal").stat().st_size, "the journal")
    (work / "go").touch()
    wait_until(lambda: tally(work / "tally") > 200000, "more calls")
    kill_both(process)
    said = tap("recover", folder).err
    assert "missing or damaged" not in said
    (found,) = tree.read()["processes"]
    assert found["calls"] + lost_of(found) >= tally(work / "tally")


@pytest.mark.parametrize("size", [None, 0, 64, 4096, 100000])
@pytest.mark.parametrize("names", [["journal"], ["session"], ["position"], ["journal", "session"],
                                   ["journal", "position"], ["journal", "position", "session"]])
def test_recovery_needs_no_more_than_the_rings_and_the_capture(tree, tap, work, left, names, size):
    if size is None and "session" in names:
        return  # without this file, the folder is not recognised as a session folder
    if size == 64 and "session" in names:
        size = 8
    for name in names:
        if size is None or (left / name).stat().st_size > size:
            cut_to(left / name, size)
    said = tap("recover", left).err
    found = tree.read()
    assert found["end"] == ("incomplete" if "journal" in names else "complete"), said
    assert ("journal is missing or damaged" in said) == ("journal" in names), said
    (process,) = found["processes"]
    assert process["calls"] + lost_of(process) >= tally(work / "tally")
    assert process["calls"] > 0
    assert not left.exists()


def test_a_journal_of_noise_is_not_believed(tree, tap, work, left):
    (left / "journal").write_bytes(random.Random(1).randbytes(1 << 20))
    assert "journal is missing or damaged" in tap("recover", left).err
    (process,) = tree.read()["processes"]
    assert process["calls"] + lost_of(process) >= tally(work / "tally")


def test_a_journal_that_is_behind_the_capture_is_not_believed(tree, tap, work, left):
    """The journal's byte count is that of a session that has just started. If recovery believed it,
    all later data would be cut off."""
    whole = (work / "c.gputap").stat().st_size
    # struct gt_journal_head: magic, version, bytes, collector_pid, accounts_used, capture_bytes
    write_at(left / "journal", 24, struct.pack("<Q", 200))
    assert "journal is missing or damaged" in tap("recover", left).err
    assert (work / "c.gputap").stat().st_size >= whole
    (process,) = tree.read()["processes"]
    assert process["calls"] + lost_of(process) >= tally(work / "tally")


def test_without_a_journal_another_sessions_capture_is_left_as_it_is(tree, tap, work, left):
    tree.run("calls:3", options=["--force"])
    other = (work / "c.gputap").read_bytes()
    for name in ["journal", "position"]:
        (left / name).unlink()
        assert "is the capture of another session" in tap(
            "recover", left, status=1).err if name == "journal" else True
        tap("recover", left, status=1)
        assert (work / "c.gputap").read_bytes() == other
        assert left.exists()


def test_a_flight_recorder_is_recovered_without_its_journal(tree, tap, work):
    process = tree.start(f"tally:{work}/tally", "calls:100000", "wait:go",
                         options=["--keep", "1h"])
    wait_until(lambda: tally(work / "tally") > 100000, "calls")
    (folder,) = sessions_of("c.gputap")
    kill_both(process)
    (folder / "journal").unlink()
    assert "journal is missing or damaged" in tap("recover", folder).err
    found = tree.read()
    assert found["end"] == "incomplete"
    assert sum(p["calls"] for p in found["processes"]) >= 100000
    assert not list(work.glob(".*.keep"))


def test_the_list_of_sessions_has_no_control_characters(tap, left):
    (left / "output").write_bytes(b"/tmp/\033]0;owned\007\n\033[31m.gputap")
    out = tap("recover").out
    assert str(left) in out and "owned" in out
    assert "\033" not in out and "\007" not in out


def test_a_link_in_the_place_of_a_ring_is_not_followed_and_reported(tree, tap, work, left):
    (ring,) = left.glob("*.gpuring")
    shutil.move(ring, work / "ring")
    before = (work / "ring").read_bytes()
    ring.symlink_to(work / "ring")
    tap("recover", left)
    assert (work / "ring").read_bytes() == before
    assert tree.read()["end"] == "incomplete"


# A storm of damage ----------------------------------------------------------------

STORM = int(os.environ.get("GPUTAP_RECOVER_STORM", "40"))
"""Damaged sessions that are recovered; 5000 before a release."""
# offsets of members of struct gt_segment: version, sizes, counts, offsets
GEOMETRY = [8, 12, 16, 24, 28, 32, 36, 40, 48]


def copy_sparse(source, target):
    subprocess.run(["cp", "-p", "--sparse=always", source, target], check=True)


def used_pages(path):
    """Return the offsets of the pages of a sparse file that contain data."""
    pages, at = [], 0
    with open(path, "rb") as file:
        while True:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                return pages
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            pages += range(at, end, 4096)
            at = end


def write_at(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def write_noise(path, chance):
    pages = used_pages(path) or [0]
    for _ in range(chance.choice([1, 1, 2, 8, 100])):
        at = min(chance.choice(pages) + chance.randrange(4096), max(path.stat().st_size - 8, 0))
        write_at(path, at, chance.randbytes(chance.choice([1, 4, 8, 64])))


def cut(path, chance):
    size = path.stat().st_size
    os.truncate(path,
                chance.choice([0, 1, 64, 4096, 8192,
                               chance.randrange(size), size // 2, size - 1]))


def make_longer(path, chance):
    os.truncate(path, path.stat().st_size + chance.choice([1, 4096, 1 << 32]))


def lie_about_sizes(path, chance):
    value = chance.choice([0, 1, 63, 64, 4096, 2**31, 2**32 - 1, chance.randrange(2**32)])
    write_at(path, chance.choice(GEOMETRY), struct.pack("<I", value))


def change_magic(path, chance):
    write_at(path, chance.randrange(8), bytes([chance.randrange(256)]))


def remove_slot(path, chance):
    with open(path, "rb") as file:
        words = struct.unpack("<16I", file.read(64))
    header, slot = words[3], words[6]
    write_at(path, header + chance.randrange(1, 4) * slot, bytes(chance.choice([4, 64, slot])))


def remove(path, chance):
    path.unlink()


DAMAGE = [
    write_noise, write_noise, write_noise, cut, make_longer, lie_about_sizes, change_magic,
    remove_slot, remove
]


def damage(folder, seed):
    """Damage the folder. Return a description of the damage."""
    chance = random.Random(seed)
    what = chance.choice(DAMAGE)
    (ring,) = folder.glob("*.gpuring")
    path = folder / chance.choice(["journal", "session", "output"
                                   ]) if seed % 4 == 3 and what != remove_slot else ring
    what(path, chance)
    return f"seed {seed}: {what.__name__} {path.name}"


def test_no_damage_of_a_session_crashes_recover_or_is_silent(tree, tap, work, left, gputap, run):
    shutil.copytree(left, work / "whole", copy_function=copy_sparse,
                    ignore=shutil.ignore_patterns("control"))  # a socket cannot be copied
    shutil.copy("c.gputap", work / "whole.gputap")
    tap("recover", left)
    whole = tree.read()["processes"][0]["calls"]
    for seed in range(STORM):
        shutil.rmtree(left, ignore_errors=True)
        shutil.copytree(work / "whole", left, copy_function=copy_sparse)
        shutil.copy(work / "whole.gputap", "c.gputap")
        done = damage(left, seed)
        said = subprocess.run([gputap, "recover", left],
                              capture_output=True,
                              text=True,
                              errors="replace",
                              env=conftest.clean_environment(),
                              stdin=subprocess.DEVNULL)
        assert said.returncode in (0, 1), f"{done}: status {said.returncode}, {said.stderr}"
        assert said.returncode == 0 or said.stderr, f"{done}: fails without a word"
        assert not any(c < " " and c != "\n"
                       for c in said.stdout + said.stderr), f"{done}: {said.stderr!r}"
        if said.returncode:
            continue
        found = tree.read()
        told = sum(
            p["calls"] + sum(p["count_calls"]["dropped"].values()) for p in found["processes"])
        assert found["end"] != "complete" or told >= whole, f"{done}: {found} of {whole} calls"
