# SPDX-License-Identifier: MIT
"""Test the tools in examples/tool/ with real programs."""
import re
import subprocess

import pytest

from conftest import REPO
from truth import Truth

SOURCES = sorted((REPO / "examples/tool").glob("**/*.c"))


@pytest.fixture(scope="module")
def tool(tmp_path_factory, build):
    """Return a function: tool("print_calls", "-DNAME=..") builds the example's library."""
    folder = tmp_path_factory.mktemp("tools")

    def compiled(name, *options, out=None):
        library = folder / f"{out or name}.so"
        subprocess.run([
            "cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{REPO}/include",
            *options, REPO / f"examples/tool/{name}.c", "-o", library, f"-L{build}",
            "-l:libgputap.so.0"
        ],
                       check=True)
        return library
    return compiled


@pytest.fixture(scope="module")
def log(build):
    """Return a function: log(library, ...) returns the output of the tools for examples/demo."""
    if not (build / "examples/demo").exists():
        pytest.skip("needs OpenCL: apt install ocl-icd-opencl-dev pocl-opencl-icd")

    def run_it(*libraries):
        from conftest import run_command
        return run_command([build / "examples/demo"],
                           env={
                               "LD_PRELOAD": build / "libgputap.so.0", "GPUTAP_TOOLS": ":".join(
                                   map(str, libraries))
                           }).err
    return run_it


def test_examples_are_short():
    assert len(SOURCES) >= 5
    for source in SOURCES:
        assert source.read_text().count("\n") < 112, source.name


def test_the_first_tool_of_the_documents_works(log, build, work):
    page = (REPO / "docs/tools/first-tool.md").read_text()
    (work / "first_tool.c").write_text(
        "\n".join(re.findall(r"^```c first_tool.c\n(.*?)^```$", page, re.M | re.S)))
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                    f"-I{REPO}/include", "first_tool.c", "-o", "first_tool.so", f"-L{build}",
                    "-l:libgputap.so.0"], check=True)
    lines = log(work / "first_tool.so").splitlines()
    launches = {line.split(":")[0] for line in lines if "clEnqueueNDRangeKernel took" in line}
    kernels = {line.split(":")[0] for line in lines if "kernel heat_step ran" in line}
    assert len(kernels) > 100 and kernels <= launches


def test_calls_are_printed_with_arguments_and_status(tool, log):
    lines = log(tool("print_calls")).splitlines()
    begun = [line for line in lines if re.match(r"\[\d+\] \w+\(", line)]
    ended = [line for line in lines if re.match(r"\[\d+\] \w+: \w+ after [\d.]+ [um]s", line)]
    assert len(begun) == len(ended) > 100
    assert any(
        re.fullmatch(
            r"\[\d+\] clCreateBuffer\(context=0x\w+, flags=CL_MEM_READ_WRITE, size=\d+,"
            r" host_ptr=NULL, errcode_ret=0x\w+\)",
            b,
        )
        for b in begun
    )
    assert any(
        re.match(r"\[\d+\] clGetDeviceIDs: CL_DEVICE_NOT_FOUND after ", line) for line in ended)
    assert any(
        re.search(
            r" clGetPlatformIDs: ok after [\d.]+ [um]s, platforms=.*0x\w+.*, num_platforms=\d+$",
            line) for line in ended)


def test_operations_are_timed(tool, log):
    head, *rows = log(tool("time_operations")).splitlines()
    assert head.split() == ["operation", "calls", "total", "us", "mean", "us", "longest", "us"]
    table = {
        name: (int(calls), float(total), float(longest))
        for name, calls, total, _, longest in map(str.split, rows)
    }
    totals = [total for _, total, _ in table.values()]
    assert totals == sorted(totals, reverse=True)
    assert table["clSetKernelArg"][0] == 3 * table["clEnqueueNDRangeKernel"][0]
    assert all(0 < longest <= total + 0.1 for _, total, longest in table.values() if total > 1)


