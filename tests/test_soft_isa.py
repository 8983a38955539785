# SPDX-License-Identifier: MIT
"""Test the software GPU's instructions one at a time. llvm-mc encodes each instruction, and the
software GPU's result is compared with a second evaluation (tests/soft/isa_*)."""

import re
import shutil

import pytest

LLVM_MC = next((name for name in ("llvm-mc-14", "llvm-mc-15", "llvm-mc-18", "llvm-mc-22", "llvm-mc")
                if shutil.which(name)), None)


@pytest.fixture(scope="module")
def program(build):
    return build / "tests/soft/isa_cases"


def exact_addresses(texts):
    """Return the texts with the address registers that this LLVM accepts for image instructions.
    LLVM 14 uses rows of 8 and 16 registers. Newer versions need exactly as many registers as
    addresses."""
    if LLVM_MC in ("llvm-mc-14", "llvm-mc-15"):
        return texts
    return re.sub(r"^(image_sample_d .*, )v\[16:31\](.*)$",
                  lambda m: f"{m[1]}v[16:{22 if ' da' in m[2] else 21}]{m[2]}",
                  texts,
                  flags=re.M)


@pytest.fixture
def words(run, program, tmp_path):
    """Write a file with one line per case, which contains the bytes of the instruction."""
    texts = tmp_path / "cases.s"
    texts.write_text(exact_addresses(run([program, "--texts"]).out))
    out = run([LLVM_MC, "-arch=amdgcn", "-mcpu=gfx906", "-show-encoding", texts]).out
    encodings = re.findall(r"encoding: \[([^\]]*)\]", out)
    assert len(encodings) == len(texts.read_text().splitlines())
    file = tmp_path / "words"
    file.write_text("".join(e + "\n" for e in encodings))
    return file


def test_every_instruction_that_is_claimed_has_a_case(run, program):
    claimed = run([program, "--claimed"]).out.split()
    tested = set(run([program, "--tested"]).out.split())
    assert len(claimed) > 800
    assert [name for name in claimed if name not in tested] == []
    assert tested <= set(claimed)


@pytest.mark.parametrize(
    "prefix", ["s_", "v_cmp", "v_", "ds_", "flat_", "global_", "scratch_", "buffer_", "image_"])
def test_instructions_do_what_a_second_evaluation_says(run, program, words, prefix):
    assert re.search(r"^[1-9]\d* cases, 0 wrong$", run([program, words, prefix]).out, re.M)
