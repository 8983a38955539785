# SPDX-License-Identifier: MIT
"""Test that tools are notified of GPU activities and objects. Each activity is reported three
times, for the right call, before the call retires."""

import collections
import json
import re
import subprocess

import pytest

from conftest import run_command
from truth import Truth, number, read_capture

KERNEL, READ, WRITE, COPY, FILL, BARRIER, SCRATCH = 1, 2, 3, 4, 5, 10, 15
DEVICE, QUEUE, CONTEXT, CODE_OBJECT, KERNEL_SYMBOL, STREAM, GRAPH = 1, 2, 3, 5, 6, 7, 8
LAUNCH, GET_DEVICE = 214, 102
TRUTH = Truth(threads=2, streams=4, launches=20, copies=2, graphs=3, nodes=5)


class Log:
    """Lines of tests/tool/activity_tool.c in file order, as {kind, phase, line, named numbers}."""

    def __init__(self, path):
        self.lines = []
        for line in path.read_text().splitlines():
            words = line.split(" ")
            log = {
                "kind": words[0], "phase": None if "=" in words[1:2][0] else words[1], "line": len(
                    self.lines)
            }
            for word in words[1:]:
                name, equals, value = word.partition("=")
                if equals:
                    log[name] = int(value) if re.fullmatch(r"-?\d+", value) else value
            self.lines.append(log)
        assert not self.of("error")

    def of(self, kind, *phases, **values):
        return [t for t in self.lines if t["kind"] == kind and (not phases or t["phase"] in phases)
                and all(t.get(name) == value for name, value in values.items())]

    def items(self, context=0):
        """Return the three lines of each activity. The eight bytes of data must be 0 at ENTER and
        later keep the value that the tool wrote at ENTER."""
        entered = {}
        for t in self.of("work", "enter", context=context):
            assert t["data"] == 0
            entered[key(t)] = [t]
        for t in self.of("work", "exit", "complete", context=context):
            assert t["data"] > 0
            entered[key(t)].append(t)
        return list(entered.values())


def key(t):
    """Return the identity of an activity. Dispatches share one numbering, and all other activities
    another."""
    return t["domain"], t["kernel"] != 0 or t["type"] == KERNEL, t["number"]


