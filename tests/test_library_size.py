# SPDX-License-Identifier: MIT
"""Test that the injected library stays small and quick to load: its size, the relocations at load,
and that taps are a few instructions without a stack frame."""
import re
import shutil
import subprocess

import pytest

SIZE = 8_000_000  # bytes, stripped; docs/internals/performance.md lists what takes them
RELOCATIONS = 2_000
TAP = re.compile(r"^[0-9a-f]+ <(gt_(?!\w+_(?:parts|direct|first)_tap)\w+?_tap\d_\w+)>:$")
# of x86-64: what a tap consists of
INSTRUCTIONS = {"lea", "mov", "movl", "and", "cmp", "test", "je", "jne", "jmp", "movq"}


@pytest.fixture(scope="module")
def library(build):
    return build / "libgputap.so.0"


def output(*command):
    return subprocess.run([str(word) for word in command], text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def test_stripped_library_is_small(library, tmp_path):
    if "-fsanitize" in output("nm", "-D", library) or "__asan" in output("nm", "-D", library):
        pytest.skip("instrumented build")
    stripped = tmp_path / "stripped.so"
    subprocess.run(["strip", "-o", stripped, library], check=True)
    assert stripped.stat().st_size <= SIZE


def test_loading_the_library_relocates_little(library):
    kinds = re.findall(r"\bR_(?:X86_64|AARCH64)_\w+", output("readelf", "-rW", library))
    assert kinds
    assert len(kinds) <= RELOCATIONS


@pytest.mark.skipif(not shutil.which("objdump"), reason="needs objdump")
def test_taps_have_no_frame(library):
    """A tap neither calls nor moves the stack pointer, so it needs no unwind entry of its own."""
    code = output("objdump", "-d", "--no-show-raw-insn", library)
    tap, taps, wrong = None, set(), []
    for line in code.splitlines():
        start = TAP.match(line)
        if start:
            tap = start.group(1)
        elif line.endswith(">:"):
            tap = None
        elif tap and "\t" in line:
            words = line.split("\t")[1].split()
            taps.add(tap)
            is_padding = words[0] == "xchg" or any(word.startswith("nop") for word in words)
            if not is_padding and ("%rsp" in line or words[0] not in INSTRUCTIONS):
                wrong.append((tap, line.strip()))
    assert len(taps) > 10_000
    assert not wrong
