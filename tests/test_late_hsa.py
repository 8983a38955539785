# SPDX-License-Identifier: MIT
"""Test plain HSA programs that gputap is attached to, on the real ROCr and the software GPU."""
import collections
import json
import os
import subprocess

import pytest

from late_session import Session, export_rows

COUNT = 90  # kernels after the attach, in each round


@pytest.fixture(scope="session")
def program(tmp_path_factory, repo, softgpu):
    program = tmp_path_factory.mktemp("rocm") / "hsa_late"
    subprocess.run([
        "cc", "-O1", "-Wall", "-DLITTLEENDIAN_CPU", f"-I{repo}/tests/soft",
        repo / "tests/rocm/hsa_late.c", repo / "tests/soft/hsa_program.c", "-o", program,
        "-lhsa-runtime64", "-ldl"
    ], check=True)
    return program


@pytest.fixture
def attach(program, gputap, tap, build, softgpu, work):
    """Return a function that runs hsa_late.c in a session and returns its rows and info."""
    def run(*words, options=(), gpus=1):
        with Session(gputap, work / "a.gputap", options) as session:
            out = subprocess.run([
                program, build / "tests/soft/soft_kernels.co", build / "libgputap.so.0",
                session.folder, *words
            ], env={**os.environ, **softgpu, "SOFT_AMDGPU_GPUS": str(gpus)}, text=True,
                                 stdout=subprocess.PIPE, check=True).stdout
        assert out == "attach 0\n"
        return export_rows(tap, "a.gputap", work), json.loads(tap("info", "--json", "a.gputap").out)
    return run


def check_kernels(rows, rounds=1):
    kernels = [r for r in rows if r["kind"] == "device"]
    assert {r["name"] for r in kernels} == {"nothing"}
    assert sorted(int(r["global_x"]) for r in kernels) == sorted([*range(1, COUNT + 1)] * rounds)
    assert all(0 < int(r["start_ns"]) <= int(r["end_ns"]) for r in kernels)
    # one queue at a time, in order
    kernels.sort(key=lambda r: int(r["start_ns"]))
    assert [int(r["global_x"]) for r in kernels] == [*range(1, COUNT + 1)] * rounds


@pytest.mark.parametrize("gpus", [1, 2])
def test_kernels_on_an_existing_queue_are_recorded_exactly(attach, gpus):
    """With several GPUs, ROCr 5 does not tell to which one a queue belongs."""
    rows, _ = attach(gpus=gpus)
    check_kernels(rows)


def test_every_hsa_call_is_recorded_from_the_attach_on(attach):
    rows, _ = attach(options=["--mode", "hsa"])
    check_kernels(rows)
    found = collections.Counter(r["operation"] for r in rows if r["kind"] == "call")
    assert found["hsa_queue_add_write_index_screlease"] == COUNT // 3
    assert found["hsa_queue_store_write_index_screlease"] == COUNT // 3
    assert found["hsa_queue_cas_write_index_scacq_screl"] == COUNT // 3
    assert found["hsa_signal_store_screlease"] == COUNT
    assert found["hsa_queue_load_write_index_relaxed"] == COUNT
    assert found["hsa_signal_destroy"] == found["hsa_signal_create"] == COUNT // 3
    assert (found["hsa_queue_destroy"], found["hsa_shut_down"]) == (1, 1)


def test_a_runtime_that_is_shut_down_and_begun_again_is_still_traced(attach):
    rows, info = attach("again", options=["--mode", "hsa"])
    check_kernels(rows, rounds=2)
    found = collections.Counter(r["operation"] for r in rows if r["kind"] == "call")
    assert (found["hsa_queue_create"], found["hsa_shut_down"]) == (1, 2)
    assert not info["dropped"]


def check_that_memory_is_named(info):
    found = [e["text"] for e in info["events"] if "write index or doorbell in memory" in e["text"]]
    assert len(found) == 1


def test_packets_that_are_reserved_in_memory_are_named_and_harm_nothing(attach):
    rows, info = attach("memory")
    kernels = sorted((r for r in rows if r["kind"] == "device"), key=lambda r: int(r["start_ns"]))
    grids = [int(r["global_x"]) for r in kernels]
    assert grids[:COUNT] == list(range(1, COUNT + 1))
    # of the others, those that were reserved through functions, until the queue is given back
    assert all(grid > COUNT and grid % 2 for grid in grids[COUNT:])
    check_that_memory_is_named(info)


def test_packets_whose_doorbell_is_rung_in_memory_are_named_and_harm_nothing(attach):
    rows, info = attach("bell")
    check_kernels(rows)
    check_that_memory_is_named(info)


def test_kernels_that_share_a_signal_are_counted_with_that_reason(attach):
    _, info = attach("share")
    assert [e for e in info["events"] if "share a completion signal" in e["text"]]
    found = {why: n for why, n in info["dropped_by_reason"].items() if n}
    assert list(found) == ["completion signal shared"]
    assert 0 < found["completion signal shared"] <= 4