def shape(t):
    grid, group = ([int(n) for n in t[name].split(",")] for name in ("grid", "group"))
    return number([g // s for g, s in zip(grid, group)], group[:2])


@pytest.fixture
def log(build, hip_program, softgpu, tap, work):
    """Return a function: log("calls,work", truth=TRUTH, *options of run) returns the tool's
    notifications. The capture is a.gputap. If @entry is true, gputap finds the tool's entry and
    starts the tool. Otherwise the tool starts itself with plain calls when it is loaded."""
    def run(words, *options, truth=TRUTH, env=None, entry=False):
        words = words if entry else f"alone,{words}"
        out = work / "told"
        out.unlink(missing_ok=True)
        tap("run",
            "-q",
            "-f",
            "-o",
            "a.gputap",
            *options,
            "--",
            *truth.command(hip_program("truth")),
            env={
                **softgpu, "LD_PRELOAD": build / "tests/tool/libwork_tool.so", "WORK_TOOL": words,
                "WORK_TOOL_OUT": out, **(env or {})
            })
        return Log(out)
    return run


@pytest.fixture(scope="module")
def whole(build, hip_program, softgpu, gputap, tmp_path_factory):
    """Record one run with everything enabled."""
    folder = tmp_path_factory.mktemp("whole")
    run_command(
        [
            gputap, "run", "-q", "-o", folder / "a.gputap", "--",
            *TRUTH.command(hip_program("truth"))
        ],
        env={
            **softgpu, "LD_PRELOAD": build / "tests/tool/libwork_tool.so",
            "WORK_TOOL": "alone,calls,work,objects,retire", "WORK_TOOL_OUT": folder / "told"
        })
    return Log(folder / "told"), folder / "a.gputap"


def test_each_work_item_is_reported_three_times(whole):
    log, _ = whole
    items = log.items()
    programs = {t["thread"] for t in log.of("call")}
    programs.remove(min(programs))  # the main thread reports the remaining activities at the end
    assert len(programs) == TRUTH.threads
    assert len([p for p in items if p[0]["type"] == KERNEL]) == TRUTH.kernels()
    assert {p[0]["type"] for p in items} == {KERNEL, READ, WRITE, COPY, FILL, BARRIER}
    for item in items:
        assert [t["phase"] for t in sorted(item, key=lambda t: t["line"])] == [
            "enter", "exit", "complete"
        ], item
        enter, leave, complete = item
        assert enter["by"] == leave["by"] and complete["by"] not in programs
        assert leave["data"] == complete["data"]
        for name in ("type", "correlation", "thread", "device", "queue", "kernel", "name", "grid",
                     "bytes", "graph", "ordinal"):
            assert enter[name] == leave[name] == complete[name], name
    assert len({p[1]["data"] for p in items}) == len(items)


def check_that_threads_ended_and_nothing_was_lost(found):
    items, main = found.items(), found.of("work")[0]["by"]
    assert items and all(
        sorted(t["phase"] for t in item) == ["complete", "enter", "exit"] for item in items)
    by = collections.Counter(t["by"] for t in found.of("work", "complete") if t["by"] != main)
    assert len(by) > 1 and max(by.values()) <= 3
    retired = [t["correlation"] for t in found.of("retired")]
    assert len(retired) == len(
        set(retired)) and set(retired) >= {t["correlation"] for t in found.of("work")}


def test_a_function_that_ends_gputaps_thread_is_notified_of_the_rest_in_another_one(log):
    check_that_threads_ended_and_nothing_was_lost(log("work,calls,retire,exits"))


def test_dispatches_are_numbered_without_gaps_and_copies_too(whole):
    log, _ = whole
    numbers = collections.defaultdict(list)
    for t in log.of("work", "enter"):
        numbers[t["kernel"] != 0].append(t["number"])
    for found in numbers.values():
        assert sorted(found) == list(range(1, len(found) + 1))
    assert len(numbers) == 2


def test_work_lies_between_its_submission_and_its_completion(whole):
    log, _ = whole
    for enter, _, complete in log.items():
        assert complete["status"] == 0
        assert enter["now"] <= complete["start"] < complete["end"] <= complete["now"]


def test_calls_are_numbered_without_gaps(whole):
    log, _ = whole
    numbers = sorted(t["correlation"] for t in log.of("call", "enter"))
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers == sorted(t["correlation"] for t in log.of("call", "exit"))


def test_a_kernel_carries_the_number_of_the_very_call_that_launched_it(whole):
    log, _ = whole
    calls = {t["correlation"]: t for t in log.of("call", "enter")}
    launched, replayed = [], []
    for t in log.of("work", "enter", type=KERNEL):
        call = calls[t["correlation"]]
        assert call["thread"] == t["thread"]
        if t["name"] == "node":
            replayed.append(t)
        else:
            assert call["operation"] == LAUNCH and shape(call) == shape(t)
            launched.append(shape(t))
    assert collections.Counter(launched) == TRUTH.launched
    assert collections.Counter(map(shape, replayed)) == TRUTH.replayed


def test_nodes_of_a_graph_say_which_they_are(whole):
    log, _ = whole
    launches = collections.defaultdict(list)
    for t in log.of("work", "enter", name="node"):
        launches[t["correlation"]].append(t)
    assert len(launches) == TRUTH.threads * TRUTH.graphs
    for nodes in launches.values():
        assert [t["ordinal"] for t in nodes] == list(range(TRUTH.nodes))
        assert len({(t["graph"], t["replay"])
                    for t in nodes}) == 1 and nodes[0]["graph"] and nodes[0]["replay"]


def test_what_is_reported_is_what_is_recorded(whole, tap, work):
    log, capture = whole
    found = read_capture(tap, capture)
    names = {KERNEL: "kernel", READ: "memcpy D2H", WRITE: "memcpy H2D", COPY: "memcpy D2D",
             FILL: "memset"}
    assert collections.Counter(
        names[t["type"]] for t in log.of("work", "complete") if t["type"] != BARRIER
    ) == collections.Counter(row["operation"] for row in found.device)
    TRUTH.check(found)


def test_every_call_retires_once_and_after_everything_else_of_it(whole):
    log, _ = whole
    retired = {t["correlation"]: t for t in log.of("retired")}
    assert len(retired) == len(log.of("retired"))
    assert set(retired) == {t["correlation"] for t in log.of("call")}
    for t in [*log.of("call"), *log.of("work")]:
        last = retired[t["correlation"]]
        assert t["line"] < last["line"] and t["now"] < last["now"]
        assert max(t["now"] if t["phase"] != "complete" else 0, t.get(
            "end", 0)) < last["time"] <= last["now"]


def test_a_kernel_was_loaded_with_its_code_object_before_it_is_launched(whole):
    log, _ = whole
    loads = {(t["type"], t["number"]): t for t in log.of("object", "load")}
    for t in log.of("work", "enter"):
        assert loads[DEVICE, t["device"]]["line"] < t["line"]
        queue = loads[QUEUE, t["queue"]]
        assert queue["handle"] == t["queue_handle"] and queue["parent"] == t["device"]
        if not t["kernel"]:
            continue
        symbol = loads[KERNEL_SYMBOL, t["kernel"]]
        assert symbol["name"] == t["name"] + ".kd" and symbol["line"] < t["line"]
        assert symbol["sgprs"] and symbol["vgprs"] and symbol["kernarg_bytes"] and symbol[
            "code_address"] > symbol["handle"]
        code = loads[CODE_OBJECT, symbol["parent"]]
        assert code["line"] < symbol["line"] and code["load_bytes"] and re.match(
            "(file|memory)://", code["uri"])
        assert code["device_handle"] == loads[DEVICE,
                                              code["parent"]]["handle"] == symbol["device_handle"]
    assert sorted(n for type, n in loads if type == KERNEL_SYMBOL) == list(
        range(1,
              len(log.of("object", "load", type=KERNEL_SYMBOL)) + 1))


def test_work_that_no_reported_call_causes_gets_a_number_of_its_own_that_retires(log):
    found = log("work,retire")
    items = found.items()
    assert sorted(p[0]["correlation"] for p in items) == list(range(1, len(items) + 1))
    assert {t["correlation"] for t in found.of("retired")} == set(range(1, len(items) + 1))
    for item in items:
        last = found.of("retired", correlation=item[0]["correlation"])
        assert len(
            last) == 1 and last[0]["line"] > item[2]["line"] and last[0]["time"] > item[2]["end"]


def test_work_is_reported_and_not_recorded_where_the_session_does_not_ask_for_it(log, tap):
    found = log("calls,work", "--no-device")
    assert len(
        [p for p in found.items() if p[0]["type"] == KERNEL and len(p) == 3]) == TRUTH.kernels()
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["activities"] == 0 and info[
        "dropped"] == 0 and info["seen"] == info["recorded"] == info["calls"]


def test_all_work_is_reported_where_the_session_asks_for_some_of_it(log, tap):
    found = log("calls,work", "--mode", "lite", "--kernels", "^numbered$")
    assert {p[0]["type"] for p in found.items()} == {KERNEL, READ, WRITE, COPY, FILL, BARRIER}
    assert len(
        [p for p in found.items() if p[0]["type"] == KERNEL and len(p) == 3]) == TRUTH.kernels()
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["dropped"] == 0 and info["seen"] == info["recorded"]


def test_calls_of_lower_layers_do_not_take_hips_work(log):
    found = log("calls,hsa,work,retire")
    calls = {t["correlation"]: t for t in found.of("call", "enter")}
    assert sorted(calls) == list(range(1, len(calls) + 1))
    assert {calls[t["correlation"]]["domain"] for t in found.of("work", "enter")} == {2}
    assert {t["correlation"] for t in found.of("retired")} == set(calls)


def test_scratch_memory_is_reported_from_its_making_to_its_end(build, softgpu, tap, work,
                                                               hip_program, rocr):
    if rocr < 13:
        pytest.skip("needs ROCr 6.1, which tells of scratch memory")
    tap("run",
        "-q",
        "-f",
        "-o",
        "a.gputap",
        "--",
        build / "tests/soft/hip_soft",
        "scratch",
        env={
            **softgpu, "LD_PRELOAD": build / "tests/tool/libwork_tool.so",
            "WORK_TOOL": "alone,work", "WORK_TOOL_OUT": work / "told"
        })
    items = [p for p in Log(work / "told").items() if p[0]["type"] == SCRATCH]
    assert len(items) == 5
    for enter, leave, complete in items:
        assert [t["phase"] for t in (enter, leave, complete)] == ["enter", "exit", "complete"]
        assert enter["queue"] == leave["queue"] > 0 and enter["device"] > 0 and enter["bytes"] == 0
        assert enter["now"] <= complete["start"] < complete["end"] <= leave["now"] and complete[
            "bytes"] == leave["bytes"]
    assert [p[1]["bytes"] // 64
            for p in items] == [416 * 1920, 816 * 1920, 16016 * 8, 0, 416 * 1920]


def test_who_comes_first_is_notified_first_of_a_beginning_and_last_of_an_end(log):
    found = log("twice,calls,work", truth=Truth(threads=1, streams=1, launches=5))
    orders = collections.defaultdict(list)
    for t in [*found.of("call"), *found.of("work")]:
        orders[t["kind"], t["phase"],
               t.get("domain"),
               t.get("number"), t["correlation"],
               t.get("kernel")].append((t["line"], t["context"]))
    for (_, phase, *_), lines in orders.items():
        assert [context for _, context in sorted(lines)] == ([0, 1] if phase == "enter" else [1, 0])


def test_a_context_that_starts_late_is_notified_of_what_is_there(log):
    found = log("late,calls,work,objects",
                 truth=Truth(threads=1, streams=2, launches=20, graphs=1))
    replayed = found.of("object", "load", replayed=1)
    assert {t["type"] for t in replayed} == {DEVICE, QUEUE, CODE_OBJECT, KERNEL_SYMBOL}
    known = {}
    for t in found.lines:
        if t["kind"] == "object" and t["phase"] == "load":
            assert (t["type"], t["number"]) not in known, "twice"
            known[t["type"], t["number"]] = t
            assert t["type"] != KERNEL_SYMBOL or (CODE_OBJECT, t["parent"]) in known
        if t["kind"] == "work" and t["phase"] == "enter":
            assert not t["kernel"] or (KERNEL_SYMBOL, t["kernel"]) in known
            assert (QUEUE, t["queue"]) in known
    work = found.of("work", "enter", name="numbered")
    assert len(work) == 40 - 3, "it starts when the third launch is over"

def test_callbacks_of_work_may_call_the_runtime_and_stop_their_context(log):
    found = log("calls,work,calling")
    by_helpers = [
        t for t in found.of("call", "enter") if t["operation"] == GET_DEVICE and t["parent"] == 0
    ]
    in_launches = [
        t for t in found.of("call", "enter") if t["operation"] == GET_DEVICE and t["parent"] != 0
    ]
    assert by_helpers and in_launches
    # after a stop and a restart, activities submitted in between are not reported
    stopped = found.of("work", "complete", number=10)[0]["line"]
    assert [p for p in found.items() if len(p) == 3 and p[0]["line"] > stopped]


@pytest.mark.parametrize("when", ["", ",late"])
def test_streams_and_graphs_are_objects_of_hip(log, when):
    truth = Truth(threads=2, streams=3, launches=20, graphs=2, nodes=3)
    found = log(f"calls,work,hip_objects{when}", entry=True, truth=truth)
    objects = [t for t in found.of("object", "load") if t["domain"] == 2]
    streams = [t for t in objects if t["type"] == STREAM]
    device = found.of("work", "exit", type=KERNEL)[0]["device"]
    assert {t["parent"] for t in streams} == {device} and all(t["device_handle"] for t in streams)
    assert [t for t in streams if t["handle"] == 0], "the default stream"
    assert len([t for t in streams if t["handle"]]) == truth.threads * truth.streams
    assert any(t["replayed"] for t in streams) == bool(when)
    graphs = {t["number"]: t for t in objects if t["type"] == GRAPH}
    launched = {t["graph"] for t in found.of("work", "exit", name="node")}
    assert launched and launched <= set(graphs)
    assert all(
        graphs[t["graph"]]["line"] < t["line"] for t in found.of("work", "exit", name="node"))
    unloaded = [(t["type"], t["number"]) for t in found.of("object", "unload") if t["domain"] == 2]
    assert sorted(unloaded) == sorted((t["type"], t["number"]) for t in objects)


# The end, and without `gputap run` ---------------------------------------------

def test_what_is_loaded_is_unloaded_at_the_end_kernels_before_their_code(log):
    found = log("objects,retire,work,calls", entry=True)
    loads = {(t["type"], t["number"]): t for t in found.of("object", "load")}
    unloads = {(t["type"], t["number"]): t for t in found.of("object", "unload")}
    assert loads.keys() == unloads.keys() and {type for type, _ in loads
                                               } == {DEVICE, QUEUE, CODE_OBJECT, KERNEL_SYMBOL}
    for (type, number), t in unloads.items():
        assert t["data"] == type * 1000 + number
        if type == KERNEL_SYMBOL:
            assert t["line"] < unloads[CODE_OBJECT, t["parent"]]["line"]
    programs = {t["thread"] for t in found.of("call")}
    # `gputap run` itself also loads the tool
    finish = [t for t in found.of("finish") if t["by"] in programs]
    assert len(finish) == 1 and all(t["kind"] == "finish" for t in found.lines[finish[0]["line"]:])
    assert {t["correlation"]
            for t in found.of("retired")} == {t["correlation"] for t in found.of("call")}


def test_a_context_may_have_code_objects_unloaded_before_their_kernels(log):
    found = log("objects,parent_first", entry=True, truth=Truth(threads=1, streams=1, launches=3))
    code = {t["number"]: t for t in found.of("object", "unload", type=CODE_OBJECT)}
    kernels = found.of("object", "unload", type=KERNEL_SYMBOL)
    assert kernels and all(code[t["parent"]]["line"] < t["line"] for t in kernels)


def test_a_tool_is_notified_the_same_without_gputap_run(build, hip_program, softgpu, run, work):
    run(TRUTH.command(hip_program("truth")),
        env={
            **softgpu, "LD_PRELOAD": build / "tests/tool/libwork_tool.so",
            "WORK_TOOL": "calls,work,objects,retire", "WORK_TOOL_OUT": work / "told"
        })
    found = Log(work / "told")
    items = found.items()
    calls = {t["correlation"]: t for t in found.of("call", "enter")}
    assert sorted(calls) == list(range(1, len(calls) + 1))
    assert all(
        len(p) == 3 and p[2]["status"] == 0 and p[0]["now"] <= p[2]["start"] < p[2]["end"]
        for p in items)
    launched = collections.Counter(shape(p[0]) for p in items if p[0]["name"] == "numbered")
    assert launched == TRUTH.launched
    assert all(
        shape(calls[p[0]["correlation"]]) == shape(p[0])
        for p in items
        if p[0]["name"] == "numbered")
    assert collections.Counter(
        shape(p[0]) for p in items if p[0]["name"] == "node") == TRUTH.replayed
    assert {t["correlation"] for t in found.of("retired")} == set(calls)
    assert len(found.of("object", "load")) == len(found.of("object", "unload"))


def test_records_of_a_call_and_of_its_work_come_before_that_of_its_retirement(log):
    found = log("buffer", entry=True)
    calls, work, retired = (found.of("record", phase) for phase in ("call", "work", "retired"))
    assert len([t for t in work if t["type"] == KERNEL]) == TRUTH.kernels()
    assert all(t["start"] < t["end"] for t in [*calls, *work])
    last = {t["correlation"]: t for t in retired}
    assert len(last) == len(retired) and set(last) == {t["correlation"] for t in calls
                                                       } >= {t["correlation"] for t in work}
    for t in [*calls, *work]:
        assert t["line"] < last[t["correlation"]]["line"] and t["end"] < last[
            t["correlation"]]["time"]


def test_hips_work_in_flight_at_a_fork_is_reported_to_its_end_in_the_parent_alone(
        build, run, hip_program, softgpu, work):
    """In the child, the tool is notified of the child's call, but of no kernel of the parent."""
    for attempt in range(5):
        out = work / f"told{attempt}"
        run(
            [hip_program("ends"), "queued:3000", "fork-look", "kernels:1"],
            env={
                **softgpu, "LD_PRELOAD": build / "tests/tool/libwork_tool.so",
                "WORK_TOOL": "alone,calls,work,retire", "WORK_TOOL_OUT": out
            })
        found = Log(out)
        asked, = found.of("call", "enter", name="hipStreamGetFlags")
        assert not [t for t in found.of("work") if t["by"] == asked["by"]]
        assert {t["correlation"] for t in found.of("retired") if t["by"] == asked["by"]} == {
            asked["correlation"]
        }
        items = found.items()
        assert all([t["phase"]
                    for t in item] == ["enter", "exit", "complete"] and item[2]["status"] == 0
                   for item in items)
        assert sum(item[0]["kernel"] != 0 for item in items) >= 3001
        of_work = {item[0]["correlation"] for item in items}
        # parent and child continue with the same next number
        retired = collections.Counter(
            t["correlation"] for t in found.of("retired") if t["by"] != asked["by"])
        assert {retired[c] for c in of_work} == {1}
        if any(item[1]["line"] < asked["line"] < item[2]["line"] for item in items):
            return
    pytest.fail("no kernel was in flight at the fork")


# OpenCL ----------------------------------------------------------------------


@pytest.fixture
def log_opencl(build, tap, work):
    """Return a function: log_opencl("calls,work", PROGRAM, *options of run) works like log(), but
    with PoCL."""
    def run(words, program, *options, arguments=()):
        out = work / "told"
        tap("run",
            "-q",
            "-f",
            "-o",
            "a.gputap",
            *options,
            "--",
            build / "tests/opencl" / program,
            *arguments,
            env={
                "LD_PRELOAD": build / "tests/tool/libwork_tool.so", "WORK_TOOL": f"alone,{words}",
                "WORK_TOOL_OUT": out
            })
        return Log(out)
    return run


POCLS_ASSERTION = "pocl_setup_context: Assertion"


def asserts_without_us(program):
    """Return true if the untraced program asserts. PoCL 5.0 crashes in 3 % of runs when two threads
    create contexts at once."""
    return any(POCLS_ASSERTION in subprocess.run([program], capture_output=True, text=True).stderr
               for _ in range(400))


@pytest.mark.parametrize("options", [(), ("--no-device",)], ids=["recorded", "only notified"])
def test_a_device_that_another_thread_still_makes_is_not_asked_anything(log_opencl, build,
                                                                        options):
    """PoCL crashes if a program queries the name of a device that another thread is still creating,
    as half of the runs did."""
    for _ in range(10):
        try:
            found = log_opencl("opencl,work,objects", "cl_race", *options)
        except AssertionError as error:
            if POCLS_ASSERTION in str(error) and asserts_without_us(build / "tests/opencl/cl_race"):
                pytest.skip("PoCL 5.0 asserts in the bare program, too: pocl_setup_context()")
            raise
        entered, devices = found.of("work", "enter"), found.of("object", "load", type=DEVICE)
        assert {
            w["device"]
            for w in entered
            if w["number"] in {c["number"] for c in found.of("work", "complete")}
        } <= {d["number"] for d in devices}


@pytest.mark.parametrize("options", [(), ("--no-device",)], ids=["recorded", "only notified"])
def test_opencls_commands_are_reported_from_their_enqueue_to_their_end(log_opencl, tap, options):
    found = log_opencl("opencl,work,retire,objects", "cl_everything", *options)
    calls = {t["correlation"]: t for t in found.of("call", "enter")}
    info = json.loads(tap("info", "--json", "a.gputap").out)
    items = [p for p in found.items() if len(p) == 3]
    assert items and info["dropped"] == 0
    assert info["activities"] == (0 if options else len(items))
    assert len(found.of("work", "complete")) == len(items)
    devices = {t["number"] for t in found.of("object", "load", type=DEVICE)}
    queues = {t["number"]: t for t in found.of("object", "load", type=QUEUE)}
    for enter, leave, complete in items:
        assert [t["phase"] for t in sorted((enter, leave, complete), key=lambda t: t["line"])] == [
            "enter", "exit", "complete"
        ]
        call = calls[enter["correlation"]]
        assert call["thread"] == enter["thread"] and call["line"] < enter["line"]
        assert leave["device"] in devices and queues[
            leave["queue"]]["handle"] == leave["queue_handle"]
        if complete["status"] == 0:
            assert enter["now"] <= complete["start"] < complete["end"] <= complete["now"]
    retired = {t["correlation"]: t for t in found.of("retired")}
    for t in [*found.of("call"), *found.of("work")]:
        assert t["line"] < retired[t["correlation"]]["line"] and t.get(
            "end", 0) < retired[t["correlation"]]["time"]


def test_a_function_of_opencls_work_that_ends_gputaps_thread_is_notified_of_the_rest_in_another_one(
        log_opencl):
    check_that_threads_ended_and_nothing_was_lost(
        log_opencl("opencl,work,retire,exits", "cl_many", arguments=[2000, 200]))


def test_an_opencl_kernel_has_its_name_and_size(log_opencl):
    found = log_opencl("opencl,work", "cl_basic")
    kernels = found.of("work", "complete", type=KERNEL)
    assert kernels and all(t["name"] != "-" and t["grid"] != "0,0,0" for t in kernels)
    assert [t["number"] for t in found.of("work", "enter", type=KERNEL)] == list(
        range(1,
              len(kernels) + 1))


@pytest.mark.parametrize("program,arguments,kernels", [("cl_basic", [], ["twice", "plus"]),
                                                       ("cl_many", [2000], None)],
                         ids=["cl_basic", "cl_many"])
def test_opencls_contexts_and_kernels_are_objects(log_opencl, program, arguments, kernels):
    found = log_opencl("opencl,work,objects", program, arguments=arguments)
    loads = found.of("object", "load")
    assert len({(t["type"], t["number"]) for t in loads}) == len(loads)
    context = [t for t in loads if t["type"] == CONTEXT]
    made = [
        t for t in found.of("call", "enter")
        if t["name"] in ("clCreateContext", "clCreateContextFromType")
    ]
    assert len(context) == len(made) > 0 and all(t["handle"] for t in context)
    symbols = {t["number"]: t for t in loads if t["type"] == KERNEL_SYMBOL}
    assert kernels is None or [t["name"] for t in symbols.values()] == kernels
    launches = found.of("work", "exit", type=KERNEL)
    assert launches
    for t in launches:
        assert symbols[t["kernel"]]["name"] == t["name"] and symbols[
            t["kernel"]]["line"] < t["line"]
    assert len(found.of("object", "unload")) == len(loads)


def test_a_late_tool_of_opencl_is_notified_of_a_kernel_that_was_there_when_it_is_launched(
        build, run, work):
    """The kernel was created before any tool listened."""
    run(
        [build / "tests/opencl/cl_basic", 3],
        env={
            "LD_PRELOAD": build / "tests/tool/libwork_tool.so",
            "WORK_TOOL": "opencl,work,objects,late_opencl", "WORK_TOOL_OUT": work / "told"
        })
    found = Log(work / "told")
    symbols = {t["number"]: t for t in found.of("object", "load", type=KERNEL_SYMBOL)}
    launches = found.of("work", "exit", type=KERNEL)
    assert launches and all(
        symbols[t["kernel"]]["name"] == t["name"] and symbols[t["kernel"]]["replayed"]
        for t in launches)


@pytest.fixture(scope="module")
def leaves(build, repo, softgpu, tmp_path_factory):
    """Return a function: leaves("jump", "enter", "again") returns the output of
    tests/rocm/hsa_leaves.cc, and the set of notifications for each of its two contexts."""
    folder = tmp_path_factory.mktemp("leaves")
    options = [
        "-O1", "-Wall", "-Wextra", "-DLITTLEENDIAN_CPU", f"-I{repo}/tests/soft", f"-I{repo}/include"
    ]
    subprocess.run(
        ["cc", *options, "-c", repo / "tests/soft/hsa_program.c", "-o", folder / "hsa_program.o"],
        check=True)
    subprocess.run([
        "c++", *options, repo / "tests/rocm/hsa_leaves.cc", folder / "hsa_program.o", "-o",
        folder / "leaves", build / "libgputap.so.0", "-lhsa-runtime64"
    ],
                   check=True)

    def run(*words):
        result = run_command(
            [
                build / "gputap", "run", "-q", "-f", "-o", folder / "a.gputap", "--domains",
                "roctx", "--", folder / "leaves", build / "tests/soft/soft_kernels.co", *words
            ],
            env={**softgpu, "LD_LIBRARY_PATH": f"{softgpu['LD_LIBRARY_PATH']}:{build}"})
        lines = result.out.splitlines()
        log = [sorted(line.split()[1:]) for line in lines[-2:]]
        assert all(len(set(one)) == len(one) for one in log)
        return lines[:-2], [set(one) for one in log]
    return run


def log_of(numbers, phases="+-."):
    return {f"{phase}{n}" for n in numbers for phase in phases}


OTHERS = log_of([1, 2, 4, 5, 6])


@pytest.mark.parametrize("how, said", [("jump", "jumped"), ("throw", "caught")])
def test_a_function_that_leaves_the_beginning_of_a_dispatch_does_not_keep_the_queue(
        leaves, how, said):
    """The kernel runs. Only contexts that were notified of its start are notified of its
    completion."""
    lines, log = leaves(how, "enter", "again")
    assert lines == [said]
    assert log == [OTHERS | {"+3", ".3"}, OTHERS]


@pytest.mark.parametrize("how, said", [("jump", "jumped"), ("throw", "caught")])
def test_a_function_that_leaves_the_end_of_a_dispatch_does_not_keep_the_queue(leaves, how, said):
    lines, log = leaves(how, "exit", "again")
    assert lines == [said]
    assert log == [OTHERS | {"+3", ".3"}, OTHERS | {"+3", "-3", ".3"}]


@pytest.mark.parametrize("how, said", [("jump", "jumped"), ("throw", "caught")])
def test_a_dispatch_that_was_left_is_submitted_though_its_thread_does_nothing_more(
        leaves, how, said):
    """The helper thread submits the dispatch. It cannot know that the original thread does not come
    back, so the activity is counted as lost."""
    lines, log = leaves(how, "enter")
    assert lines == [said]
    assert log == [OTHERS | {"+3"}, OTHERS]


def test_a_function_that_takes_long_is_notified_of_the_end_of_a_dispatch_submitted_without_it(
        leaves):
    lines, log = leaves("slow", "enter")
    assert not lines
    assert log == [OTHERS | {"+3", "-3"}] * 2