def test_kernels_are_shown_as_histograms(tool, run, build, hip_program, softgpu):
    truth = Truth(threads=1, streams=2, launches=20, copies=1, graphs=1, nodes=5)
    out = run(truth.command(hip_program("truth")),
              env={
                  **softgpu, "LD_PRELOAD": build / "libgputap.so.0",
                  "GPUTAP_TOOLS": tool("kernel_histogram")
              }).err
    kernels = re.findall(r"^(\w+): (\d+) launches, [\d.]+ us each$", out, re.M)
    assert kernels == [("numbered", "40"), ("node", "5")]
    bars = re.findall(r"^ +([\d.]+) - +([\d.]+) us  (#*) +(\d+)$", out, re.M)
    assert sum(int(count) for _, _, _, count in bars) == 45
    assert all(bool(bar) == (count != "0") for _, _, bar, count in bars)
    assert all(abs(float(high) - 2 * float(low)) < 0.11 for low, high, _, _ in bars)


def test_the_live_view_shows_what_is_called_most(tool, log):
    out = log(tool("live_top"))
    blocks = re.split(r"^-- at [\d.]+ s, \d+ calls a second\n", out, flags=re.M)
    assert len(blocks) > 1 and not blocks[0]
    assert re.search(r"^ +\d+ clSetKernelArg$", out, re.M)
    for block in blocks[1:]:
        rates = [int(line.split()[0]) for line in block.splitlines()]
        assert rates == sorted(rates, reverse=True) and len(rates) <= 5


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")], ids="-".join)
def test_two_tools_chain_in_a_table_in_either_order(tool, log, order):
    libraries = [tool("chained_table", f'-DNAME="{name}"', out=name) for name in order]
    inner, outer = order
    calls = [line for line in log(*libraries).splitlines() if re.match("one|two", line)]
    assert len(calls) >= 4 and len(calls) % 4 == 0
    for a, b, c, d in zip(*[iter(calls)] * 4):
        wanted = int(re.search(r"asks for (\d+)$", a)[1])
        assert a.startswith(
            f"{outer}: a buffer of {wanted - 4096} bytes"
        ) and b == f"{inner}: a buffer of {wanted} bytes, asks for {wanted + 4096}"
        assert (c, d) == (f"{inner}: done", f"{outer}: done")


FOO_PROGRAM = """
#include "foo.h"
#include <stdio.h>
int main(void) { printf("%d\\n", foo(21)); return foo(1) != 2; }
"""


@pytest.mark.parametrize("tools", [(), ("one",), ("one", "two"), ("two", "one")], ids="-".join)
def test_a_library_offers_its_own_table_to_tools(tool, run, build, tmp_path, tools):
    folder, library = REPO / "examples/tool/foo", tmp_path / "libfoo.so"
    cc = ["cc", "-Wall", "-Wextra", "-Werror", f"-I{REPO}/include", f"-I{folder}"]
    subprocess.run([
        *cc, "-shared", "-fPIC", folder / "foo.c", "-o", library, f"-L{build}",
        f"-Wl,-rpath,{build}", "-l:libgputap.so.0"
    ],
                   check=True)
    (tmp_path / "main.c").write_text(FOO_PROGRAM)
    subprocess.run([
        *cc, tmp_path / "main.c", library, f"-Wl,-rpath,{tmp_path}", f"-Wl,-rpath-link,{build}",
        "-o", tmp_path / "main"
    ],
                   check=True)
    libraries = [
        tool("foo/foo_tool", f"-I{folder}", f'-DNAME="{name}"', out=name) for name in tools
    ]
    done = run([tmp_path / "main"],
               env={"GPUTAP_TOOLS": ":".join(map(str, libraries))} if tools else {})
    assert done.out == "42\n"
    begun = [f"{name}: foo(21)" for name in reversed(tools)]
    assert done.err.splitlines(
    )[:2 * len(tools)] == begun + [f"{line} = 42" for line in reversed(begun)]
    assert len(done.err.splitlines()) == 4 * len(tools)
