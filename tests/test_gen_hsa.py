# SPDX-License-Identifier: MIT
"""Compare HSA's descriptions with the distribution's headers: the generated taps rely on ABIs
without including any of these headers."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

HEADERS = pathlib.Path("/usr/include/hsa")
C_NAMES = {
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "i32": "int32_t",
    "i64": "int64_t"
}
# Operations missing from the AmdExtTable: all five from the table of 48 entries (ROCm 4.5 to 5.4),
# the first two from the table of 51 entries.
NOT_BEFORE = {48: {16, 17, 49, 50, 51}, 51: {16, 17}}

PRELUDE = """
#define AMD_INTERNAL_BUILD
#include <type_traits>
#include <cstdint>
#include "hsa_api_trace.h"
#include "hsa_ext_finalize.h"
struct gt_hsa_control_directives { uint64_t words[18]; };
/* Passed alike: of the same size, and in an integer register both. (Each handle is a struct of one
 * 64-bit number.) */
template <class T> constexpr bool whole = std::is_integral<T>::value ||
	std::is_enum<T>::value || std::is_pointer<T>::value ||
	(std::is_class<T>::value && std::is_trivially_copyable<T>::value && sizeof(T) == 8);
template <class A, class B> struct one {
	static constexpr bool same = sizeof(A) == sizeof(B) && whole<A> && whole<B>;
};
template <> struct one<hsa_ext_control_directives_t, gt_hsa_control_directives> { // in memory both
	static constexpr bool same = sizeof(hsa_ext_control_directives_t) == 144;
};
template <> struct one<void, void> { static constexpr bool same = true; };
template <class F, class G> struct alike { static constexpr bool same = false; };
template <class R, class S, class... A, class... B> struct alike<R(A...), S(B...)> {
	static constexpr bool counts = sizeof...(A) == sizeof...(B);
	template <bool c, class = void> struct all { static constexpr bool same = false; };
	template <class V> struct all<true, V> {
		static constexpr bool same = (one<A, B>::same && ... && one<R, S>::same);
	};
	static constexpr bool same = all<counts>::same;
};
#define _Bool bool
"""


@pytest.fixture(scope="module")
def apis(repo):
    if not (HEADERS / "hsa_api_trace.h").exists():
        pytest.skip("needs HSA's headers: apt install libhsa-runtime-dev")
    spec = importlib.util.spec_from_file_location("describe", repo / "gen/describe.py")
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return {
        name: module.parse(str(repo / "api" / f"{name}.api"), str(repo))
        for name in ("hsa-core", "hsa-amd-ext", "hsa-image-ext", "hsa-finalize-ext")
    }


def compiles(folder, lines):
    source = folder / "check.cc"
    source.write_text(PRELUDE + "\n".join(lines) + "\n")
    done = subprocess.run(
        ["c++", "-std=c++17", "-fsyntax-only", "-w", f"-I{HEADERS}", "-I/usr/include", source],
        text=True,
        capture_output=True)
    assert done.returncode == 0, done.stderr[:4000]


TABLES = {
    "hsa-core": "CoreApiTable", "hsa-amd-ext": "AmdExtTable", "hsa-image-ext": "ImageExtTable",
    "hsa-finalize-ext": "FinalizerExtTable"
}


def there(api, name):
    """Return [(position, operation)] for a table in the installed headers. The interception method
    must know the table's length."""
    text = (HEADERS / "hsa_api_trace.h").read_text()
    count = len(
        re.findall(r"decltype\(\w+\)\s*\*\s*\w+_fn;",
                   re.search(rf"struct {TABLES[name]}\s*\{{(.*?)\n\}};", text, re.S)[1]))
    assert count in {
        "hsa-core": (125, ), "hsa-amd-ext": (48, 51, *range(55, 77)), "hsa-image-ext": (13, 14),
        "hsa-finalize-ext": (6, )
    }[name]
    missing = NOT_BEFORE.get(count, set()) if name == "hsa-amd-ext" else set()
    ops = sorted((op for op in api.operations if op.number not in missing),
                 key=lambda op: op.number)
    return list(enumerate(ops))[:count]


@pytest.mark.parametrize("name", TABLES)
def test_hsa_functions_are_where_the_method_looks_for_them(apis, tmp_path, name):
    ops = there(apis[name], name)
    compiles(tmp_path, [
        f"static_assert(offsetof({TABLES[name]}, {op.name}_fn) == 16 + 8 * {i});" for i, op in ops
    ] + [f"static_assert(sizeof({TABLES[name]}) == 16 + 8 * {len(ops)});"])


@pytest.mark.parametrize("name", TABLES)
def test_hsa_prototypes_pass_what_the_headers_prototypes_pass(apis, tmp_path, name):
    lines = []
    for _, op in there(apis[name], name):
        described = f"{op.ret_c()}({', '.join(a.c_type() for a in op.args)})"
        lines.append(
            f'static_assert(alike<std::remove_pointer_t<decltype(&{op.name})>, {described}>::same,'
            f' "{op.name}");'
        )
    compiles(tmp_path, lines)


def test_hsa_enumerators_have_the_headers_values(apis, tmp_path):
    text = "".join((HEADERS / f).read_text()
                   for f in ("hsa.h", "hsa_ext_amd.h", "hsa_ext_image.h", "hsa_ext_finalize.h"))
    known = set(re.findall(r"\b(HSA_\w+|hsa[A-Z]\w+)\s*=", text))
    values = {n: v for api in apis.values() for t in api.types.values() for n, v, _ in t.names}
    lines = [f'static_assert((long)({n}) == {v}, "{n}");' for n, v in values.items() if n in known]
    assert len(lines) > 200
    compiles(tmp_path, lines)


@pytest.mark.parametrize("struct", [
    "hsa_dim3_t", "hsa_pitched_ptr_t", "hsa_amd_profiling_dispatch_time_t",
    "hsa_amd_profiling_async_copy_time_t", "hsa_ext_image_format_t", "hsa_ext_image_descriptor_t",
    "hsa_ext_image_data_info_t", "hsa_ext_image_region_t", "hsa_ext_sampler_descriptor_t"
])
def test_hsa_structs_have_the_headers_layout(apis, tmp_path, struct):
    t = apis["hsa-amd-ext"].types[struct]
    compiles(tmp_path, [f"static_assert(sizeof({struct}) == {t.bytes});"] +
             [f"static_assert(offsetof({struct}, {f[1]}) == {f[2]});" for f in t.fields])
