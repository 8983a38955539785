# SPDX-License-Identifier: MIT
"""Test API descriptions, the code generated from them, and the numbers that must never change."""
import importlib.util
import random
import re
import subprocess
import sys

import pytest

from conftest import BUILD, REPO

GOOD = """domain toy 14 "a toy"
table toy_table 2 <toy.h>
extensions 10
handle toy_queue
integer toy_uint u32
integer size_t u64
status toy_int i32 { TOY_OK = 0, TOY_BAD = -1 }
enum toy_mode u32 { TOY_FAST = 1 }
group things
0 toy_int toy_start(toy_queue queue, toy_uint count) launch
1 toy_queue toy_create(string const char *name, status toy_int *error)
"""

# name: (text of GOOD to replace, replacement, line number in the message, message)
BAD = {
    "unknown_statement": ("group things", "gruop things", 9,
                          "unknown statement 'gruop' (did you mean 'group'?)"),
    "asks_about_a_stranger": ("count) launch", "count) launch asks(queu)", 10,
                              "toy_start has no argument 'queu' (did you mean 'queue'?)"),
    "domain_without_number": ('domain toy 14 "a toy"', 'domain toy "a toy"', 1,
                              "expected a number"),
    "unknown_mark": (") launch", ") marker pusch", 10, "unknown word 'pusch' of an operation"),
    "drains_no_stream": (") launch", ") synchronisation drains", 10,
                         "toy_start 'drains' a stream, but has none"),
    "finishes_what_is_not_waited_for": (") launch", ") launch finishes", 10,
                                        "toy_start 'finishes', but is not a synchronisation"),
    "part_behind_the_table": ("extensions 10", 'part "toy_fill" 2', 3,
                              "'toy_fill' must start after the last part and within the table"),
    "two_runtimes": ("handle toy_queue", 'runtime a "A"\nruntime b "B"', 5,
                     "a description can have only one runtime"),
    "named_by_nobody": ("toy_queue queue", "named toy_queue queue", 10,
                        "'queue' cannot be named: only an announced domain has names"),
    "named_number": ("toy_uint count", "named toy_uint count", 10,
                     "'count' cannot be named: it is toy_uint"),
    "announced_and_done_by_a_tap": (
        "extensions 10", "announced", 11,
        "toy_create: an announced call has no tap to do this"),
    "unknown_type": ("toy_uint count", "toy_unit count", 10,
                     "unknown type 'toy_unit' (did you mean 'toy_uint'?)"),
    "unknown_kind": (") launch", ") lanch", 10,
                     "unknown word 'lanch' of an operation (did you mean 'launch'?)"),
    "unknown_representation": ("toy_uint u32", "toy_uint u33", 5,
                               "unknown representation 'u33' (did you mean 'u32'?)"),
    "unknown_length": ("toy_uint count", "toy_uint count, const toy_queue *list[cuont]", 10,
                       "toy_start has no argument 'cuont' (did you mean 'count'?)"),
    "unknown_status": (") launch", ") readable(TOY_BAT)", 10,
                       "unknown status 'TOY_BAT' (did you mean 'TOY_BAD'?)"),
    "unknown_callback": (") launch", ") unless quue", 10,
                         "toy_start has no argument 'quue' (did you mean 'queue'?)"),
    "number_used_twice": ("1 toy_queue", "0 toy_queue", 11, "number 0 is toy_start, line 10 of"),
    "number_between_table_and_extensions": ("1 toy_queue", "7 toy_queue", 11,
                                            "number 7 is neither in the table"),
    "number_without_room": ("1 toy_queue", "1024 toy_queue", 11,
                            "number 1024: numbers must be below 1024"),
    "name_used_twice": ("toy_create", "toy_start", 11,
                        "'toy_start' is already described in line 10 of"),
    "argument_named_twice": ("toy_uint count", "toy_uint queue", 10,
                             "two arguments of toy_start are called 'queue'"),
    "value_with_two_names": ("TOY_FAST = 1", "TOY_FAST = 1, TOY_QUICK = 1", 8,
                             "1 has two names in toy_mode"),
    "name_with_two_values": ("TOY_FAST = 1", "TOY_FAST = 1, TOY_FAST = 2", 8,
                             "'TOY_FAST' is in toy_mode twice"),
    "type_described_twice": ("enum toy_mode", "enum toy_uint", 8,
                             "type 'toy_uint' is described twice"),
    "missing_parenthesis": ("toy_uint count) launch", "toy_uint count", 11,
                            "continuation lines are indented"),
    "statement_not_at_the_margin": ("group things", " group things", 9,
                                    "'group' is not part of a statement"),
    "string_that_is_none": ("string const char *name", "string const toy_uint *name", 11,
                            "'name' cannot be string"),
    "two_statuses": ("status toy_int *error", "status toy_int *a, status toy_int *error", 11,
                     "more than one status"),
    "out_of_a_value": ("toy_uint count", "out toy_uint count", 10,
                       "'out' needs a pointer, and 'count' is not one"),
    "length_that_is_a_pointer": ("toy_uint count", "toy_uint *count, const toy_queue *list[count]",
                                 10, "'count' cannot be a length: it is toy_uint *"),
    "strange_character": ("toy_uint count", "toy_uint count;", 10, "unexpected ';'"),
    "operation_without_group": ("group things\n", "\n", 10, "an operation before the first group"),
    "end_in_the_middle": ("status toy_int *error)\n", "status", 11, "unexpected end of file"),
}


