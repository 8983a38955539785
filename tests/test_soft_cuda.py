# SPDX-License-Identifier: MIT
"""Test the software CUDA driver and its stand-in for CUPTI without gputap's recording. The tests of
the recording depend on both."""
import os
import re
import shutil
import subprocess

import pytest

import conftest
from conftest import BUILD, REPO



@pytest.fixture(scope="session")
def programs(build, tmp_path_factory):
    """Build a folder with the module, the CUPTI client, and the programs that use only the
    driver."""
    folder = tmp_path_factory.mktemp("soft_cuda")
    libraries = build / "soft/cuda"
    common = [
        "cc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-g", f"-I{REPO}", f"-I{BUILD}"
    ]
    for command in ([
            *common, "-shared", "-fPIC", REPO / "tests/cuda/driver_kernels.c", "-o",
            folder / "kernels.so"
    ], [
            *common, REPO / "tests/cuda/cupti_client.c", "-o", folder / "cupti_client",
            libraries / "libcuda.so.1", libraries / "cupti/libcupti.so.13", "-lpthread"
    ], [
            *common, REPO / "tests/cuda/soft_driver.c", "-o", folder / "soft_driver",
            libraries / "libcuda.so.1", "-lpthread"
    ]):
        subprocess.run(list(map(str, command)), check=True)
    return folder


@pytest.fixture
def scene(run, gputap, programs):
    """Return a function: scene("work", "--devices", "2") returns the output lines of the client."""

    def call(name, *options, arguments=(), status=0):
        done = run([
            gputap, "soft", "cuda", *options, "--", programs / "cupti_client",
            programs / "kernels.so", name, *arguments
        ],
                   status=status)
        return done.out.splitlines()

    return call


@pytest.fixture
def driver(run, gputap, programs):
    """Return a function: driver("graph", "--devices", "2") returns the output lines of the
    program."""

    def call(name, *options, status=0):
        return run([
            gputap, "soft", "cuda", *options, "--", programs / "soft_driver",
            programs / "kernels.so", name
        ],
                   status=status).out.splitlines()

    return call


def records(lines, kind):
    return [line for line in lines if line.split()[0] == kind]


def correlation(line):
    return int(re.search(r"correlation (\d+)", line)[1])


# The driver ------------------------------------------------------------------------------


def test_a_graph_is_built_launched_changed_and_updated(driver):
    assert driver("graph") == [
        "5 nodes, 1 roots, 5 edges, the last one's type 1",
        "2 before it, 2 behind the first kernel, a kernel adds 2 in blocks of 256", "a circle: 1",
        "launched twice: 8",
        "host calls: 2", "with other arguments: 9", "a node less: 7", "updated: 9",
        "another shape: 910, result 2", "destroyed again: 1"
    ]


def test_a_child_graph_runs_between_its_neighbours(driver):
    assert driver("child") == ["child and one more: 10"]


def test_two_streams_are_captured_into_one_graph(driver):
    assert driver("capture") == [
        "the other captures: 1", "and now: 0", "5 nodes, 5 edges", "nothing ran: 0", "ran: 4",
        "host calls: 1", "synchronized: 900", "ended: 901", "the other's end: 903",
        "not joined: 904", "null stream: 900"
    ]


def test_arguments_come_in_one_buffer(driver):
    assert driver("extra") == ["by a buffer: 7", "too short: 1"]


def test_a_blocks_threads_wait_for_each_other(driver):
    assert driver("barrier") == ["sums: 2080 2080 2080"]


def test_a_fault_stays_with_its_context_until_that_is_gone(driver):
    assert driver("fault") == [
        "faulted: 700", "and stays so: 700", "after the reset: 709", "a new one: 0"
    ]


def test_a_cooperative_launch_must_fit(driver):
    assert driver("cooperative") == ["too many: 720", "both ran: 3"]


def test_a_library_has_kernels_that_are_launched_as_functions(driver):
    assert driver("library") == [
        "no kernel: 500", "add_numbers of its library: 1, variable of 4 bytes",
        "its module is not ours to unload: 400", "threads 1024 shared 65536 registers 32",
        "parameter 2 at 12, 4 bytes; a fourth: 1", "blocks 8, best grid 32 of 256", "ran: 1"
    ]


