# SPDX-License-Identifier: MIT
"""Test that taps pass their own address where a compiler expects the hidden last argument."""
import glob
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, REPO

sys.path.insert(0, str(REPO / "gen"))
import describe  # noqa: E402
import emit_taps  # noqa: E402
import emit_thunks  # noqa: E402

DESCRIPTIONS = [path for path in sorted(glob.glob(str(REPO / "api/*.api")))
                if describe.is_domain(path)]
# compiler: how the assembler code stores the hidden argument
COMPILERS = {
    "gcc": re.compile(r"\s+mov\w+\s+%(\w+), \w+_found(?:\(%rip\))?"),
    "clang": re.compile(r"\s+mov\w+\s+%(\w+), \w+_found(?:\(%rip\))?"),
    "aarch64-linux-gnu-gcc": re.compile(r"\s+str\s+(\w+), \["),
}


def tapped():
    """Return the described domains that have taps."""
    apis = [describe.parse(path, str(REPO)) for path in DESCRIPTIONS]
    return [api for api in apis if api.operations and not api.announced]


def probe(api):
    """Return C functions with the prototypes of a domain's shared functions, each of which stores
    its hidden argument."""
    lines = [f'#include "generated/{api.domain}_wraps.h"',
             "static const void *volatile word_found;", "static volatile double float_found;"]
    for op in api.real():
        at = emit_thunks.hidden(op)
        store = "word_found = tap" if at.is_word else "float_found = tap_bits"
        lines.append(f"{op.ret_c()} probe_{op.name}({emit_taps.tap_parameters(op)})"
                     f" {{ {store}; __builtin_unreachable(); }}")
    return "\n".join(lines) + "\n"


def compiled(compiler, api, tmp_path):
    """Return the register in which each operation's hidden argument arrives."""
    source = tmp_path / f"{api.domain}.c"
    source.write_text(probe(api))
    done = subprocess.run([compiler, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-fno-pic", "-w", "-S",
                           "-I", REPO / "src", "-I", REPO / "include", "-I", REPO, "-I", BUILD,
                           "-idirafter", "/usr/include", "-o", "-", source],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    registers, name = {}, None
    for line in done.stdout.splitlines():
        start = re.match(r"probe_(\w+):", line)
        stored = COMPILERS[compiler].match(line)
        if start:
            name = start.group(1)
        elif stored and name:
            registers[name], name = stored.group(1), None
    return registers


@pytest.mark.parametrize("compiler", COMPILERS)
def test_hidden_argument_is_where_a_compiler_expects_it(compiler, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    count = 0
    for api in tapped():
        found = compiled(compiler, api, tmp_path)
        for op in api.real():
            at = emit_thunks.hidden(op)
            wanted = at.arm if compiler.startswith("aarch64") else at.x86
            assert found[op.name] == wanted, f"{api.domain} {op.name}"
            count += 1
    assert count > 4_000


def test_operation_that_uses_all_registers_is_refused(tmp_path):
    """An argument on the stack would need a frame, which a tap does not have."""
    arguments = ", ".join([f"size_t a{n}" for n in range(6)] + [f"real b{n}" for n in range(8)])
    path = tmp_path / "full.api"
    path.write_text('domain full 9 "all registers"\nentries 1 from 0\ninteger size_t u64\n'
                    f'integer real f64 as "double"\ngroup all\n0 size_t full_all({arguments})\n')
    done = subprocess.run([sys.executable, REPO / "tools/generate", "--output", tmp_path, path],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert "full.api:6: full_all uses all registers for arguments" in done.stderr