def generate(*words):
    return subprocess.run([sys.executable, REPO / "tools" / "generate", *words],
                          text=True,
                          capture_output=True,
                          timeout=600)


def describe():
    spec = importlib.util.spec_from_file_location("describe", REPO / "gen" / "describe.py")
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def domains():
    """Yield domain and file name of each description, except files that are only included by
    others."""
    for path in sorted((REPO / "api").glob("*.api")):
        found = re.search(r"^domain (\w+) \d+ ", path.read_text(), re.M)
        if found:
            yield found[1], path.name


DESCRIPTIONS = dict(domains())


@pytest.fixture(scope="module")
def opencl():
    return describe().parse(str(REPO / "api" / "opencl.api"), str(REPO))


def test_generated_files_are_what_the_descriptions_make():
    result = generate("--check")
    assert result.returncode == 0, result.stderr


def test_tiny_description_makes_the_golden_files():
    result = generate("--check", "--output", REPO / "tests/gen/golden", REPO / "tests/gen/tiny.api")
    assert result.returncode == 0, result.stderr


def test_check_shows_a_file_that_differs_and_leaves_it(tmp_path):
    generate("--output", tmp_path, REPO / "tests/gen/tiny.api")
    changed = tmp_path / "tiny_ops.h"
    changed.write_text(changed.read_text() + "\n")
    before = changed.read_text()
    result = generate("--check", "--output", tmp_path, REPO / "tests/gen/tiny.api")
    assert result.returncode == 1 and "tiny_ops.h" in result.stderr
    assert changed.read_text() == before


def test_generator_keeps_to_the_standard_library_and_2850_lines():
    lines = 0
    for path in [*(REPO / "gen").glob("*.py"), REPO / "tools" / "generate"]:
        text = path.read_text()
        modules = set(re.findall(r"^(?:import|from) (\w+)", text, re.M))
        assert modules <= set(sys.stdlib_module_names) | {
            "describe", "emit_domains", "emit_info", "emit_mangled", "emit_pti",
            "emit_rocprofiler", "emit_taps", "emit_thunks", "isa"
        }
        if path.name != "isa.py":  # isa.py belongs to soft/amdgpu
            lines += text.count("\n")
    assert lines <= 2850  # 400 of these lines generate the rocprofiler-sdk and PTI libraries


def test_good_description_is_accepted(tmp_path):
    (tmp_path / "toy.api").write_text(GOOD)
    result = generate("--output", tmp_path, tmp_path / "toy.api")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", BAD)
