# SPDX-License-Identifier: MIT
"""A torch program that `gputap run` recorded, in Holistic Trace Analysis: its operators stand in
the export as torch's own would, with the device's work linked to them."""
import json
import warnings

import pytest

SCRIPT = """
import sys
sys.path.insert(0, %r)
import gputap, torch
import torch_opencl as t
x = torch.ones(3)
t.device.fill()
for i in range(4):
    with gputap.range('step'):
        for _ in range(5):
            t.fill(x)
        t.device.fill()
    t.device.finish()
"""
FILLS = 4 * (5 + 1) + 1


@pytest.fixture
def exported(tap, repo, torch_python, torch_package, work):
    """The events; beside them the variant with CUDA's names of calls is made."""
    tap("run", "-o", "a.gputap", "--", torch_python, "-c", SCRIPT % str(repo / "tests"),
        env=torch_package)
    for name in ("a.json", "a.hta.json.gz"):
        tap("export", "a.gputap", "-o", name)
    return json.loads((work / "a.json").read_text())["traceEvents"]


@pytest.fixture
def analysis(exported, work):
    warnings.simplefilter("ignore")
    from hta.trace_analysis import TraceAnalysis
    return TraceAnalysis(trace_files={0: str(work / "a.hta.json.gz")})


def test_calls_and_work_have_the_external_id_of_their_operator(exported):
    owners = {e["args"]["External id"]: e["name"] for e in exported
              if e.get("cat") in ("cpu_op", "user_annotation")}
    fills = [e for e in exported if e.get("cat") == "gpu_memset"]
    assert len(fills) == FILLS
    of_work = [owners.get(e["args"].get("External id")) for e in fills]
    assert of_work.count("gputap_test::fill") == 20
    assert of_work.count("step") == 4 and of_work.count(None) == 1
    calls = {e["args"]["correlation"]: e["args"].get("External id") for e in exported
             if e.get("cat") == "cuda_runtime"}
    assert all(calls[e["args"]["correlation"]] == e["args"].get("External id") for e in fills)


def test_hta_kernel_breakdown_has_all_work_of_a_torch_program(analysis):
    kinds, _ = analysis.get_gpu_kernel_breakdown(visualize=False)
    assert list(kinds["kernel_type"]) == ["MEMORY"] and int(kinds["sum"].iloc[0]) > 0


def test_hta_idle_times_of_a_torch_program_add_up_to_its_time(analysis):
    idle, _ = analysis.get_idle_time_breakdown(visualize=False)
    assert set(idle["stream"]) == {1} and "host_wait" in set(idle["idle_category"])


def test_hta_launch_statistics_have_each_launch_of_a_torch_program(analysis):
    stats = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
    assert len(stats) == FILLS and (stats["launch_delay"] >= 0).all()