def test_a_pool_counts_what_it_has(driver):
    assert driver("pool") == [
        "used 12288 reserved 12288", "its pool: 1", "not empty: 1",
        "used 0 reserved 4096 high 12288", "trimmed: 0", "used 100, by default 0",
        "the default one again: 1"
    ]


def test_devices_copy_to_each_other(driver):
    assert driver("peers", "--devices",
                  "2") == ["can: 1", "not yet: 705", "again: 704", "copied: 9"]


def test_memory_is_copied_by_rows_prefetched_and_registered(driver):
    assert driver("memory") == [
        "rows begin with 18 28 38", "set: 1010101 0 1010101 0", "not managed: 1",
        "type 2 managed 1 device 0",
        "of nobody: type 0 managed 0 device -2", "flags 2, twice: 1", "no longer: 1", "limit 2048"
    ]


# CUPTI ---------------------------------------------------------------------------------


def test_work_has_records_and_launching_calls_alone_take_ids(scene):
    lines = scene("work")
    assert lines == [
        "copy kind 1 from 2 to 3 bytes 4000 correlation 1 stream 8 async 1 graph 0 node 0",
        "set value 3 bytes 40 correlation 2 stream 8 graph 0 node 0",
        "kernel add_numbers correlation 3 device 0 context 1 stream 8 grid 4,1,1 block 256,1,1 "
        "shared 64 registers 32 graph 0 node 0 ordered timed",
        "copy kind 2 from 3 to 2 bytes 4000 correlation 4 stream 7 async 0 graph 0 node 0",
    ]


def test_calls_have_records_with_the_ids_of_their_work(scene):
    lines = scene("calls")
    calls = records(lines, "driver")
    assert [correlation(line) for line in calls] == list(range(1, 11))
    assert [line.split()[1] for line in calls] == [
        "cuStreamQuery", "cuMemcpyHtoDAsync_v2", "cuMemsetD32Async", "cuStreamSynchronize",
        "cuStreamQuery", "cuLaunchKernel", "cuStreamSynchronize", "cuMemcpyDtoH_v2",
        "cuCtxSynchronize", "cuStreamQuery"
    ]
    assert calls[0].endswith("thread default") and calls[-1].endswith("thread system")
    assert correlation(records(lines, "kernel")[0]) == 6


def test_one_subscriber_is_called_for_what_it_asked_for(scene):
    lines = scene("callbacks")
    assert lines[:2] == ["second subscriber: 39", "cuLaunchKernel on: 1"]
    launch = "cuLaunchKernel correlation 3 symbol add_numbers context 1 data kept grid 4"
    assert [l for l in lines if "cuLaunchKernel c" in l] == [
        f"enter {launch}", f"exit {launch} returned 0"
    ]
    assert records(lines, "resource") == [
        "resource 4 context given stream given graph none",
        "resource 3 context given stream given graph none"
    ]
    assert len(records(lines, "synchronized")) == 6
    # EnableDomain(0) disabled the callback id; the activity kinds stayed enabled
    assert [correlation(line) for line in records(lines, "kernel")] == [3, 7]


def test_objects_have_ids_and_records(scene):
    assert scene("objects", "--devices", "2") == [
        "context has id 1 device 0", "null stream has id 7", "stream has id 8", "no stream: 20",
        "device 0 gputap software CUDA device", "device 1 gputap software CUDA device",
        "context 1 device 0 null stream 7", "context 1 device 0 null stream 7"
    ]


def test_driver_calls_inside_a_runtimes_call_have_its_id_and_no_record(scene):
    lines = scene("runtime")
    assert records(lines, "called") == [
        "called for domain 2 id 211 cudaLaunchKernel_v7000 correlation 1 add_numbers",
        "called for domain 1 id 307 cuLaunchKernel correlation 1 add_numbers",
        "called for domain 1 id 307 cuLaunchKernel correlation 1 add_numbers",
        "called for domain 2 id 211 cudaLaunchKernel_v7000 correlation 1 add_numbers"
    ]
    assert records(lines, "runtime") == ["runtime 211 correlation 1"]
    assert correlation(records(lines, "kernel")[0]) == 1
    assert [line.split()[1] for line in records(lines, "driver")] == ["cuStreamSynchronize"]