def test_bad_description_fails_with_file_and_line(name, tmp_path):
    old, new, line, said = BAD[name]
    assert GOOD.count(old) == 1
    (tmp_path / "toy.api").write_text(GOOD.replace(old, new))
    result = generate("--output", tmp_path, tmp_path / "toy.api")
    assert result.returncode == 1
    assert result.stderr.startswith(f"toy.api:{line}: "), result.stderr
    assert said in result.stderr
    assert list(
        tmp_path.iterdir()) == [tmp_path / "toy.api"], "nothing is written for a bad description"


def test_included_file_is_named_when_it_is_bad(tmp_path):
    (tmp_path / "toy.api").write_text(
        GOOD.replace("group things", 'include "more.api"\ngroup things'))
    (tmp_path / "more.api").write_text("# fine\nenum toy_more u32 { A = 1, B = 1 }\n")
    assert generate(tmp_path / "toy.api").stderr.startswith("more.api:2: 1 has two names")


def test_file_that_includes_itself_is_reported(tmp_path):
    (tmp_path / "toy.api").write_text('include "toy.api"\n')
    assert generate(tmp_path / "toy.api").stderr == "toy.api: included twice\n"


def wrong_together(tmp_path, monkeypatch, **files):
    """Return the error message for descriptions that are valid alone but not together."""
    module = describe()
    monkeypatch.syspath_prepend(str(REPO / "gen"))
    import emit_domains  # noqa: PLC0415
    for name, text in files.items():
        (tmp_path / f"{name}.api").write_text(text)
    apis = [module.parse(str(tmp_path / f"{name}.api"), str(tmp_path)) for name in files]
    with pytest.raises(emit_domains.Wrong) as said:
        emit_domains.check(apis)
        emit_domains.outputs(apis, [], [])
    return str(said.value)


def test_two_domains_with_one_number_are_reported(tmp_path, monkeypatch):
    said = wrong_together(tmp_path,
                          monkeypatch,
                          toy='domain toy 14 "a toy"\n',
                          other='domain other 14 "another"\n')
    assert said == "toy.api:1: other.api has the same number or name: 14 other"


def test_domain_whose_work_is_nobodys_is_reported(tmp_path, monkeypatch):
    said = wrong_together(tmp_path, monkeypatch, toy='domain toy 14 "a toy"\nactivities gone\n')
    assert said == "toy.api:2: no domain is called 'gone'"


def test_domain_beneath_nobody_is_reported(tmp_path, monkeypatch):
    said = wrong_together(tmp_path, monkeypatch, toy='domain toy 14 "a toy"\nbeneath gone\n')
    assert said == "toy.api:2: no outermost API is called 'gone'"


def test_mode_that_is_there_already_is_reported(tmp_path, monkeypatch):
    said = wrong_together(tmp_path, monkeypatch, toy='domain toy 14 "a toy"\nmode lite "all"\n')
    assert said == "toy.api:2: mode 'lite' already exists"


def test_runtime_that_needs_none_that_is_traced_is_reported(tmp_path, monkeypatch):
    said = wrong_together(tmp_path,
                          monkeypatch,
                          toy='domain toy 14 "a toy"\nruntime toy "Toy" library "t" needs gone\n')
    assert said == "toy.api:2: 'gone' is not a traced runtime without needs"


def test_file_that_is_no_text_is_reported(tmp_path):
    (tmp_path / "toy.api").write_bytes(b"domain \xff\xfe\n")
    assert generate(tmp_path / "toy.api").stderr.startswith("toy.api: 'utf-8' codec")


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_never_end_in_a_traceback(seed, tmp_path):
    module, chance = describe(), random.Random(seed)
    text = (REPO / "tests/gen/tiny-types.api").read_text() + (REPO /
                                                              "tests/gen/tiny.api").read_text()
    words = re.findall(r"\s+|\w+|[^\w\s]", text.replace('include "tiny-types.api"', ""))
    path = tmp_path / "tiny.api"
    refused = 0
    for _ in range(300):
        edited = list(words)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(edited))
            new = chance.choice([
                "",
                chance.choice(words), edited[at] + chance.choice(words), "0", "-1", '"', "<", "[",
                "1" * 30
            ])
            edited[at] = new
        path.write_text("".join(edited))
        try:
            module.parse(str(path), str(tmp_path))
        except module.Bad as bad:
            refused += 1
            assert re.match(r"tiny\.api:\d+: ", str(bad)), bad
    assert refused > 100


