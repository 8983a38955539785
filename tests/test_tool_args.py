# SPDX-License-Identifier: MIT
"""Compare the generator's description of live call arguments with the compilers: offsets in C, and
types in C++."""
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, REPO

sys.path.insert(0, str(REPO / "gen"))
import describe  # noqa: E402
import emit_info  # noqa: E402
import emit_mangled  # noqa: E402

DESCRIPTIONS = [
    "opencl", "hip", "hip-compiler", "hsa-core", "hsa-amd-ext", "hsa-image-ext", "hsa-finalize-ext",
    "rccl", "roctx"
]


def api_of(name):
    return describe.parse(str(REPO / "api" / f"{name}.api"), str(REPO))


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_arguments_lie_where_the_tables_say(name, tmp_path):
    api, checks = api_of(name), []
    for op in api.real():
        for a, (offset, size) in zip(op.args, emit_info.places(op)):
            member = f"struct gt_{api.domain}_args_{op.name}, {a.name}"
            checks.append(
                f"static_assert(offsetof({member}) == {offset} && sizeof(((struct"
                f" gt_{api.domain}_args_{op.name} *)0)->{a.name})"
                f' == {size}, "{op.name} {a.name}");'
            )
    assert len(checks) >= 5
    source = tmp_path / "places.c"
    source.write_text(
        f'#define CL_TARGET_OPENCL_VERSION 300\n#include "generated/{api.domain}_wraps.h"\n#include'
        ' <assert.h>\n#include <stddef.h>\n'
        + "\n".join(checks)
        + "\n"
    )
    result = subprocess.run([
        "gcc", "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-w", "-I", REPO, "-I", BUILD, "-I",
        REPO / "src", "-I", REPO / "include", source
    ],
                            capture_output=True,
                            text=True)
    assert result.returncode == 0, result.stderr[:3000]


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_values_are_read_with_the_size_that_they_have(name):
    for op in api_of(name).real():
        for a in op.args:
            assert a.stars or a.view.bytes == a.type.bytes, (op.name, a.shown)
            assert len(op.args) <= 64  # tool_args.c


PINS = """#define __HIP_PLATFORM_AMD__
#include <typeinfo>
#include <cstdio>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>
template<class R, class... A> void show(const char *n, R (*)(A...))
{
	printf("%s", n);
	(printf(" %s", typeid(A).name()), ...);
	puts("");
}
int main() {
"""


OLDER_HIPRTC = {
    "P16hiprtcJIT_option": "PK12hipJitOption",
    "18hiprtcJITInputType": "15hipJitInputType",
    "P16ihiprtcLinkState": "15hiprtcLinkState",
    "PP16ihiprtcLinkState": "P15hiprtcLinkState"
}


def test_types_are_called_as_typeid_calls_them(tmp_path):
    if not shutil.which("hipcc"):
        pytest.skip("no HIP headers")
    want = {
        op.name: [
            emit_mangled.mangled_type(op, a).replace("18rocprofiler_dim3_t", "4dim3")
            for a in op.args
        ]
        for name in ("hip", "hsa-core", "hsa-amd-ext", "hsa-image-ext", "hsa-finalize-ext")
        for op in api_of(name).real()
    }
    source, program, names, first = tmp_path / "pins.cpp", tmp_path / "pins", list(
        want), PINS.count("\n") + 1

    def compiled(*options):
        source.write_text(PINS + "".join(f'show("{n}", {n});\n' for n in names) + "}\n")
        return subprocess.run(
            ["g++", "-w", "-std=c++17", "-fmax-errors=0", "-I/usr/include/hsa", source, *options],
            capture_output=True,
            text=True)

    # skip functions that these headers do not declare, or declare twice for C++
    lines = {
        int(n) for n in re.findall(r"pins\.cpp:(\d+):\d+: error",
                                   compiled("-fsyntax-only").stderr)
    }
    names = [n for i, n in enumerate(names) if i + first not in lines]
    assert len(names) > 500
    result = compiled("-o", program, "-Wl,--unresolved-symbols=ignore-all")
    assert result.returncode == 0, result.stderr[:3000]
    for line in subprocess.run([program], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        name, *types = line.split(" ")
        if re.match("hipGraphExternalSemaphores.*GetParams", name):  # HIP 5.7: const output
            types = [t.replace("PK", "P") for t in types]
        if name.startswith("hiprtcLink"):  # HIP 5.7 names hiprtc's enums differently
            types = [OLDER_HIPRTC.get(t, t) for t in types]
        assert types == want[name], name
