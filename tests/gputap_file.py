# SPDX-License-Identifier: MIT
"""Reads and changes bytes of a capture for tests; docs/reference/capture-format.md describes the
format."""

import struct

BLOCK = struct.Struct("<IBBHIIIIII")
HEADER_BYTES = 64
STREAM, END, INDEX, SUMMARY = 8, 9, 11, 14
# start of a SUMMARY's payload: version, part, parts, 0, size, position, checksum of heads
SUMMARY_HEAD = struct.Struct("<IIIIQQQ")

CASTAGNOLI = 0x82f63b78
TABLE = []
for value in range(256):
    for _ in range(8):
        value = value >> 1 ^ (CASTAGNOLI if value & 1 else 0)
    TABLE.append(value)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xffffffff


class Block:
    """The block that starts at byte `at` of `data`. `payload` and `head` are copies."""

    def __init__(self, data, at):
        (_, self.type, self.flags, self.head_bytes, self.stored_bytes, _, self.process,
         self.ordinal, _, _) = BLOCK.unpack_from(data, at)
        self.at = at
        self.payload_at = at + self.head_bytes
        self.end = self.payload_at + self.stored_bytes
        self.head = bytes(data[at:self.payload_at])
        self.payload = bytes(data[self.payload_at:self.end])


def blocks_of(data):
    """Return all blocks of an undamaged capture."""
    at, found = HEADER_BYTES, []
    while at < len(data):
        found.append(Block(data, at))
        at = found[-1].end
    assert at == len(data)
    return found


def mend_head(head):
    """Return @head with a correct checksum."""
    clear = head[:28] + bytes(4) + head[32:]
    return head[:28] + struct.pack("<I", crc32c(clear)) + head[32:]


def put_payload(data, block, payload):
    """Replace the payload of a block in @data, a bytearray, with another of the same length, and
    update the checksums."""
    assert len(payload) == block.stored_bytes
    head = block.head[:24] + struct.pack("<I", crc32c(payload)) + block.head[28:]
    data[block.at:block.end] = mend_head(head) + payload