def test_missing_include_is_reported(tmp_path):
    (tmp_path / "toy.api").write_text('include "gone.api"\n')
    assert generate(tmp_path / "toy.api").stderr.startswith("gone.api: No such file")


# Numbers that captures contain forever ------------------------------------------

def frozen():
    lines = (REPO / "tests/golden/operations.txt").read_text().splitlines()
    return [tuple(line.split()) for line in lines if line and not line.startswith("#")]


def test_frozen_numbers_and_names_are_unique():
    rows = frozen()
    assert len({row[:2] for row in rows}) == len(rows)
    assert len({(row[0], row[2]) for row in rows}) == len(rows)


@pytest.mark.parametrize("domain", DESCRIPTIONS)
def test_operations_have_the_numbers_they_were_frozen_with(domain):
    api = describe().parse(str(REPO / "api" / DESCRIPTIONS[domain]), str(REPO))
    described = {(domain, str(op.number), op.name) for op in api.operations}
    assert described == {row for row in frozen() if row[0] == domain}, (
        "numbers never change and are never used again; new operations are added to"
        " tests/golden/operations.txt"
    )


def test_every_blocking_argument_of_opencl_says_whether_the_call_waits():
    """Exporters use this role to find the copies that the program waited for, including copies by
    functions of extensions."""
    api = describe().parse(str(REPO / "api" / DESCRIPTIONS["opencl"]), str(REPO))
    blocking = {(op.name, arg.name): arg.role for op in api.operations for arg in op.args
                if arg.name.startswith("blocking")}
    assert {op for op, _ in blocking} >= {
        "clEnqueueReadBuffer", "clEnqueueSVMMemcpy", "clEnqueueSVMMemcpyARM",
        "clEnqueueMemcpyINTEL", "clEnqueueSVMMemcpyRectPOCL"
    }
    assert set(blocking.values()) == {"blocks"}, {k: v for k, v in blocking.items()
                                                  if v != "blocks"}


def test_numbers_of_entries_that_hip_s_table_will_have_are_free():
    """Table positions from 512 on have numbers from 768 on (docs/internals/decisions.md). The
    library's other exports have lower numbers."""
    described = {number for domain, number, _ in frozen() if domain == "hip"}
    assert not described & set(map(str, range(506, 512))) and not described & set(
        map(str, range(768, 1024)))


def test_domain_numbers_never_change():
    found = re.findall(r"X\((\d+), (\w+),", (BUILD / "generated/domains.h").read_text())
    numbers = {name: int(number) for number, name in found}
    known = {
        "OPENCL": 1, "HIP": 2, "HIP_COMPILER": 3, "HSA_CORE": 4, "HSA_AMD_EXT": 5, "LEVEL_ZERO": 6,
        "CUDA_RUNTIME": 7, "CUDA_DRIVER": 8, "ROCTX": 9, "REFDEV": 10, "HSA_IMAGE_EXT": 11,
        "HSA_FINALIZE_EXT": 12, "RCCL": 13
    }
    assert {name: numbers.get(name) for name in known} == known


# Comparison with the headers of the distribution -------------------------------

def compiles(tmp_path, text):
    source = tmp_path / "check.c"
    source.write_text(text)
    return subprocess.run([
        "cc", "-std=gnu11", "-fsyntax-only", "-DCL_TARGET_OPENCL_VERSION=300", f"-I{REPO}/src",
        f"-I{REPO}", f"-I{BUILD}", source
    ],
                          text=True,
                          capture_output=True,
                          timeout=600)


