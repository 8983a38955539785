# SPDX-License-Identifier: MIT
"""Test the index of a capture's blocks: which commands write the index, how much time it saves, and
that nothing is lost if it is damaged, wrong or missing."""

import json
import struct

import pytest

from gputap_file import BLOCK, END, INDEX, STREAM, Block, blocks_of, mend_head, put_payload

INDEX_HEAD = struct.Struct("<QQQII")
NOTE = "a block index is damaged or inconsistent with the blocks"


@pytest.fixture
def synth(run, build, work):
    def make(*options, out="a.gputap"):
        run([build / "tests/synth/synth", *options, "-o", out])
        return out
    return make


@pytest.fixture
def large(synth):
    """Return a capture of two processes with two threads each, in dozens of blocks."""
    return synth("--calls", "12000", "--threads", "2", "--processes", "2", "--nested",
                 "--flush-bytes", "20000", "--device-clock", "timer", "--external")


@pytest.fixture
def items(run, build):
    def read(path):
        return [line for line in run([build / "tests/synth/dump", path, "--items"]).out.splitlines()
                if not line.startswith(("complete", "cut"))]
    return read


def index_of(tap, path, status=0):
    return json.loads(tap("info", "--json", path, status=status).out)["index"]


def without_index(data):
    """Return the capture @data with an END block that names no index."""
    data = bytearray(data)
    end = blocks_of(data)[-1]
    put_payload(data, end, end.payload[:16] + bytes(8))
    return bytes(data)


def test_an_index_has_the_head_of_every_block(large, tap, work):
    data = (work / large).read_bytes()
    blocks = blocks_of(data)
    assert [b.type for b in blocks[-2:]] == [INDEX, END]
    assert struct.unpack_from("<Q", blocks[-1].payload, 16)[0] == blocks[-2].at
    index = blocks[-2].payload
    assert INDEX_HEAD.unpack_from(index) == (0, 64, blocks[-2].at, len(blocks) - 2, 0)
    assert index[INDEX_HEAD.size:] == b"".join(b"IHad" + b.head[4:] for b in blocks[:-2])
    assert index_of(tap, large) == {"blocks": len(blocks) - 2, "bytes": len(index), "wrong": False}
    assert f"index    of {len(blocks) - 2} blocks" in tap("info", large).out


def test_what_is_read_by_the_index_is_what_the_blocks_heads_give(large, tap, items, work):
    (work / "b.gputap").write_bytes(without_index((work / large).read_bytes()))
    assert index_of(tap, "b.gputap")["blocks"] == 0
    assert "index    none" in tap("info", "b.gputap").out
    assert items(large) == items("b.gputap")
    assert (tap("report", large, "--json").out ==
            tap("report", "b.gputap", "--json").out.replace("b.gputap", large))


def test_a_merged_capture_has_an_index_of_its_own(synth, tap, work):
    files = [synth("--calls", "2000", "--flush-bytes", "20000", "--rank", str(rank), "--pid",
                   str(5000 + rank), out=f"r{rank}.gputap") for rank in range(3)]
    tap("merge", *files, "-o", "job.gputap")
    blocks = blocks_of((work / "job.gputap").read_bytes())
    assert [b.type for b in blocks].count(INDEX) == 1
    assert index_of(tap, "job.gputap")["blocks"] == len(blocks) - 2
    assert tap("report", "--all", "job.gputap").err == ""


def change_head(index, number, change):
    """Return the payload of an index in which @change has replaced head @number, with a valid
    checksum."""
    at = INDEX_HEAD.size
    for _ in range(number):
        at += Block(index, at).head_bytes
    length = Block(index, at).head_bytes
    head = mend_head(b"TBlk" + change(index[at:at + length])[4:])
    return index[:at] + b"IHad" + head[4:] + index[at + length:]


def lie(data, wanted, change):
    """Return the capture @data with an index in which @change has replaced the heads of all blocks
    for which @wanted is true."""
    data = bytearray(data)
    blocks = blocks_of(data)
    index = blocks[-2].payload
    for number, block in enumerate(blocks[:-2]):
        if wanted(number, block):
            index = change_head(index, number, change)
    put_payload(data, blocks[-2], index)
    return bytes(data)