def test_kinds_can_be_on_in_one_context_alone(scene):
    assert scene("context") == [
        "set value 1 bytes 64 correlation 1 stream 9 graph 0 node 0", "attribute 1; too small: 10",
        "no kind: 21"
    ]


def test_an_external_id_belongs_to_calls_with_records(scene):
    lines = scene("external")
    assert lines[0] == "popped 77, then 18"
    assert records(lines, "external") == ["external 3 id 77 correlation 1"]
    assert records(lines, "synchronization") == ["synchronization 3 correlation 3 stream 8"]


def test_a_graphs_work_has_node_ids_and_the_launchs_correlation(scene):
    lines = scene("graph")
    assert "graph has id 1 executable 2 second node 100000001" in lines
    assert [line.split(" context")[0] for line in records(lines, "resource")] == [
        f"resource {number}" for number in (9, 13, 13, 11, 20, 20, 18, 19, 10)
    ]
    work = records(lines, "kernel") + records(lines, "set")
    assert sorted((correlation(line), re.search(r"graph (\d+ node \w+)", line)[1])
                  for line in work) == [(1, "2 node 200000000"), (1, "2 node 200000001"),
                                        (2, "2 node 200000000"), (2, "2 node 200000001")]


def test_a_graph_is_one_span_when_asked(scene):
    assert scene("span")[1:] == ["graph 2 correlation 1 stream 8", "graph 2 correlation 2 stream 8"]


def test_a_copy_between_devices_has_a_kind_of_its_own_if_that_is_on(scene):
    assert scene("peers", "--devices", "2") == [
        "copy kind 10 from 3 to 3 bytes 64 correlation 1 stream 7 async 0 graph 0 node 0",
        "peer copy kind 10 bytes 128 from device 0 to device 1 correlation 2"
    ]


def test_every_record_is_linked_with_many_threads_and_one_that_flushes(scene):
    assert scene("threads") == ["1200 of 1200, 0 without a call"]


def test_full_buffers_come_back_and_a_window_ends_with_finalize(scene):
    lines = scene("windows")
    assert records(lines, "records") == [
        "records 200", "records 200", "records 210", "records 210", "records 220"
    ]
    assert lines[-1] == "every buffer came back: 1"


def test_who_registers_last_gets_all_buffers(scene):
    lines = scene("registrations")
    assert lines[0] == "other's buffer, valid 1"
    assert lines[-1] == "records 1"


def test_records_without_a_buffer_are_dropped_and_counted(scene):
    assert scene("dropped")[-1] == "dropped 5"
    assert records(scene("faults", "--cupti-fail", "buffers"), "records") == ["records 0"]


def test_the_second_form_and_the_first_exclude_each_other(scene):
    lines = scene("second-form", "--cupti", "13.5")
    assert [line for line in lines if not line.startswith("kernel")] == [
        "subscribe: 0", "the first form: 39 14 14", "records 2", "after it: 39"
    ]
    assert scene("second-form") == ["subscribe: 27"]  # 13.0 lacks the second form


def test_times_are_real_time_or_the_clients(scene):
    assert scene("clock") == ["real time: 1", "callback: 10"]


def test_a_call_in_a_forks_child_aborts(scene):
    assert scene("fork") == ["child aborted: 1"]


def test_a_second_copy_is_refused(scene, build, work):
    copy = work / "libcupti.so.13"
    shutil.copy(build / "soft/cuda/cupti/libcupti.so.13", copy)
    assert scene("copies", arguments=[copy]) == [
        "second copy registers: 39", "second copy subscribes: 39",
        "second copy, after the first one's end: 0"
    ]