def test_every_entry_of_the_dispatch_table_is_described(opencl, tmp_path):
    text = "#include <assert.h>\n#include <stddef.h>\n#include <CL/cl_icd.h>\n"
    text += (
        f"static_assert(sizeof(cl_icd_dispatch) == {opencl.table_count} * sizeof(void *),"
        " \"entries\");\n"
    )
    for op in opencl.operations:
        if op.number < opencl.table_count:
            text += (
                f"static_assert(offsetof(cl_icd_dispatch, {op.name}) == {op.number} * sizeof(void"
                f" *), \"{op.name}\");\n"
            )
    result = compiles(tmp_path, text)
    assert result.returncode == 0, result.stderr
    assert {op.number for op in opencl.operations} >= set(range(opencl.table_count))


def test_prototypes_of_the_table_are_the_header_s(opencl, tmp_path):
    text = '#include <assert.h>\n#include "generated/opencl_wraps.h"\n'
    for op in opencl.real():
        if op.number < opencl.table_count:
            arguments = ", ".join(a.declaration() for a in op.args) or "void"
            text += (
                f"typedef {op.ret_c()} t_{op.name}({arguments});\n"
                f"static_assert(__builtin_types_compatible_p(t_{op.name} *,"
                f" __typeof__(((cl_icd_dispatch *)0)->{op.name})), \"{op.name}\");\n"
            )
    result = compiles(tmp_path, text)
    assert result.returncode == 0, result.stderr


def test_values_have_the_header_s_names(opencl, tmp_path):
    text = "#include <assert.h>\n#include <CL/cl_icd.h>\n#include <CL/cl_ext.h>\n"
    for t in opencl.types.values():
        for name, value, _ in t.names:
            bits = "(unsigned long long)" if value >= 0 else "(long long)"
            text += (
                f"#ifdef {name}\nstatic_assert({bits}({name}) == {bits}({value}LL),"
                f" \"{name}\");\n#endif\n"
            )
    result = compiles(tmp_path, text)
    assert result.returncode == 0, result.stderr


HANDED_OUT = """
import ctypes, glob, re
cl = ctypes.CDLL("libOpenCL.so.1")
platform = ctypes.c_void_p()
assert cl.clGetPlatformIDs(1, ctypes.byref(platform), None) == 0
address = cl.clGetExtensionFunctionAddressForPlatform
address.restype, address.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
driver, = {re.search(r"/\\S*libpocl\\.so\\S*", line).group(0)
           for line in open("/proc/self/maps") if "libpocl.so" in line}
for name in sorted(set(re.findall(rb"(?<=\\0)cl[A-Z]\\w+(?=\\0)", open(driver, "rb").read()))):
    if address(platform, name):
        print(name.decode())
"""


def test_every_function_that_pocl_hands_out_by_name_is_described(opencl, run):
    names = run([sys.executable, "-c", HANDED_OUT]).out.split()
    assert len(names) >= 17
    assert set(names) <= {op.name for op in opencl.operations}


def extension_functions(opencl):
    return [op for op in opencl.operations if op.number >= opencl.table_count]


def test_each_wrap_of_the_description_is_written(opencl, build, run):
    """Wraps are weak symbols. Without this check, a missing wrap would be skipped silently, and its
    GPU activities would be missing."""
    symbols = set(run(["nm", "--defined-only", build / "libgputap.so.0"]).out.split())
    missing = [
        op.name
        for op in opencl.operations
        if op.wrap and f"gt_opencl_wrap_{op.name}" not in symbols
    ]
    assert missing == [] and "gt_opencl_wrap_clEnqueueNDRangeKernel" in symbols


def test_the_table_of_extension_functions_is_the_description_s(opencl, repo):
    text = (repo / "docs/internals/interception.md"
            ).read_text().split("### Extension functions with device times")[1].split("###")[0]
    rows = [[cell.strip()
             for cell in line.split("|")[1:-1]]
            for line in text.splitlines()
            if line.startswith("| `cl")]
    told = [(name, not row[2].startswith("no"))
            for row in rows
            for name in re.findall(r"`(cl\w+)`", row[0])]
    wait = {"num_events_in_wait_list", "num_sync_points_in_wait_list"}
    assert len(told) == len(set(told))
    assert dict(told) == {
        op.name: op.wrap
        for op in extension_functions(opencl)
        if op.wrap or wait & {a.name for a in op.args}
    }
