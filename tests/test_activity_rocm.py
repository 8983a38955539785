# SPDX-License-Identifier: MIT
"""Test GPU activities of HSA and HIP on the software GPU: each appears once, with the correct name,
times, byte count and call."""

import collections
import contextlib
import csv
import io
import json
import os
import re
import sqlite3
import subprocess

import pytest

WHOLE = bool(os.environ.get("GPUTAP_SLOW"))


@pytest.fixture(scope="session")
def hsa_copies(tmp_path_factory, repo, softgpu):
    program = tmp_path_factory.mktemp("rocm") / "hsa_copies"
    subprocess.run([
        "cc", "-O1", "-Wall", "-DLITTLEENDIAN_CPU", f"-I{repo}/tests/soft",
        repo / "tests/rocm/hsa_copies.c", repo / "tests/soft/hsa_program.c", "-o", program,
        "-lhsa-runtime64"
    ],
                   check=True)
    return program


@pytest.fixture(scope="session")
def hip(tmp_path_factory, repo, softgpu):
    """Return a function: hip("hip_streams") builds tests/rocm/hip_streams.hip once and returns the
    program's path."""
    folder, made = tmp_path_factory.mktemp("hip"), {}

    def make(name, *options):
        if name not in made:
            made[name] = folder / name
            subprocess.run([
                "hipcc", "--offload-arch=gfx906", "-O2", "-pthread", *options,
                repo / f"tests/rocm/{name}.hip", "-o", made[name]
            ],
                           check=True,
                           capture_output=True)
        return made[name]
    return make


class Trace:
    def __init__(self, result, rows, info):
        self.result, self.info = result, info
        self.calls = {(r["pid"], r["correlation"]): r for r in rows if r["kind"] == "call"}
        self.work = [r for r in rows if r["kind"] == "device"]

    def call(self, work):
        return self.calls.get((work["pid"], work["correlation"]))

    def counts(self):
        """Return (seen, recorded) counts of GPU activities."""
        rows = [r for r in self.info["records"] if r["what"] == "GPU activities"]
        return sum(r["seen"] for r in rows), sum(r["recorded"] for r in rows)


@pytest.fixture
def trace(tap, softgpu, work):
    def run(*words, env=None, options=(), gpus=1, execute=True, **keywords):
        settings = {
            **softgpu, "SOFT_AMDGPU_GPUS": str(gpus), "SOFT_AMDGPU_EXECUTE": str(int(execute)),
            **(env or {})
        }
        result = tap("run",
                     "-f",
                     "-o",
                     "a.gputap",
                     *options,
                     "--",
                     *words,
                     env=settings,
                     **keywords)
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        rows = list(csv.DictReader(io.StringIO((work / "a.csv").read_text())))
        return Trace(result, rows, json.loads(tap("info", "--json", "a.gputap").out))
    return run


@pytest.fixture
def dispatches(trace, hsa_dispatches, build):
    def run(queues, count, *words, **keywords):
        return trace(hsa_dispatches,
                     build / "tests/soft/soft_kernels.co",
                     str(queues),
                     str(count),
                     *words,
                     execute=False,
                     **keywords)
    return run


def numbers(work):
    """Return (queue, kernel) of each activity, as its grid encodes them."""
    return [(int(w["global_z"]) - 1, int(w["global_x"]) - 1 + 64 * (int(w["global_y"]) - 1))
            for w in work]


def wanted(queues, count):
    return sorted((q, i) for q in range(queues) for i in range(count))


@pytest.mark.parametrize("words", [(), ("own", ), ("shared", ), ("backwards", ), ("device", ),
                                   ("no-wait", ), ("late", )],
                         ids=lambda w: "_".join(w) or "plain")
def test_every_dispatch_is_recorded_once(dispatches, words):
    t = dispatches(4, 1500, *words, gpus=2)
    found = numbers(t.work)
    assert len(found) == len(set(found)) and set(found) <= set(wanted(4, 1500))
    assert t.info["seen"] == len(t.work) + t.info["dropped"] + len(t.calls)
    if words not in (("no-wait",), ("late",)):
        assert sorted(found) == wanted(4, 1500) and t.info["dropped"] == 0


def test_a_million_dispatches_on_eight_queues_of_four_gpus_lose_none(dispatches):
    count = 125000 if WHOLE else 5000
    t = dispatches(8, count, gpus=4)
    assert sorted(numbers(t.work)) == wanted(8, count) and t.info["dropped"] == 0
    devices = {(int(w["global_z"]) - 1) % 4: w["device"] for w in t.work}
    assert sorted(devices.values()) == ["0", "1", "2", "3"]
    assert all(w["device"] == devices[(int(w["global_z"]) - 1) % 4] for w in t.work)


