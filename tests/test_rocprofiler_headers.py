# SPDX-License-Identifier: MIT
"""Test the headers compatible with rocprofiler-sdk's: layouts to the byte, in C and C++, with and
without the runtimes' headers."""

import re
import subprocess

import pytest

LANGUAGES = {"c11": ["cc", "-std=c11", "-x", "c"], "c++17": ["c++", "-std=c++17", "-x", "c++"]}
TYPES = {"runtimes": [], "opaque": ["-DGPUTAP_ROCPROFILER_OPAQUE"]}


def compile_text(repo, work, language, text, *options):
    (work / "text").write_text(text)
    done = subprocess.run([
        *LANGUAGES[language], "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
        f"-I{repo}/include/compat", "-idirafter", f"{repo}/include/compat/rocm5", *options, "text"
    ],
                          capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_layouts_and_numbers_are_those_of_1_0_0(repo, work, language, types):
    compile_text(repo, work, language, (repo / "tests/rocprofiler/pins.c").read_text(),
                 *TYPES[types])


def headers(repo, language):
    compat, endings = repo / "include/compat", ("*.h", "*.hpp") if language == "c++17" else ("*.h",)
    return [
        h.relative_to(compat).as_posix()
        for folder in ("rocprofiler-sdk", "rocprofiler-sdk-rocattach", "rocprofiler-sdk-roctx")
        for ending in endings
        for h in sorted((compat / folder).rglob(ending))
        if h.parent.name != "details" or h.suffix == ".hpp"
    ]


def test_each_header_can_be_included_alone_and_twice(repo, work):
    names = headers(repo, "c11")
    assert len(names) > 50
    for n, header in enumerate(names):
        (work / f"{n}.c").write_text(f"#include <{header}>\n" * 2)
    done = subprocess.run([
        "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
        f"-I{repo}/include/compat", "-DGPUTAP_ROCPROFILER_OPAQUE",
        *(f"{n}.c" for n in range(len(names)))
    ],
                          capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_headers_together_compile_with_the_runtimes_headers(repo, work, language):
    compile_text(repo, work, language, "".join(
        f"#include <{header}>\n" for header in reversed(headers(repo, language))))


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_headers_compile_for_sources_of_0_5(repo, work, language):
    pins = "_Static_assert" if language == "c11" else "static_assert"
    compile_text(
        repo,
        work,
        language,
        "".join(f"#include <{header}>\n" for header in headers(repo, language))
        + f'{pins}(sizeof(rocprofiler_buffer_tracing_page_migration_record_t) == 136, "as 0.5 has'
        ' it");\n',
        "-DGPUTAP_ROCPROFILER_0_5",
    )


def test_a_lost_member_does_not_pass(repo, work):
    text = (repo / "tests/rocprofiler/pins.c").read_text().replace(
        "SIZE(rocprofiler_correlation_id_t, 24)", "SIZE(rocprofiler_correlation_id_t, 16)")
    with pytest.raises(AssertionError, match="rocprofiler_correlation_id_t"):
        compile_text(repo, work, "c11", text)


def test_hips_tables_have_rocm_7_2s_layout(repo, work, hip_headers):
    compile_text(
        repo,
        work,
        "c++17",
        "#include <rocprofiler-sdk/hip/types.h>\n#include"
        " <hip/amd_detail/hip_api_trace.hpp>\nstatic_assert(sizeof(HipDispatchTable) == 4056 &&"
        " sizeof(HipCompilerDispatchTable) == 80);\nstatic_assert(offsetof(HipDispatchTable,"
        " hipLaunchKernel_fn) == 8 + 8 * 214);\n",
    )


def test_operation_ids_are_the_descriptions_numbers(repo):
    golden = dict(
        re.findall(r"^hip (\d+) (\w+)", (repo / "tests/golden/operations.txt").read_text(), re.M))
    ids = dict(
        re.findall(r"HIP_RUNTIME_API_ID_(\w+) = (\d+),",
                   (repo / "include/compat/rocprofiler-sdk/hip/runtime_api_id.h").read_text()))
    assert len(ids) == 506 and sorted(map(int, ids.values())) == list(range(506))
    assert len(golden) > 506
    assert all(golden[number] == name for name, number in ids.items())


def test_containers_get_elements_and_room_as_upstream_s_tokenize_wants_it(repo, work):
    compile_text(repo, work, "c++17", """
#include <rocprofiler-sdk/cxx/details/mpl.hpp>
#include <list>
#include <set>
#include <vector>
int main()
{
	namespace mpl = rocprofiler::sdk::mpl;
	std::vector<std::string> v;
	std::set<int> s;
	std::list<int> l;

	mpl::emplace(v, "text");
	mpl::emplace(s, 3);
	mpl::emplace(l, 4);
	return mpl::reserve(v, 8) && !mpl::reserve(s, 8) && !mpl::reserve(l, 8) ? 0 : 1;
}
""")
