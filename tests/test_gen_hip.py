# SPDX-License-Identifier: MIT
"""Compare the spelling of HIP types in api/hip.api with the installed headers and library."""

import pathlib
import re
import subprocess

import pytest

from conftest import BUILD, REPO
from test_gen_descriptions import describe

PRELUDE = """
#include <cstddef>
#include <cstdint>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>
#define __HIP_PLATFORM_AMD__ 1
#undef __cplusplus // C's half of the headers: no overloads
extern "C" {
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
}
#define __cplusplus 201703L
#include "generated/hip_wraps.h"
#include "generated/hip_compiler_wraps.h"
template <class A, class B> constexpr bool alike()
{ // passed in the same way: both addresses, both numbers, or both structs of the same size
	if (std::is_void<A>() || std::is_void<B>())
		return std::is_void<A>() && std::is_void<B>();
	else if (std::is_pointer<A>() || std::is_reference<A>() || std::is_pointer<B>())
		return (std::is_pointer<A>() || std::is_reference<A>()) && std::is_pointer<B>();
	else
		return sizeof(A) == sizeof(B) && std::is_class<A>() == std::is_class<B>() &&
		       std::is_floating_point<A>() == std::is_floating_point<B>();
}
template <class A, class B> struct same : std::false_type {};
template <class R, class... P, class S, class... Q> struct same<R (*)(P...), S (*)(Q...)>
{
	template <bool count, class = void> struct all { static constexpr bool value = false; };
	template <class D> struct all<true, D> {
		static constexpr bool value = (alike<P, Q>() && ...);
	};
	static constexpr bool value = alike<R, S>() && all<sizeof...(P) == sizeof...(Q)>::value;
};
"""


@pytest.fixture(scope="module")
def apis():
    return [
        describe().parse(str(REPO / "api" / name), str(REPO))
        for name in ("hip.api", "hip-compiler.api")
    ]


@pytest.fixture(scope="module")
def header(hip_headers, tmp_path_factory):
    """Return the preprocessed declarations of the headers."""
    path = tmp_path_factory.mktemp("hip") / "h.c"
    path.write_text(
        "#define __HIP_PLATFORM_AMD__ 1\n#include <hip/hip_runtime_api.h>\n#include"
        " <hip/hiprtc.h>\n"
    )
    return subprocess.run(["gcc", "-E", "-dD", "-w", path],
                          text=True,
                          check=True,
                          stdout=subprocess.PIPE).stdout


def compiles(tmp_path, text):
    source = tmp_path / "check.cc"
    source.write_text(text)
    result = subprocess.run(["g++", "-std=c++17", "-fpermissive", "-fsyntax-only", "-w", source],
                            text=True,
                            capture_output=True,
                            timeout=600)
    assert result.returncode == 0, result.stderr[:4000]


def without_core(text):
    """Keep only the types of generated headers. C++ lacks C11 atomics, which other parts use."""
    for name in ("hip", "hip_compiler"):
        made = (BUILD / f"generated/{name}_wraps.h").read_text()
        structs = "\n".join(
            re.findall(r"^(?:struct gt_hip_\w+ \{.*|#ifndef gt_hip_.*|#define gt_hip_.*|#endif)$",
                       made.split("/* Hand-written.")[0], re.M))
        text = text.replace(f'#include "generated/{name}_wraps.h"',
                            structs.rpartition("#endif")[0] + "#endif")
    return text


def test_prototypes_are_passed_as_the_header_s(apis, header, tmp_path):
    text, checked = without_core(PRELUDE), 0
    for api in apis:
        for op in api.real():
            if not re.search(rf"[\s*]{op.name}\s*\(",
                             header) or op.name == "hipLaunchKernelGGLImpl":
                continue
            arguments = ", ".join(a.c_type().replace("_Bool", "bool") for a in op.args)
            text += (
                f"static_assert(same<decltype(&{op.name}), {op.ret_c().replace('_Bool', 'bool')}"
                f" (*)({arguments})>::value, \"{op.name}\");\n"
            )
            checked += 1
    assert checked > 370
    compiles(tmp_path, text)


