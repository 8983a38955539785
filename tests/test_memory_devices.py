# SPDX-License-Identifier: MIT
"""Test memory per device on each runtime that reports it. tests/memory holds one program per
runtime, each for two devices."""
import json
import subprocess

import pytest

from conftest import REPO
from consumers import perfetto

MIB = 1 << 20
COUNTERS = """
select t.name, max(c.value) as most, count(*) as points
from counter c join process_counter_track t on c.track_id = t.id group by t.name"""


@pytest.fixture
def compiled(work):
    """Return a function: compiled("hip", "-lamdhip64") builds tests/memory/hip_memory.c."""

    def call(runtime, *options):
        path = work / f"{runtime}_memory"
        subprocess.run(["cc", "-O1", "-Wall", "-Werror", f"-I{REPO}",
                        REPO / f"tests/memory/{runtime}_memory.c", "-o", path, *options],
                       check=True)
        return path

    return call


@pytest.fixture
def rows(tap):
    """Return a function: rows() returns the memory rows of the report of m.gputap, one per domain,
    kind of memory and device."""

    def call():
        found = json.loads(tap("report", "--json", "-t", "memory", "m.gputap").out)["memory"]
        return {(r["domain"], r["memory"], r["device"]): (r["peak_bytes"], r["left_bytes"])
                for r in found}

    return call


def drawn(tap):
    tap("export", "m.gputap", "-o", "m.pftrace")
    return {r["name"]: (r["most"], r["points"])
            for r in perfetto.ask("m.pftrace", counters=COUNTERS)["counters"]}


@pytest.fixture
def cuda(tap, gputap, compiled, build):
    """Record m.gputap on two software CUDA devices."""
    program = compiled("cuda", f"-L{build / 'soft/cuda'}", "-l:libcuda.so.1")
    tap("run", "-q", "-o", "m.gputap", "--", gputap, "soft", "cuda", "--devices", "2", "--",
        program)


def test_cuda_memory_is_on_the_device_of_the_context_or_of_the_stream(tap, cuda, rows):
    assert rows() == {
        ("cuda_driver", "device", 0): (MIB, MIB), ("cuda_driver", "device", 1): (3 * MIB, 0),
        ("cuda_driver", "pool", 1): (65536, 65536), ("cuda_driver", "host", None): (4096, 4096)
    }


def test_each_device_has_counters_of_its_own_and_a_row_in_a_page(tap, cuda):
    names = {"device memory (cuda_driver), device 0": (MIB, 1),
             "device memory (cuda_driver), device 1": (3 * MIB, 2),
             "pool memory (cuda_driver), device 1": (65536, 1),
             "host memory (cuda_driver)": (4096, 1)}
    assert drawn(tap) == names
    tap("export", "m.gputap", "-o", "m.json")
    with open("m.json", encoding="utf-8") as f:
        assert {e["name"] for e in json.load(f)["traceEvents"] if e["ph"] == "C"} == set(names)
    tap("report", "m.gputap", "-o", "m.html")
    with open("m.html", encoding="utf-8") as f:
        page = f.read()
    assert all(name in page for name in names)


def test_one_device_is_known_without_a_question(tap, gputap, compiled, build, rows):
    tap("run", "-q", "-o", "m.gputap", "--ops", "cuMem*,cuPointer*,cuCtxGetDevice", "--", gputap,
        "soft", "cuda", "--", compiled("cuda", "-DDEVICES=1", f"-L{build / 'soft/cuda'}",
                                       "-l:libcuda.so.1"))
    assert rows() == {
        ("cuda_driver", "device", 0): (4 * MIB, MIB), ("cuda_driver", "pool", 0): (65536, 65536),
        ("cuda_driver", "host", None): (4096, 4096)
    }
    calls = json.loads(tap("report", "--json", "-t", "operations", "m.gputap").out)["operations"]
    assert {c["name"] for c in calls} == {"cuMemAlloc_v2", "cuMemAllocAsync", "cuMemHostAlloc",
                                          "cuMemFree_v2"}


def test_hip_memory_is_on_the_current_device_or_that_of_the_pool(
        tap, hip_headers, softgpu, compiled, rows):  # pylint: disable=unused-argument
    program = compiled("hip", "-D__HIP_PLATFORM_AMD__", "-lamdhip64")
    has_array = int(tap("run", "-q", "-o", "m.gputap", "--", program,
                        env={**softgpu, "SOFT_AMDGPU_GPUS": "2"}).out)
    found = {key: row for key, row in rows().items() if key[0] == "hip"}
    assert found.pop(("hip", "image", 1), (8192, 8192)) == (8192, 8192)
    assert len(found) == 3 and found == {
        ("hip", "device", 0): (MIB, MIB), ("hip", "device", 1): (3 * MIB, 0),
        ("hip", "pool", 1): (65536, 65536)
    }
    assert (("hip", "image", 1) in rows()) == bool(has_array)


def test_level_zero_memory_is_on_the_device_that_the_call_names(tap, gputap, compiled, build, rows):
    if not list(build.glob("soft/level_zero/libze_soft.so")):
        pytest.skip("needs the software driver, which is built where the loader's headers are:"
                    " apt install libze-dev")
    tap("run", "-q", "-o", "m.gputap", "--", gputap, "soft", "level-zero", "--devices", "2", "--",
        compiled("level_zero", "-lze_loader"))
    assert rows() == {
        ("level_zero", "device", 0): (MIB, MIB), ("level_zero", "device", 1): (3 * MIB, 0),
        ("level_zero", "shared", 0): (2 * MIB, 2 * MIB),
        ("level_zero", "host", None): (4096, 4096), ("level_zero", "image", 0): (8192, 8192)
    }


def test_reference_accelerators_have_their_memory(tap, build, compiled, rows):
    library = build / "soft/refdev/librefdev.so.1"
    program = compiled("refdev", library, f"-Wl,-rpath,{library.parent}")
    tap("run", "-q", "-o", "m.gputap", "--", program, env={"REFDEV_DEVICES": "2"})
    assert rows() == {
        ("refdev", "device", 0): (3 * MIB, 3 * MIB), ("refdev", "device", 1): (3 * MIB, 0),
        ("refdev", "host", None): (4096, 4096)
    }


def test_without_device_work_no_runtime_is_asked(tap, gputap, compiled, build, rows):
    tap("run", "-q", "-o", "m.gputap", "--no-device", "--", gputap, "soft", "cuda", "--devices",
        "2", "--", compiled("cuda", f"-L{build / 'soft/cuda'}", "-l:libcuda.so.1"))
    assert rows() == {
        ("cuda_driver", "device", None): (4 * MIB, MIB),
        ("cuda_driver", "pool", None): (65536, 65536), ("cuda_driver", "host", None): (4096, 4096)
    }