def test_work_of_one_queue_runs_one_after_the_other(dispatches):
    t = dispatches(2, 1000)
    for queue in range(2):
        spans = sorted((int(w["start_ns"]), int(w["end_ns"]))
                       for w in t.work
                       if w["global_z"] == str(queue + 1))
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))
        assert all(start <= end for start, end in spans)


def test_work_is_queued_before_it_starts(dispatches):
    t = dispatches(2, 1000)
    assert all(int(w["queued_ns"]) <= int(w["start_ns"]) for w in t.work)


def test_dispatches_are_linked_to_hsa_calls_where_there_is_no_hip(dispatches):
    t = dispatches(3, 500, options=["--mode", "hsa"])
    called = collections.Counter(t.call(w)["operation"] for w in t.work)
    assert set(called) == {"hsa_signal_store_screlease"} and sum(called.values()) == 1500


def test_kernels_have_the_names_of_their_code_object(dispatches):
    assert {w["name"] for w in dispatches(2, 10, gpus=2).work} == {"nothing"}


def test_scratch_memory_is_work_of_the_call_whose_kernel_needs_it(trace, build, work, tap, rocr):
    if rocr < 13:
        pytest.skip("needs ROCr 6.1, which tells of scratch memory")
    t = trace(build / "tests/soft/hip_soft", "scratch")
    scratch = sorted((w for w in t.work if w["operation"] == "scratch"),
                     key=lambda w: int(w["start_ns"]))
    kernels = {w["correlation"]: w for w in t.work if w["operation"] == "kernel"}
    assert [w["name"] for w in scratch] == ["scratch alloc"] * 3 + ["scratch free", "scratch alloc"]
    assert [kernels[w["correlation"]]["name"] for w in scratch] == [
        f"void spill<{n}>(int*, int const*)" for n in (100, 200, 4000, 4000, 100)
    ]
    # ROCr allocates one scratch slot for each wave that the device's compute units can hold. For
    # 4000 words it allocates slots only for the waves of the dispatch.
    assert [
        int(w["bytes"] or 0) / 64 / size for w, size in zip(scratch, (416, 816, 16016, 1, 416))
    ] == [1920, 1920, 8, 0, 1920]
    for w in scratch:
        kernel = kernels[w["correlation"]]
        before = w["name"] == "scratch alloc"
        assert int(w["end_ns"]) <= int(kernel["start_ns"]) if before else int(w["start_ns"]) >= int(
            kernel["end_ns"])
        assert w["queue"] == kernel["queue"] and w["device"] == kernel["device"] and t.call(
            w)["operation"] == "hipLaunchKernel"
    assert t.info["linked"] == t.info["activities"] and t.info["dropped"] == 0
    tap("export", "-f", "a.gputap", "-o", "a.rocpd")
    with contextlib.closing(sqlite3.connect(work / "a.rocpd")) as db:
        rows = db.execute(
            "SELECT operation, size, address, start FROM scratch_memory ORDER BY start").fetchall()
    assert [(r[0], r[1], r[3]) for r in rows] == [(w["name"][8:].upper(), int(
        w["bytes"] or 0), int(w["start_ns"])) for w in scratch]
    assert rows[2][2] == rows[3][2] != 0


@pytest.mark.parametrize("options", [[], ["--mode", "hsa"]],
                         ids=lambda o: "_".join(o) or "default")
@pytest.mark.parametrize("words, count", [(["single:20"], 20), (["shared:20"], 20),
                                          (["careless:20"], 20),
                                          (["single:5", "shared:9", "single:5"], 19)],
                         ids=lambda w: "_".join(w) if isinstance(w, list) else None)
def test_copies_in_flight_that_share_a_signal_have_times_of_their_own(trace, hsa_copies, words,
                                                                      count, options):
    t = trace(hsa_copies, *words, options=options)
    copies = [w for w in t.work if w["operation"] == "memcpy H2D"]
    assert len(copies) == count and t.info["dropped"] == 0
    now = t.info["start_boottime_ns"] + t.info["wall_ns"]
    assert all(int(w["queued_ns"]) <= int(w["start_ns"]) <= int(w["end_ns"]) <= now for w in copies)


SHARED = {"copy": "memcpy H2D", "rect": "memcpy H2D", "engine": "memcpy H2D", "kernel": "kernel",
          "barrier": "barrier", "mixed": "", "careless": "memcpy H2D", "handler": "memcpy H2D"}


@pytest.fixture(scope="session")
def hsa_shared(tmp_path_factory, repo, softgpu):
    program = tmp_path_factory.mktemp("rocm") / "hsa_shared"
    subprocess.run([
        "cc", "-O1", "-Wall", "-DLITTLEENDIAN_CPU", f"-I{repo}/tests/soft",
        repo / "tests/rocm/hsa_shared.c", repo / "tests/soft/hsa_program.c", "-o", program,
        "-lhsa-runtime64", "-ldl"
    ],
                   check=True)
    return program


