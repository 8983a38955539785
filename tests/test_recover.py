# SPDX-License-Identifier: MIT
"""`gputap recover` on folders that are not what they were, or not ours: nothing of anybody else is touched."""

import os
import shutil
import signal

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


def test_a_link_in_the_place_of_a_ring_is_not_followed_and_told(tree, tap, work, left):
    (ring,) = left.glob("*.gpuring")
    shutil.move(ring, work / "ring")
    before = (work / "ring").read_bytes()
    ring.symlink_to(work / "ring")
    tap("recover", left)
    assert (work / "ring").read_bytes() == before
    assert tree.read()["end"] == "incomplete"