def test_structs_have_the_header_s_members_where_they_are(apis, header, tmp_path):
    text, checked = without_core(PRELUDE), 0
    for t in apis[0].types.values():
        if t.cls != "struct" or not re.search(rf"\b{t.name}\b", header):
            continue
        text += f"static_assert(sizeof({t.name}) == {t.bytes}, \"{t.name}\");\n"
        for field, name, offset, _ in t.fields:
            if not name.startswith("reserved"):
                text += (
                    f"static_assert(offsetof({t.name}, {name}) == {offset} && sizeof((({t.name}"
                    f" *)0)->{name}) == {field.bytes}, \"{t.name}.{name}\");\n"
                )
                checked += 1
    assert checked > 60
    compiles(tmp_path, text)


def test_values_have_the_header_s_names(apis, header, tmp_path):
    text, checked = without_core(PRELUDE), 0
    known = set(re.findall(r"\b\w+\b", header))
    for t in apis[0].types.values():
        for name, value, _ in t.names:
            if name in known:
                text += (
                    f"static_assert((long long)({name}) == (long long)({value}LL), \"{name}\");\n"
                )
                checked += 1
    assert checked > 350
    compiles(tmp_path, text)


def test_every_error_of_the_header_has_its_name(apis, header):
    body = re.search(r"enum\s+hipError_t\s*\{(.*?)\}", header, re.S)[1]
    described = {name for name, _, _ in apis[0].types["hipError_t"].names}
    synonyms = {
        "hipErrorMemoryAllocation", "hipErrorInitializationError", "hipErrorMapBufferObjectFailed",
        "hipErrorInvalidResourceHandle"
    }  # older names of the same numbers
    assert set(re.findall(r"\bhipError\w+|\bhipSuccess", body)) <= described | synonyms


def exports(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library],
                         text=True,
                         check=True,
                         stdout=subprocess.PIPE).stdout
    return {
        line.split()[2].partition("@")[0] for line in out.splitlines() if line.split()[1] in "TW"
    }


def library():
    for line in subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE,
                               text=True).stdout.splitlines():
        if re.match(r"\s*libamdhip64\.so\.\d+ ", line):
            return line.rsplit(" ", 1)[1]
    pytest.skip("needs libamdhip64.so")


def test_every_export_of_the_library_is_described(apis):
    """Helpers of gcc for half precision and symbols of the debugger's library do not belong to
    HIP."""
    described = {name for api in apis for op in api.real() for name in (op.exported, op.name)}
    others = {"__gnu_f2h_ieee", "__gnu_h2f_ieee"}
    left = {
        name for name in exports(library()) - described - others
        if not name.startswith("amd_dbgapi_")
    }
    assert left == set()


def test_positions_in_the_table_are_rocprofiler_s_operation_ids(apis):
    ids = {
        "hipExtLaunchKernel": 84, "hipGetDevice": 102, "hipGraphLaunch": 166,
        "hipLaunchKernel": 214, "hipMalloc": 215, "hipMemcpyAsync": 268,
        "hipModuleLaunchKernel": 308, "hipSetDevice": 327
    }
    assert {op.name: op.number for op in apis[0].real() if op.name in ids} == ids
    assert {op.number for op in apis[0].real() if op.number < 512} == set(range(506))
    assert {op.number for op in apis[1].real()} == set(range(9))


def test_positions_are_those_of_the_header_s_tables(apis):
    """The tables of the installed version match the first part of the described tables."""
    header = pathlib.Path("/usr/include/hip/amd_detail/hip_api_trace.hpp")
    if not header.exists():
        pytest.skip("needs HIP's header of its tables, which comes with ROCm 6.1")
    for api, name in zip(apis, ("HipDispatchTable", "HipCompilerDispatchTable")):
        body = re.search(rf"struct {name} \{{(.*?)\n\}};", header.read_text(), re.S)[1]
        entries = re.findall(r"\bt_\w+\s+(\w+)_fn;", body)
        described = {op.number: op.name for op in api.real()}
        assert [described.get(n) for n in range(len(entries))] == entries
