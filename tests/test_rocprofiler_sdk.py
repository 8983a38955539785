# SPDX-License-Identifier: MIT
"""Test the answers of librocprofiler-sdk.so.1, how it finds its tools, and that it lacks defects of
upstream's library."""

import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def sdk(build):
    """Return the folder of the library."""
    return build / "src/compat/rocprofiler"


@pytest.fixture(scope="session")
def compile_tool(repo, build, sdk, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rocprofiler")

    def compile(source, out, *options):
        subprocess.run([
            "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-DGPUTAP_ROCPROFILER_OPAQUE",
            f"-I{repo}/include/compat", repo / "tests/rocprofiler" / source, "-o", folder / out,
            *options, f"-L{sdk}", "-Wl,--no-as-needed", "-lrocprofiler-sdk", "-lpthread",
            f"-Wl,-rpath-link,{build}", f"-Wl,-rpath,{sdk}"
        ],
                       check=True)
        return folder / out
    return compile


@pytest.fixture(scope="session")
def check(compile_tool):
    return compile_tool("check.c", "check")


@pytest.fixture(scope="session")
def copies(repo, hip_headers, tmp_path_factory):
    """Build a HIP program that copies to a device and back."""
    program = tmp_path_factory.mktemp("programs") / "copies"
    subprocess.run([
        "cc", "-w", "-D__HIP_PLATFORM_AMD__", repo / "tests/rocprofiler/copies.c", "-o", program,
        "-lamdhip64"
    ],
                   check=True)
    return program


@pytest.fixture(scope="session")
def marking(build, tmp_path_factory):
    """Build a program that uses only ROCTx."""
    folder, roctx = tmp_path_factory.mktemp("marking"), build / "src/compat/roctx"
    (folder / "marking.c").write_text(
        '#include <stdio.h>\nvoid roctxMarkA(const char *);\nint main(void) { roctxMarkA("here");'
        ' puts("ran"); }\n'
    )
    subprocess.run([
        "cc", folder / "marking.c", "-o", folder / "marking", roctx / "libroctx64.so.4",
        f"-Wl,-rpath,{roctx}"
    ],
                   check=True)
    return folder / "marking"


def tool(compile_tool, name, result=0):
    return compile_tool("listed.c", f"{name}.so", "-shared", "-fPIC", f'-DNAME="{name}"',
                        f"-DRESULT={result}")


def run(command, build, **environment):
    return subprocess.run([str(c) for c in command],
                          env={**os.environ, "LD_LIBRARY_PATH": str(build), **environment},
                          text=True,
                          capture_output=True,
                          timeout=600)


# All public functions of 1.0.0, except three inline functions. The client defines
# rocprofiler_configure().
FUNCTIONS = """
    assign_callback_thread at_intercept_table_registration at_internal_thread_create
    configure_buffer_dispatch_counting_service configure_buffer_tracing_service
    configure_callback_dispatch_counting_service configure_callback_tracing_service
    configure_device_counting_service configure_device_thread_trace_service
    configure_dispatch_thread_trace_service configure_external_correlation_id_request_service
    configure_pc_sampling_service configure_spm_service context_is_active context_is_valid
    create_buffer create_callback_thread create_context create_counter create_counter_config
    destroy_buffer destroy_counter_config flush_buffer force_configure
    get_pc_sampling_instruction_not_issued_reason_name get_pc_sampling_instruction_type_name
    get_status_name get_status_string get_thread_id get_timestamp get_version
    get_version_triplet is_finalized is_initialized iterate_agent_supported_counters
    iterate_buffer_tracing_kind_operations iterate_buffer_tracing_kinds
    iterate_buffer_tracing_record_args iterate_callback_tracing_kind_operation_args
    iterate_callback_tracing_kind_operations iterate_callback_tracing_kinds
    iterate_counter_dimensions load_counter_definition ompt_is_finalized ompt_is_initialized
    ompt_start_tool pop_external_correlation_id push_external_correlation_id
    query_available_agents query_buffer_tracing_kind_name
    query_buffer_tracing_kind_operation_name query_callback_tracing_kind_name
    query_callback_tracing_kind_operation_name query_counter_info query_counter_instance_count
    query_external_correlation_id_request_kind_name query_intercept_table_name
    query_pc_sampling_agent_configurations query_record_counter_id
    query_record_dimension_position sample_device_counting_service start_context stop_context
    thread_trace_decoder_codeobj_load thread_trace_decoder_codeobj_unload
    thread_trace_decoder_create thread_trace_decoder_destroy thread_trace_decoder_info_string
    trace_decode"""


def test_every_public_function_is_there(sdk):
    listed = subprocess.run(["nm", "-D", "--defined-only", sdk / "librocprofiler-sdk.so.1"],
                            check=True,
                            text=True,
                            capture_output=True).stdout
    assert {line.split()[2].removeprefix("rocprofiler_") for line in listed.splitlines()} >= set(
        FUNCTIONS.split())


def test_what_is_not_there_says_so(compile_tool, build):
    done = run([compile_tool("absent.c", "absent")], build)
    assert (done.returncode, done.stderr) == (0, "")
    said = [
        line.replace("ROCPROFILER_STATUS_ERROR_", "").replace("ROCPROFILER_STATUS_", "")
        for line in done.stdout.splitlines()
    ]
    assert said == [
        "create_context SUCCESS", "query_record_counter_id NO_HARDWARE_COUNTERS",
        "query_record_dimension_position NO_HARDWARE_COUNTERS",
        "query_counter_info COUNTER_NOT_FOUND",
        "iterate_agent_supported_counters NO_HARDWARE_COUNTERS",
        "create_counter NO_HARDWARE_COUNTERS", "create_counter_config NO_HARDWARE_COUNTERS",
        "destroy_counter_config PROFILE_NOT_FOUND", "iterate_counter_dimensions COUNTER_NOT_FOUND",
        "query_counter_instance_count COUNTER_NOT_FOUND",
        "load_counter_definition NO_HARDWARE_COUNTERS",
        "configure_device_counting_service NOT_IMPLEMENTED",
        "sample_device_counting_service NOT_IMPLEMENTED", "configure_spm_service NOT_IMPLEMENTED",
        "configure_pc_sampling_service NOT_IMPLEMENTED",
        "query_pc_sampling_agent_configurations NOT_IMPLEMENTED", "names (nil) (nil)",
        "configure_device_thread_trace_service NOT_IMPLEMENTED",
        "configure_dispatch_thread_trace_service NOT_IMPLEMENTED",
        "thread_trace_decoder_create NOT_AVAILABLE", "decoder 0",
        "thread_trace_decoder_codeobj_load INVALID_ARGUMENT",
        "thread_trace_decoder_codeobj_unload INVALID_ARGUMENT", "trace_decode INVALID_ARGUMENT",
        "info (nil)", "ompt_is_initialized SUCCESS", "openmp 0", "ompt_is_finalized SUCCESS",
        "openmp 0", "start_context SUCCESS"
    ]


def test_statuses_are_those_that_are_documented_and_nothing_is_half_done(check, build):
    done = run([check], build, SCENARIO="plain")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


def test_a_failing_initialize_is_heeded(check, build):
    done = run([check], build, SCENARIO="failing")
    assert done.returncode == 0 and "initialized 1 finalized 0" in done.stdout, done.stdout
    assert "check is not used: its initialize() returned -1" in done.stderr


def test_finalising_from_finalize_neither_waits_nor_happens_twice(check, build):
    done = run([check], build, SCENARIO="finalizing")
    assert done.returncode == 0 and "initialized 1 finalized 1" in done.stdout, done.stdout


@pytest.mark.parametrize("ending", ["", ":"])
def test_every_library_of_the_list_is_a_tool_the_last_one_too(compile_tool, sdk, build, ending,
                                                              marking):
    libraries = [tool(compile_tool, name) for name in ("one", "two", "three")]
    done = run([marking],
               build,
               ROCP_TOOL_LIBRARIES=":".join(map(str, libraries)) + ending,
               LD_PRELOAD=str(sdk / "librocprofiler-sdk.so.1"))
    assert done.stderr.splitlines() == [
        "one asked, priority 0", "two asked, priority 1", "three asked, priority 2",
        "one initialised", "two initialised", "three initialised", "one finalised", "two finalised",
        "three finalised"
    ]


def test_a_missing_tool_library_is_named_and_the_program_runs(compile_tool, sdk, build, marking):
    there = tool(compile_tool, "there")
    done = run([marking],
               build,
               ROCP_TOOL_LIBRARIES=f"/nowhere/tool.so:{there}",
               LD_PRELOAD=str(sdk / "librocprofiler-sdk.so.1"))
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "/nowhere/tool.so" in done.stderr and "there initialised" in done.stderr


def test_a_library_without_the_function_is_named_and_the_program_runs(compile_tool, sdk, build,
                                                                      marking):
    done = run([marking], build, ROCP_TOOL_LIBRARIES=str(sdk.parent / "roctx/libroctx64.so.4"),
               LD_PRELOAD=str(sdk / "librocprofiler-sdk.so.1"))
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "is not a tool: it has no function rocprofiler_configure()" in done.stderr


def test_a_preloaded_tool_is_found_without_being_named(compile_tool, build, marking):
    done = run([marking], build, LD_PRELOAD=str(tool(compile_tool, "preloaded")))
    assert done.stderr.splitlines() == [
        "preloaded asked, priority 0", "preloaded initialised", "preloaded finalised"
    ]


def test_a_tool_that_fails_is_not_finalised_and_others_are(compile_tool, sdk, build, marking):
    libraries = [tool(compile_tool, "bad", 1), tool(compile_tool, "good")]
    done = run([marking],
               build,
               ROCP_TOOL_LIBRARIES=":".join(map(str, libraries)),
               LD_PRELOAD=str(sdk / "librocprofiler-sdk.so.1"))
    assert "bad is not used: its initialize() returned 1" in done.stderr
    assert "bad finalised" not in done.stderr and "good finalised" in done.stderr


def test_the_library_needs_libc_and_gputap_only(sdk):
    needed = [
        line.split("[")[1].rstrip("]")
        for line in subprocess.run(["readelf", "-d", sdk / "librocprofiler-sdk.so.1"],
                                   check=True,
                                   capture_output=True,
                                   text=True).stdout.splitlines()
        if "(NEEDED)" in line
    ]
    assert sorted(needed) == ["libc.so.6", "libgputap.so.0"]


def test_everything_that_the_headers_declare_is_exported(repo, sdk):
    import re
    declared = set()
    for header in (repo / "include/compat/rocprofiler-sdk").rglob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        text = re.sub(r"typedef[^;{]*;|static inline.*?\n}", "", text, flags=re.S)
        declared |= set(re.findall(r"\b(rocprofiler_\w+)\s*\([^;{}]*\)\s*ROCPROFILER_API", text))
    exported = subprocess.run(["nm", "-D", "--defined-only", sdk / "librocprofiler-sdk.so.1"],
                              check=True,
                              capture_output=True,
                              text=True).stdout
    assert len(declared) >= 58
    assert declared - set(re.findall(r" T (\w+)", exported)) == set()


def test_a_hip_programs_calls_and_copies_come_to_a_tool_and_nothing_is_left_open(
        compile_tool, copies, build, softgpu):
    recorder = compile_tool("recorder.c", "recorder.so", "-shared", "-fPIC")
    done = run([copies],
               build,
               LD_PRELOAD=str(recorder),
               **{**softgpu, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"})
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    # as in the document on callback tracing: mangled types, and values without the prefix of their
    # enum
    assert [line.split()[:4] for line in lines[:5]] == [["0", "Pv", "dst", "1"],
                                                        ["1", "PKv", "src", "1"],
                                                        ["2", "m", "sizeBytes", "0"],
                                                        ["3", "13hipMemcpyKind", "kind", "0"],
                                                        ["4", "P12ihipStream_t", "stream", "1"]]
    assert [line.split()[-1] for line in lines[2:5]] == ["65536", "HostToDevice", "(null)"]
    assert lines[-1] == "wrong 0 copies 8 gaps 0 retired 1 after 1"


def test_hsas_table_is_the_runtimes_own_in_a_hip_program(copies, repo, build, sdk, softgpu,
                                                         tmp_path):
    subprocess.run([
        "g++", "-std=c++17", "-Wall", "-Werror", "-DAMD_INTERNAL_BUILD", "-D__HIP_PLATFORM_AMD__",
        f"-I{repo}/include/compat", "-idirafter", f"{repo}/include/compat/rocm5", "-shared",
        "-fPIC", repo / "tests/rocprofiler/hsa_table.cpp", "-o", tmp_path / "client.so", f"-L{sdk}",
        "-lrocprofiler-sdk", f"-Wl,-rpath-link,{build}", f"-Wl,-rpath,{sdk}"
    ],
                   check=True)
    done = run([copies],
               build,
               LD_PRELOAD=str(tmp_path / "client.so"),
               **{**softgpu, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"})
    assert done.returncode == 0 and "sizes right: 1 1 1, images 1\n" in done.stderr, done.stderr
    assert "allocated 65536: 0 1\n" in done.stderr


FOO_PROGRAM = """
#include "foo.h"
#include <stdio.h>
int main(void) { printf("%d\\n", foo(21)); return foo(1) != 2; }
"""


@pytest.mark.parametrize("names", [("one",), ("one", "two"), ("two", "one")], ids="-".join)
def test_a_library_that_offers_a_table_of_its_own_is_intercepted_and_clients_chain(
        compile_tool, repo, build, tmp_path, names):
    folder, library = repo / "examples/tool/foo", tmp_path / "libfoo.so"
    cc = ["cc", "-Wall", "-Wextra", "-Werror", f"-I{repo}/include", f"-I{folder}"]
    subprocess.run([
        *cc, "-shared", "-fPIC", folder / "foo.c", "-o", library, f"-L{build}", "-l:libgputap.so.0"
    ],
                   check=True)
    (tmp_path / "main.c").write_text(FOO_PROGRAM)
    subprocess.run([
        *cc, tmp_path / "main.c", library, f"-Wl,-rpath,{tmp_path}", f"-Wl,-rpath-link,{build}",
        "-o", tmp_path / "main"
    ],
                   check=True)
    clients = [
        compile_tool("foo_client.c", f"foo_{name}.so", "-shared", "-fPIC", f'-DNAME="{name}"',
                     f"-I{folder}") for name in names
    ]
    done = run([tmp_path / "main"], build, LD_PRELOAD=":".join(map(str, clients)))
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    begun = [f"{name}: foo(21)" for name in reversed(names)]  # the last registered is called first
    assert done.stderr.splitlines(
    )[:2 * len(names)] == begun + [f"{line} = 42" for line in reversed(begun)]
    assert len(done.stderr.splitlines()) == 4 * len(names)


def test_an_exception_in_a_buffers_callback_ends_there_and_the_hip_program_goes_on(
        copies, repo, build, sdk, softgpu, tmp_path):
    subprocess.run([
        "g++", "-std=c++17", "-Wall", "-Werror", "-DGPUTAP_ROCPROFILER_OPAQUE",
        f"-I{repo}/include/compat", "-shared", "-fPIC", repo / "tests/rocprofiler/throwing.cpp",
        "-o", tmp_path / "client.so", f"-L{sdk}", "-lrocprofiler-sdk", f"-Wl,-rpath-link,{build}",
        f"-Wl,-rpath,{sdk}"
    ],
                   check=True)
    done = run([copies, "400"],
               build,
               LD_PRELOAD=str(tmp_path / "client.so"),
               **{**softgpu, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"})
    assert done.returncode == 0, done.stderr
    assert done.stdout == "received 803 batches>1 1 destroyed all 1 pending 0\n", done.stdout
    assert "threw an exception" in done.stderr  # upstream prints the same message


@pytest.mark.parametrize("order", ["", "first-to-last"])
def test_a_hip_programs_old_device_properties_have_an_id_and_exit_comes_in_the_order_that_is_wanted(
        compile_tool, repo, build, hip_headers, softgpu, tmp_path, order):
    program = tmp_path / "program"
    subprocess.run([
        "cc", "-w", "-DPROGRAM", "-D__HIP_PLATFORM_AMD__", repo / "tests/rocprofiler/orders.c",
        "-o", program, "-lamdhip64"
    ],
                   check=True)
    client = compile_tool("orders.c", "orders.so", "-shared", "-fPIC")
    done = run([program],
               build,
               LD_PRELOAD=str(client),
               **{**softgpu, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"},
               GPUTAP_ROCPROFILER_EXIT=order)
    told = "hipGetDevicePropertiesR0000 prop deviceId"
    after = ["first", "second"] if order else ["second", "first"]
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"first enter {told}", f"second enter {told}", *(f"{who} exit {told}" for who in after)
    ]


def test_agents_are_the_nodes_of_the_driver_with_their_memory_caches_and_links_in_a_hip_program(
        compile_tool, copies, build, softgpu):
    client = compile_tool("agents.c", "agents.so", "-shared", "-fPIC")
    done = run([copies, "1"],
               build,
               LD_PRELOAD=str(client),
               **{**softgpu, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"},
               SOFT_AMDGPU_GPUS="2")
    lines = done.stdout.splitlines()
    assert [line.split(" model")[0].split(" ", 5)[:5]
            for line in lines[:3]] == [["agent", "1", "node", "0", "cpu"],
                                       ["agent", "2", "node", "1", "gpu"],
                                       ["agent", "3", "node", "2", "gpu"]]
    assert lines[1].endswith(
        "banks 4 caches 2 links 2 bank 17179869184 L1 16/64 L2 4096/64 link 1-0 link 1-2")
    assert lines[3:] == ["copy from agent 1 to agent 2", "copy from agent 2 to agent 1"]


def test_a_gpu_is_known_by_its_node_also_where_others_are_hidden_from_the_hip_program(
        compile_tool, copies, build, softgpu):
    client = compile_tool("agents.c", "agents.so", "-shared", "-fPIC")
    done = run([copies, "1"],
               build,
               LD_PRELOAD=str(client),
               **{**softgpu, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"},
               SOFT_AMDGPU_GPUS="3",
               ROCR_VISIBLE_DEVICES="1")
    assert done.stdout.splitlines()[4:] == [
        "copy from agent 1 to agent 3", "copy from agent 3 to agent 1"
    ]


def test_agents_are_read_from_the_drivers_files_where_there_are_some(compile_tool, build, tmp_path,
                                                                     marking):
    client = compile_tool("agents.c", "agents.so", "-shared", "-fPIC")
    files = {
        "0/properties": (
            "cpu_cores_count 8\nsimd_count 0\nmem_banks_count 1\ncaches_count 0\nio_links_count 1\n"
        ),
        "0/gpu_id": "0\n",
        "0/name": "\n",
        "0/mem_banks/0/properties": (
            "heap_type 0\nsize_in_bytes 135102464000\nflags 0\nwidth 64\nmem_clk_max 3200\n"
        ),
        "0/io_links/0/properties": "type 2\nnode_from 0\nnode_to 1\nweight 20\n",
        "1/properties": (
            "cpu_cores_count 0\nsimd_count 416\nmem_banks_count 1\ncaches_count 2\nio_links_count"
            " 0\nsimd_per_cu 4\ngfx_target_version 90010\n"
        ),
        "1/gpu_id": "51432\n",
        "1/name": "aldebaran\n",
        "1/mem_banks/0/properties": "heap_type 1\nsize_in_bytes 68702699520\n",
        "1/caches/0/properties": (
            "processor_id_low 2147487744\nlevel 1\nsize 16\ncache_line_size 64\ntype 5\n"
        ),
        "1/caches/1/properties": "level 2\nsize 8192\ncache_line_size 128\ntype 9\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = run([marking], build, LD_PRELOAD=str(client), GPUTAP_ROCPROFILER_TOPOLOGY=str(tmp_path))
    cpu, gpu = done.stdout.splitlines()[:2]
    assert cpu.startswith("agent 1 node 0 cpu ") and cpu.endswith(
        "banks 1 caches 0 links 1 bank 135102464000 link 0-1")
    assert (
        gpu
        == "agent 2 node 1 gpu gfx90a model 'aldebaran' banks 1 caches 2 links 0 bank 68702699520"
        " L1 16/64 L2 8192/128"
    )


# Upstream accepts these kinds as well. They have no operations, and nothing is reported for them.
SILENT = {"OMPT", "ROCDECODE_API", "ROCJPEG_API", "ROCDECODE_API_EXT"}


def test_every_kind_can_be_configured_and_those_of_which_nothing_is_reported_have_no_operations(
        compile_tool, build):
    done = run([compile_tool("every_kind.c", "every_kind")], build)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr, len(rows)) == (0, "", 21 + 32)
    assert {name for _, name, count, _ in rows if count == "0"} - {"CORRELATION_ID_RETIREMENT"} == \
        SILENT | {name for _, name, *_ in rows if name.startswith("KFD_")}
    for how, name, _, status in rows:
        assert status == ("ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_KERNEL" if name.startswith("KFD_")
                          else "ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED" if
                          (how, name) == ("recorded",
                                          "HIP_STREAM") else "ROCPROFILER_STATUS_SUCCESS"), name


@pytest.mark.parametrize("level", ["info", "TRACE", "warning"])
def test_a_kind_of_which_nothing_is_reported_is_said_once_where_the_log_level_asks_for_it(
        compile_tool, build, level):
    said = run([compile_tool("every_kind.c", "every_kind")], build,
               ROCPROFILER_LOG_LEVEL=level).stderr.splitlines()
    names = [line.split("delivers no records: ")[1].split(":")[0] for line in said]
    assert sorted(names) == ([] if level == "warning" else sorted(SILENT))


@pytest.fixture
def opener(repo, hip_headers, build, softgpu, tmp_path):
    """Return a function that runs a HIP program, which opens the given library and copies, and
    returns the lines that a client of tests/rocprofiler/ends.c writes."""
    program = tmp_path / "opener"
    subprocess.run([
        "cc", "-w", "-D__HIP_PLATFORM_AMD__", repo / "tests/rocprofiler/opener.c", "-o", program,
        "-lamdhip64"
    ],
                   check=True)

    def lines(*words, **environment):
        done = run([program, *words], build,
                   **{**softgpu, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"},
                   **environment)
        assert done.returncode == 0, done.stderr
        return done.stderr.splitlines()
    return lines


def test_a_client_is_finalised_after_its_own_handlers_of_exit_and_before_its_library_ends(
        compile_tool, opener):
    client = compile_tool("ends.c", "ends.so", "-shared", "-fPIC")
    assert opener("-", LD_PRELOAD=str(client)) == [
        "configure, constructed 1", "handler, flush 0, copies 2", "finalize", "destructor"
    ]


def test_a_client_that_forces_in_its_constructor_is_finalised_after_its_library_has_ended(
        compile_tool, opener):
    """The client's handler and destructor read the buffers, as RPD's client does."""
    client = compile_tool("ends.c", "forcing.so", "-shared", "-fPIC", "-DFORCES")
    assert opener("-", LD_PRELOAD=str(client)) == [
        "configure, constructed 1", "force 0", "destructor", "handler, flush 0, copies 2",
        "finalize"
    ]


def test_a_client_that_is_opened_late_is_configured_after_its_constructors(compile_tool, opener):
    assert opener(compile_tool("ends.c", "ends.so", "-shared", "-fPIC")) == [
        "opened", "configure, constructed 1", "handler, flush 0, copies 2", "finalize", "destructor"
    ]


def test_a_client_that_is_opened_late_may_force(compile_tool, opener):
    lines = opener(compile_tool("ends.c", "forcing.so", "-shared", "-fPIC", "-DFORCES"))
    assert lines == [
        "configure, constructed 1", "force 0", "opened", "handler, flush 0, copies 2", "finalize",
        "destructor"
    ]


@pytest.mark.parametrize("forces", [[], ["-DFORCES"]], ids=["found", "forces"])
def test_a_client_of_a_hip_program_is_notified_of_copies_though_hsa_was_initialised_before_it_came(
        compile_tool, opener, forces):
    client = compile_tool("ends.c", f"late{len(forces)}.so", "-shared", "-fPIC", *forces)
    lines = opener(client, "used")
    assert [line for line in lines if line.startswith("gputap:")] == []
    assert "handler, flush 0, copies 2" in lines


@pytest.fixture
def configured(repo, hip_headers, build, sdk, softgpu, tmp_path):
    """Return a function: configured(linker) builds a HIP program that copies and is itself a
    client, linked without -rdynamic, and returns the program's path and environment."""
    def link(linker):
        program = tmp_path / "configured"
        done = subprocess.run([
            "cc", "-w", "-D__HIP_PLATFORM_AMD__", "-DGPUTAP_ROCPROFILER_OPAQUE",
            f"-fuse-ld={linker}", f"-I{repo}/include/compat", repo / "tests/rocprofiler/opener.c",
            repo / "tests/rocprofiler/ends.c", "-o", program, "-lamdhip64", f"-L{sdk}",
            "-lrocprofiler-sdk", f"-Wl,-rpath-link,{build}", f"-Wl,-rpath,{sdk}:{build}"
        ],
                              text=True,
                              capture_output=True)
        if "cannot find" in done.stderr or "invalid linker name" in done.stderr:
            pytest.skip(f"needs the linker {linker}")
        assert done.returncode == 0, done.stderr
        return program, {**softgpu, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"}
    return link


CLIENT_OF_ITS_OWN = ["configure, constructed 1", "handler, flush 0, copies 2", "finalize",
                     "destructor"]


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
def test_a_hip_program_that_is_linked_without_rdynamic_may_be_a_client_itself(
        configured, build, linker):
    program, environment = configured(linker)
    done = run([program], build, **environment)
    assert (done.returncode, done.stderr.splitlines()) == (0, CLIENT_OF_ITS_OWN)


def test_a_hip_program_that_is_a_client_itself_is_one_under_gputap_run(configured, gputap, build,
                                                                       tap, tmp_path):
    program, environment = configured("bfd")
    done = run([gputap, "run", "-o", tmp_path / "c.gputap", program], build, **environment)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if line in CLIENT_OF_ITS_OWN
            ] == CLIENT_OF_ITS_OWN
    assert "hipMemcpy" in tap("report", tmp_path / "c.gputap").out


@pytest.mark.parametrize("where", ["constructor", "main"])
def test_a_program_that_exports_its_configure_function_may_force(compile_tool, build, where):
    program = compile_tool("forces.c", f"forces_{where}", "-rdynamic", f"-DIN_{where.upper()}")
    assert run([program], build).stdout == "force 0, again 16, configured 1, finalized 1\n"


def test_initialising_without_a_tool_is_no_error_and_locks(compile_tool, build):
    program = compile_tool("forced_none.c", "forced_none")
    assert run([program], build).stdout == "0 1 16\n"  # 16 is CONFIGURATION_LOCKED


@pytest.mark.parametrize("preloaded", [False, True])
def test_a_hip_program_of_rocm_5_is_told_that_its_tools_were_not_loaded(
        compile_tool, copies, build, sdk, softgpu, tap, tmp_path, preloaded):
    """Before ROCm 6, no ROCm library reads the variable. Our library reads it, but only if it is
    loaded."""
    library = tool(compile_tool, "asked")
    environment = {"ROCP_TOOL_LIBRARIES": str(library), **softgpu}
    if preloaded:
        environment["LD_PRELOAD"] = str(sdk / "librocprofiler-sdk.so.1")
    result = tap("run", "-o", tmp_path / "c.gputap", "--", copies, env=environment, status=None)
    words = " ".join(result.err.split())
    assert ("(ROCP_TOOL_LIBRARIES) was not loaded: ROCm before 6" in words) != preloaded
    assert ("asked initialised" in words) == preloaded
    assert preloaded or str(library) in words