@pytest.mark.parametrize("fault,line", [
    ("subscribe", "subscribe 39 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"),
    ("register", "register 39"),
    ("privileges", "enable 35 CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
    ("compatible", "enable 14 CUPTI_ERROR_NOT_COMPATIBLE"),
    ("compatible:1", "enable 14 CUPTI_ERROR_NOT_COMPATIBLE"),
])
def test_cupti_refuses_when_asked(scene, fault, line):
    assert line in scene("faults", "--cupti-fail", fault)


def test_a_records_start_is_zero_when_asked(scene):
    assert records(scene("faults", "--cupti-fail", "start"), "kernel")[0].endswith("untimed")


@pytest.mark.parametrize("version,api,sizes", [
    ("11.8", 18, "200 88 96 88 40 176 16 24 40 24 48"),
    ("12.9", 28, "208 96 96 88 40 184 32 24 56 24 56"),
    ("13.0", 130001, "216 96 96 88 40 184 32 24 56 24 56"),
    ("13.5", 130500, "248 112 96 104 40 192 40 24 56 24 56"),
])
def test_records_are_as_long_as_the_versions(scene, version, api, sizes):
    lines = scene("version", "--cupti", version)
    assert lines[0] == f"version {api}"
    assert [line.split()[-1] for line in lines[1:]] == sizes.split()
    work = scene("work", "--cupti", version)
    assert [line.split()[0] for line in work] == ["copy", "set", "kernel", "copy"]


def test_a_version_that_is_none_is_refused(run, gputap):
    done = run([gputap, "soft", "cuda", "--cupti", "9", "--", "true"], status=2)
    assert "expected 11.8, 12.9, 13.0, 13.5 or none" in done.err


def test_the_stand_in_can_be_left_away(run, gputap):
    path = run([
        gputap, "soft", "cuda", "--cupti", "none", "--", "sh", "-c", "echo $LD_LIBRARY_PATH"
    ]).out
    assert "soft/cuda" in path and "cupti" not in path


def test_the_list_of_functions_is_as_the_description(build):
    """The callback numbers come from the description, so the parameters and their order must match
    it. This test compares the number of parameters."""
    described = {}
    text = re.sub(r"\n\s+", " ", (REPO / "api/cuda.api").read_text())
    for name, parameters in re.findall(r"^\d+ CUresult (cu\w+)\(([^)]*)\)", text, re.M):
        described[name] = len([p for p in parameters.split(",") if p.strip()])
    calls = (REPO / "soft/cuda/calls.h").read_text()
    calls = calls[calls.index("#define SOFT_CUDA_CALLS("):]
    found = re.findall(
        r"\t([XBV])\((cu\w+)(?:, (_\w+))?(.*?)\)\s*(?=\\\n\t[XBV]\(|\n\n)", calls, re.S)
    for kind, name, suffix, parameters in found:
        count = len(re.findall(r"\(", parameters))
        assert described[name] == count, name
        assert kind != "B" or described[name + suffix] == count, name
    assert len(found) > 80


# Sanitizers ------------------------------------------------------------------------------

SCENES = ["work", "calls", "callbacks", "windows", "external", "registrations", "graph", "span",
          "runtime", "context", "peers", "threads"]
DRIVER_SCENES = [
    "graph", "child", "capture", "extra", "barrier", "cooperative", "library", "pool", "peers",
    "memory", "streams"
]


@pytest.mark.parametrize("program,name", [("cupti_client", name) for name in SCENES] +
                         [("soft_driver", name) for name in DRIVER_SCENES])
@pytest.mark.parametrize("kind", conftest.KINDS)
def test_sanitizer_has_nothing_to_say(run, build, programs, kind, program, name):
    """Run the driver, the stand-in and their programs in the builds that tools/test-deep makes with
    sanitizers."""
    folder = build if kind == "plain" else REPO / f"build-{kind}"
    place = programs if kind == "plain" else folder / "tests/soft"
    done = run([place / program, programs / "kernels.so", name],
               env={
                   **conftest.SANITIZERS_STOP, "SOFT_CUDA_DEVICES": "2", "LD_LIBRARY_PATH":
                   f"{folder}/soft/cuda:{folder}/soft/cuda/cupti",
                   "ASAN_OPTIONS": "detect_leaks=0:exitcode=66",
                   "TSAN_OPTIONS": "exitcode=66:ignore_noninstrumented_modules=1"
               })
    assert "Sanitizer" not in done.err and "runtime error" not in done.err
    assert done.out