def other_type(head):
    return head[:4] + bytes([99]) + head[5:]


def other_ticks(head):
    """Return a stream's head which claims that the stream's calls ended before all other calls
    began."""
    return head[:48] + struct.pack("<QQ", 1, 2) + head[64:]


@pytest.mark.parametrize("wanted, change", [
    (lambda n, b: b.type != STREAM and n == 5, other_type),  # block 5, unless it is a stream
    (lambda n, b: b.type == STREAM, other_type),
    (lambda n, b: b.type == STREAM, other_ticks),
])
def test_an_index_that_lies_is_not_used(large, tap, items, work, wanted, change):
    data = (work / large).read_bytes()
    blocks = blocks_of(data)
    if not any(wanted(n, b) for n, b in enumerate(blocks[:-2])):
        wanted = lambda n, b: b.type != STREAM  # noqa: E731
    (work / "b.gputap").write_bytes(lie(data, wanted, change))
    assert index_of(tap, "b.gputap") == {"blocks": 0, "bytes": 0, "wrong": True}
    assert NOTE in tap("report", "--all", "b.gputap").err.replace("\n  ", " ").replace("\n", " ")
    assert "damaged or inconsistent with the blocks" in tap("info", "b.gputap").out
    assert items("b.gputap") == items(large)


def test_a_lie_about_one_stream_is_met_when_it_is_read(large, tap, work):
    """Opening a capture does not compare all heads. A head is compared when its block is read."""
    data = (work / large).read_bytes()
    streams = [n for n, b in enumerate(blocks_of(data)) if b.type == STREAM]
    (work / "b.gputap").write_bytes(lie(data, lambda n, b: n == streams[1], other_ticks))
    assert not index_of(tap, "b.gputap", status=1)["wrong"]
    info = json.loads(tap("info", "--json", "b.gputap", status=1).out)
    assert info["bad_blocks"] == 1 and not info["complete"]
    assert "corrupt" in tap("report", "--all", "b.gputap", status=1).out


def test_a_damaged_index_costs_no_record(large, tap, items, work):
    data = bytearray((work / large).read_bytes())
    index = blocks_of(data)[-2]
    data[index.payload_at + 200] ^= 1
    (work / "b.gputap").write_bytes(data)
    assert index_of(tap, "b.gputap", status=1)["wrong"]
    assert items(large) == items("b.gputap")
    data = bytearray((work / large).read_bytes())
    data[index.at + 3] ^= 1  # the head of the index
    (work / "b.gputap").write_bytes(data)
    assert items(large) == items("b.gputap")


def test_a_damaged_stream_is_found_with_an_index(large, tap, work):
    """The head of a stream block is damaged, but the index contains the block's number of
    records."""
    data = bytearray((work / large).read_bytes())
    streams = [b for b in blocks_of(data) if b.type == STREAM]
    data[streams[3].at + 40] ^= 1
    (work / "b.gputap").write_bytes(data)
    info = json.loads(tap("info", "--json", "b.gputap", status=1).out)
    assert info["bad_blocks"] == 1
    assert info["calls"] < json.loads(tap("info", "--json", large).out)["calls"]


def test_what_follows_the_end_makes_an_index_void(large, tap, items, work):
    data = (work / large).read_bytes()
    (work / "b.gputap").write_bytes(data + b"more")
    assert index_of(tap, "b.gputap", status=1)["blocks"] == 0
    assert items("b.gputap") == items(large)
    (work / "c.gputap").write_bytes(data[:-1])
    assert index_of(tap, "c.gputap", status=1)["blocks"] == 0
    assert items("c.gputap") == items(large)


def test_old_captures_have_none(repo, tap):
    for name in ("hip-0.1", "opencl-0.1"):
        assert index_of(tap, repo / "tests" / "golden" / "old" / f"{name}.gputap")["blocks"] == 0
    assert BLOCK.size == 32