@pytest.mark.parametrize("how", SHARED)
def test_a_signal_that_work_shares_has_the_values_and_times_that_it_has_bare(
        trace, run, hsa_shared, softgpu, build, how):
    words = [hsa_shared, how, "6", build / "tests/soft/soft_kernels.co"]
    bare = run(words, env=softgpu)
    t = trace(*words, options=["--mode", "hsa"] if how == "barrier" else [])
    assert t.result.out == bare.out and "done" in bare.out
    assert len(t.work) == 12 and t.info["dropped"] == 0
    assert {w["operation"] for w in t.work} == ({SHARED[how]} if SHARED[how] else
                                                {"memcpy H2D", "kernel"})
    # The first six activities run one after another, unless they are barriers, because a barrier
    # starts to wait as soon as the queue reads the packet.
    times = sorted((int(w["start_ns"]), int(w["end_ns"])) for w in t.work)
    assert how == "barrier" or all(a[1] <= b[0] for a, b in zip(times[:6], times[1:6]))


def test_a_copy_that_the_runtime_refuses_or_that_moves_nothing_is_no_lost_work(
        trace, tmp_path, repo, softgpu):
    (tmp_path / "refused.c").write_text("""
#include "hsa_program.h"
int main(void)
{
	struct hsa_program p;
	hsa_signal_t done;
	void *from, *to;

	hsa_program_start(&p);
	from = hsa_program_memory(&p, 4096);
	MUST(hsa_amd_memory_pool_allocate(p.device, 4096, 0, &to));
	done = hsa_program_signal(1);
	for (int i = 1; i < 4; i += 2) {
		hsa_signal_store_screlease(done, i);
		printf("%d ", hsa_amd_memory_async_copy(to, p.gpu, from, p.cpu, 4096, 1, NULL, done)
				      == HSA_STATUS_ERROR_INVALID_ARGUMENT);
		MUST(hsa_amd_memory_async_copy(to, p.gpu, from, p.cpu, 0, 0, NULL, done));
		printf("%ld ", (long)hsa_signal_load_scacquire(done));
		for (int k = 0; k < i; k++)
			MUST(hsa_amd_memory_async_copy(to, p.gpu, from, p.cpu, 64, 0, NULL, done));
		hsa_program_wait(done);
	}
	return 0;
}
""")
    subprocess.run([
        "cc", "-DLITTLEENDIAN_CPU", f"-I{repo}/tests/soft", tmp_path / "refused.c",
        repo / "tests/soft/hsa_program.c", "-o", tmp_path / "refused", "-lhsa-runtime64"
    ],
                   check=True)
    t = trace(tmp_path / "refused")
    assert t.result.out == "1 1 1 3 "
    assert len(t.work) == t.info["seen"] == 4 and t.info["dropped"] == 0


def test_a_copy_has_its_times_though_another_thread_is_still_switching_them_on(
        trace, tmp_path, repo):
    """The runtime records the times of copies only after a call has enabled these times. A tool
    blocks that call until the other thread's copy has completed."""
    source, tool, program = (
        repo / "tests/rocm/hsa_first_copies.c",
        tmp_path / "libholds.so",
        tmp_path / "first_copies",
    )
    subprocess.run(["cc", "-O1", "-Wall", "-DTOOL", "-shared", "-fPIC", source, "-o", tool],
                   check=True)
    subprocess.run([
        "cc", "-O1", "-Wall", "-DLITTLEENDIAN_CPU", f"-I{repo}/tests/soft", source,
        repo / "tests/soft/hsa_program.c", "-o", program, tool, "-lhsa-runtime64", "-pthread"
    ],
                   check=True)
    t = trace(program, str(tool))
    assert t.result.out == "done\n" and t.info["dropped"] == 0
    assert sorted(int(w["bytes"]) for w in t.work) == [4096, 8192] and all(
        0 < int(w["start_ns"]) <= int(w["end_ns"]) for w in t.work)


def test_barriers_are_recorded_in_mode_hsa_alone(trace, hsa_copies):
    t = trace(hsa_copies, "barriers:10", options=["--mode", "hsa"])
    assert collections.Counter(
        (w["operation"], w["name"]) for w in t.work) == {("barrier", "barrier-and"): 10,
                                                         ("barrier", "barrier-or"): 10}
    ends = sorted((int(w["start_ns"]), int(w["end_ns"])) for w in t.work)
    assert all(a[1] <= b[0] for a, b in zip(ends, ends[1:]))  # each waits for the previous barrier
    assert {t.call(w)["operation"] for w in t.work} == {"hsa_signal_store_screlease"}
    assert not trace(hsa_copies, "barriers:10").work


