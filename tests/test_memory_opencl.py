# SPDX-License-Identifier: MIT
"""Test memory of OpenCL's reference-counted objects, using tests/opencl/cl_memory.c."""

import json
import subprocess

import pytest

from consumers import perfetto

MIB = 1 << 20


@pytest.fixture(scope="module")
def program(tmp_path_factory, repo):
    path = tmp_path_factory.mktemp("memory") / "cl_memory"
    subprocess.run(["cc", "-O1", "-Wall", "-DCL_TARGET_OPENCL_VERSION=300",
                    repo / "tests/opencl/cl_memory.c", "-o", path, "-lOpenCL"], check=True)
    return path


@pytest.fixture
def capture(tap, program, work):
    """Return the path of the capture, the program's SVM bytes, and the CL_MEM_SIZE of its image."""
    return (work / "m.gputap",
            *map(int, tap("run", "-q", "-o", "m.gputap", "--", program).out.split()))


def memory(tap, path):
    rows = json.loads(tap("report", "--json", "-t", "memory", path).out)["memory"]
    return {r["memory"]: r for r in rows if r["domain"] == "opencl"}


def test_a_buffer_is_in_use_until_its_last_reference_goes(tap, capture):
    path, svm, _ = capture
    rows = memory(tap, path)
    device = rows["device"]
    assert (device["allocations"], device["bytes"]) == (3, 7 * MIB)
    # releasing a retained buffer or a sub-buffer frees no memory
    assert (device["frees"], device["freed_bytes"]) == (2, 3 * MIB)
    assert (device["peak_bytes"], device["left_bytes"]) == (6 * MIB, 4 * MIB)
    assert bool(svm) == any(r["bytes"] == svm and r["left_bytes"] == 0 for r in rows.values())


def test_an_image_has_the_bytes_that_the_runtime_says_and_one_of_a_buffer_has_none(tap, capture):
    path, _, size = capture
    rows = memory(tap, path)
    if "image" not in rows:
        pytest.skip("this OpenCL has no images")
    image = rows["image"]
    assert size >= 64 * 64 * 4 and image["bytes"] == image["peak_bytes"] == size
    assert image["allocations"] == image["frees"] >= 1 and image["left_bytes"] == 0


def test_perfetto_draws_it(tap, capture):
    tap("export", capture[0], "-o", "m.pftrace")
    rows = perfetto.ask("m.pftrace", counters="""select c.value from counter c
        join process_counter_track t on c.track_id = t.id where t.name = 'device memory (opencl)'
        order by c.ts, c.id""")["counters"]
    assert [r["value"] for r in rows] == [n * MIB for n in (1, 3, 2, 6, 4)]
