# SPDX-License-Identifier: MIT
"""`gputap recover` on folders that are not what they were, or not ours: nothing of anybody else is
touched."""

import os
import random
import shutil
import signal
import struct
import subprocess

import conftest
import pytest

from processes import Tree, child_of, finish, sessions_of, tally, wait_until


@pytest.fixture
def tree(build, work):
    return Tree(build)


@pytest.fixture
def left(tree, work):
    """A session folder whose collector and program were killed."""
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
    assert "is the capture of another session and is left as it is" in said
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


@pytest.mark.parametrize("name", ["session", "output", "journal"])
def test_a_folder_that_lacks_a_file_and_has_records_is_kept(tap, work, left, name):
    (left / name).unlink()
    tap("recover", left, status=1)
    assert list(left.glob("*.gpuring"))


def test_a_ring_that_is_gone_is_reported(tree, tap, work, left):
    (ring,) = left.glob("*.gpuring")
    ring.unlink()
    tap("recover", left)
    assert tree.read()["end"] == "incomplete"


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
# of struct gt_segment: version, sizes, counts, offsets
GEOMETRY = [8, 12, 16, 24, 28, 32, 36, 40, 48]


def copy_sparse(source, target):
    subprocess.run(["cp", "-p", "--sparse=always", source, target], check=True)


def used_pages(path):
    """Offsets of the pages of a sparse file that hold something."""
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
    """Return: what was done."""
    chance = random.Random(seed)
    what = chance.choice(DAMAGE)
    (ring,) = folder.glob("*.gpuring")
    path = folder / chance.choice(["journal", "session", "output"
                                   ]) if seed % 4 == 3 and what != remove_slot else ring
    what(path, chance)
    return f"seed {seed}: {what.__name__} {path.name}"


def test_no_damage_of_a_session_crashes_recover_or_is_silent(tree, tap, work, left, gputap, run):
    shutil.copytree(left, work / "whole", copy_function=copy_sparse,
                    ignore=shutil.ignore_patterns("control"))  # a socket
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