@pytest.mark.parametrize("how", ["kill", "abort"])
def test_what_was_done_when_the_program_is_killed_is_recorded(dispatches, how):
    t = dispatches(2, 1000, how, status=None)
    assert t.result.status != 0
    assert t.info["seen"] == len(t.work) + t.info["dropped"] + len(t.calls)
    assert len(numbers(t.work)) == len(set(numbers(t.work)))


# HIP ------------------------------------------------------------------------

def grid_of(call):
    return tuple(
        int(n)
        for n in re.search(r"numBlocks=\{x=(\d+), y=(\d+), z=(\d+)\}", call["arguments"]).groups())


def test_kernels_are_linked_to_the_launch_that_made_them(trace, hip):
    """The streams of all threads share queues, so that one thread's doorbell can submit another
    thread's packets. Each launch has a unique grid."""
    t = trace(hip("hip_streams"), "2", "8", "3000", execute=False)
    kernels = [w for w in t.work if w["operation"] == "kernel"]
    assert len(kernels) == 6000 and len({tuple(w[f"global_{d}"]
                                               for d in "xyz")
                                         for w in kernels}) == 6000
    for w in kernels:
        assert t.call(w)["operation"] == "hipLaunchKernel"
        assert grid_of(t.call(w)) == tuple(int(w[f"global_{d}"]) for d in "xyz")
    fills = [w for w in t.work if w["operation"] == "memset"]
    assert {t.call(w)["operation"]
            for w in fills} == {"hipMemsetAsync"} and {w["bytes"] for w in fills} == {"4096"}
    assert t.info["dropped"] == 0


@pytest.mark.parametrize("mode, calls", [
    ("hip", {"hip"}), ("hsa", {"hip", "hsa_core", "hsa_amd_ext"}), ("standard", set())])
def test_a_mode_records_the_calls_of_the_runtime_that_it_is_named_after(trace, hip, mode, calls):
    t = trace(hip("hip_copies"), options=["--mode", mode])
    optional = {"hip_compiler", "hsa_image_ext", "hsa_finalize_ext"}
    assert {c["domain"] for c in t.calls.values()} - optional == calls
    assert {w["operation"] for w in t.work} >= {"memcpy D2H", "memcpy H2D"}
    if calls:
        assert t.info["linked"] > 0 and t.info["linked_asked"]


def test_copies_have_the_bytes_and_direction_of_their_calls(trace, hip):
    t = trace(hip("hip_copies"))
    moved = collections.defaultdict(list)
    for w in t.work:
        moved[t.call(w)["operation"], w["operation"]].append(w)
    bytes_of = {key: sum(int(w["bytes"] or 0) for w in works) for key, works in moved.items()}
    truth = dict(line.split("=") for line in t.result.out.split())
    assert bytes_of["hipMemcpy", "memcpy H2D"] == int(truth["h2d"])
    assert bytes_of["hipMemcpy", "memcpy D2H"] == int(truth["d2h"])
    assert bytes_of["hipMemcpy", "memcpy D2D"] == int(truth["d2d"])
    assert bytes_of["hipMemset", "memset"] == int(truth["set"])
    assert bytes_of["hipMemcpy2D", "memcpy H2D"] == int(truth["rect"])
    assert all(0 < int(w["start_ns"]) <= int(w["end_ns"]) for w in t.work)
    assert t.info["dropped"] == 0 and t.result.err.count("time stamps") == 0


def test_a_module_loaded_again_at_the_same_address_gets_its_own_name(trace, hip, build):
    t = trace(hip("hip_modules"), build / "tests/soft/soft_first.co",
              build / "tests/soft/soft_second.co", "40")
    kernels = sorted((w for w in t.work if w["operation"] == "kernel"),
                     key=lambda w: int(w["start_ns"]))
    assert [w["name"] for w in kernels] == ["first", "second"] * 20
    assert "wrong 0" in t.result.out


def test_a_program_that_exits_without_waiting_is_recorded_whole(trace, hip):
    t = trace(hip("hip_streams"), "1", "4", "500", "no-wait", execute=False)
    assert t.info["seen"] == t.info["recorded"] + t.info["dropped"] and len(t.calls) > 500


def test_parent_and_child_of_a_fork_have_work_of_their_own(trace, hip):
    t = trace(hip("hip_fork"))
    by_pid = collections.Counter(w["pid"] for w in t.work if w["operation"] == "kernel")
    assert sorted(by_pid.values()) == [100, 200]
    assert all(
        t.call(w)["operation"] == "hipLaunchKernel" for w in t.work if w["operation"] == "kernel")


def test_a_fault_of_the_device_ends_the_program_and_not_the_capture(trace, hip):
    t = trace(hip("hip_fault"), status=None)
    assert t.result.status == -6
    assert sum(w["name"].startswith("fine(") for w in t.work) == 50
    assert t.info["seen"] == t.info["recorded"] + t.info["dropped"]
