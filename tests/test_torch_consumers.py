# SPDX-License-Identifier: MIT
"""Test a torch program recorded by `gputap run` in Holistic Trace Analysis and Perfetto. The export
contains its operators as torch's own export would, with linked GPU activities. Also test torch's
own trace with our records in both consumers."""
import json
import warnings

import pytest

from consumers import perfetto

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
    """Return the events of the exported trace. Also write the variant with CUDA's call names."""
    tap("run", "-o", "a.gputap", "--", torch_python, "-c", SCRIPT % str(repo / "tests"),
        env=torch_package)
    for name in ("a.json", "a.hta.json.gz"):
        tap("export", "a.gputap", "-o", name)
    return json.loads((work / "a.json").read_text())["traceEvents"]


def analyse(trace):
    warnings.simplefilter("ignore")
    from hta.trace_analysis import TraceAnalysis
    return TraceAnalysis(trace_files={0: str(trace)})


@pytest.fixture
def analysis(exported, work):
    return analyse(work / "a.hta.json.gz")


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


def test_perfetto_has_a_torch_programs_work_under_its_operators(exported, tap, work):
    tap("export", "a.gputap", "-o", "a.pftrace")
    number = "extract_arg(%s.arg_set_id, 'debug.external_id')"
    rows = perfetto.ask(work / "a.pftrace", fills=f"""
        select r.name as name, count(*) as count from slice s
        left join slice r on {number % "r"} = {number % "s"}
            and r.category in ('cpu_op', 'user_annotation')
        where s.name = 'memset' group by r.name""", flows="""
        select r.name as name, count(distinct s.id) as count from slice s
        join directly_connected_flow(s.id) f join slice r on r.id = f.slice_out
        where s.name = 'memset' and r.category in ('cpu_op', 'user_annotation') group by r.name""",
                        complaints=perfetto.COMPLAINTS)
    fills = {r["name"]: r["count"] for r in rows["fills"]}
    assert fills == {"gputap_test::fill": 20, "step": 4, None: 1} and rows["complaints"] == []
    assert {r["name"]: r["count"] for r in rows["flows"]} == {"gputap_test::fill": 20, "step": 4}


# torch's own trace -------------------------------------------------------------------

@pytest.fixture
def profiled(torch_case, work):
    """Write a trace of three steps with five fills each, as torch.profiler exports it."""
    torch_case("""
        with gputap.torch.profile() as p:
            for _ in range(3):
                with record_function('step'):
                    work(5)
        p.export_chrome_trace('trace.json')""")
    return work / "trace.json"


def test_hta_breaks_torchs_own_trace_down(profiled):
    analysis = analyse(profiled)
    kinds, _ = analysis.get_gpu_kernel_breakdown(visualize=False)
    assert list(kinds["kernel_type"]) == ["MEMORY"] and int(kinds["sum"].iloc[0]) > 0
    idle, _ = analysis.get_idle_time_breakdown(visualize=False)
    assert set(idle["stream"]) == {1} and "host_wait" in set(idle["idle_category"])


def test_perfetto_reads_torchs_own_trace(profiled):
    rows = perfetto.ask(profiled, fills="""
        select count(*) as count from slice where category = 'gpu_memset'""", flows="""
        select o.category as category, count(*) as count from flow f
        join slice i on i.id = f.slice_in and i.category = 'gpu_memset'
        join slice o on o.id = f.slice_out group by o.category""")
    assert rows["fills"] == [{"count": 15}]
    assert rows["flows"] == [{"category": "cuda_runtime", "count": 15}]
