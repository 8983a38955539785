# SPDX-License-Identifier: MIT
"""Test attaching to a running program that uses OpenCL, using tests/opencl/cl_late.c, which joins
sessions by calling gputap_attach()."""

import subprocess
import sys

import pytest

import conftest
from rings import Session, operation_names

WAYS = ["linked", "heap", "table"]
KERNEL, QUEUE, PROFILING = 1, 2, 2
UNTIMED = [0, 0, 0, 0]


class Program:
    """A running cl_late. `made`: names of the OpenCL calls that it has made since the attach."""

    def __init__(self, build, way, *args, **env):
        self.build = build
        self.made = []
        self.process = subprocess.Popen(
            [build / "tests/opencl/cl_late", way, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**conftest.clean_environment(), **env})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def tell(self, line):
        """Return the result of a command."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        for answer in self.process.stdout:
            if answer.startswith("done"):
                return answer.split()[1:]
            self.made.append(answer.strip())
        raise AssertionError(f"{line}: the program ended with status {self.process.wait()}")

    def attach(self, session):
        assert self.tell(f"attach {session.library} {session.folder}") == ["0"]
        self.made = []

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=conftest.HANGS_SECONDS) == 0


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


def late_events(session):
    return [e["text"] for e in session.kind("event") if "before gputap attached" in e["text"]]


def launches_and_kernels(session):
    """Return the ids of the recorded launches, and the kernels in the order of launches."""
    names = operation_names()
    launches = [r["id"] for r in session.kind("call")
                if names[r["domain"], r["number"]] == "clEnqueueNDRangeKernel"]
    kernels = [r for r in session.kind("device") if r["depth"] == KERNEL]
    kernels.sort(key=lambda k: k["id"])
    return launches, kernels


def check_linked(session):
    launches, kernels = launches_and_kernels(session)
    assert sorted(k["id"] for k in kernels) == sorted(launches)
    return kernels


def check_ids(session):
    """Check that each kernel has a launch, and no launch has two kernels."""
    launches, kernels = launches_and_kernels(session)
    ids = {k["id"] for k in kernels}
    assert len(ids) == len(kernels) and ids <= set(launches)


def test_every_call_after_the_attach_is_recorded_once(build, way):
    with Session(build) as session, Program(build, way) as program:
        program.tell("run 10")
        program.attach(session)
        assert program.tell("run 10") == ["20"]
        program.tell("queue")
        assert program.tell("run 5") == ["25"]
        program.tell("memory")
        program.end()
        assert len(program.made) > 20
        assert session.calls() == program.made
        assert session.counts() == (len(program.made), len(program.made), 0)


def test_kernels_are_linked_and_a_later_queue_has_times(build, way):
    with Session(build) as session, Program(build, way) as program:
        program.tell("run 10")
        program.attach(session)
        program.tell("run 10")
        program.tell("queue")
        program.tell("run 5")
        program.end()
        kernels = check_linked(session)
        names = {r["op"]: r["text"] for r in session.kind("string")}
        assert [names[k["name"]] for k in kernels] == ["add"] * 15
        assert [k["times"] == UNTIMED for k in kernels] == [True] * 10 + [False] * 5
        assert len(late_events(session)) == 1, session.kind("event")
        queues = [o["text"] for o in session.kind("object") if o["op"] == QUEUE]
        assert ["profiling=off" in q for q in queues] == [True, False]


def test_a_queue_with_profiling_from_before_has_times(build, way):
    with Session(build) as session, Program(build, way, "profiling") as program:
        program.tell("run 10")
        program.attach(session)
        program.tell("run 10")
        assert program.tell("properties") == [str(PROFILING)]
        assert program.tell("times") == ["0", "1"]
        program.end()
        assert all(k["times"] != UNTIMED for k in check_linked(session))
        assert not late_events(session)


def test_an_old_queue_gets_profiling_if_the_driver_can_enable_it(build, way):
    with Program(build, way) as alone:
        expected = [alone.tell(c) for c in ("properties", "times", "references")]
    with Session(build) as session, Program(build, way, "settable") as program:
        program.tell("run 10")
        program.attach(session)
        program.tell("run 10")
        assert [program.tell(c) for c in ("properties", "times", "references")] == expected
        program.end()
        assert all(k["times"] != UNTIMED for k in check_linked(session))
        assert not late_events(session)


def test_an_old_queue_without_times_is_named_although_it_has_profiling(build):
    """The runtime enables profiling, but gives no times."""
    layer = str(build / "tests/opencl/libfault_layer.so")
    with Session(build) as session, Program(build, "linked", "settable", OPENCL_LAYERS=layer,
                                            FAULT="untimed") as program:
        program.attach(session)
        program.tell("run 10")
        program.end()
        assert all(k["times"] == UNTIMED for k in check_linked(session))
        assert len(late_events(session)) == 1


def test_the_program_sees_no_profiling_that_it_did_not_request(build, way):
    with Program(build, way) as alone:
        expected = [alone.tell(c) for c in ("properties", "times", "references")]
    with Session(build) as session, Program(build, way) as program:
        program.attach(session)
        assert [program.tell(c) for c in ("properties", "times", "references")] == expected
        program.tell("queue")
        assert [program.tell(c) for c in ("properties", "times", "references")] == expected
        program.tell("queue profiling")
        assert program.tell("properties") == [str(PROFILING)]
        assert program.tell("times") == ["0", "1"]
        program.end()
        check_linked(session)


def test_profiling_stays_hidden_after_the_detach(build, way):
    with Session(build) as session, Program(build, way) as program:
        expected = [program.tell(c) for c in ("properties", "times", "references")]
        program.attach(session)
        program.tell("queue")
        program.tell("run 5")
        session.stop()
        program.tell("detached")
        seen = session.counts()
        assert [program.tell(c) for c in ("properties", "times", "references")] == expected
        program.tell("run 5")
        program.tell("queue")
        assert [program.tell(c) for c in ("properties", "times", "references")] == expected
        program.end()
        assert session.counts() == seen


def test_calls_in_callbacks_are_the_programs(build, way):
    with Session(build) as session, Program(build, way) as program:
        program.attach(session)
        assert program.tell("callback 20") == ["20"]
        program.end()
        calls = session.calls()
        assert calls.count("clSetUserEventStatus") == 20
        assert calls.count("clGetEventInfo") == 20


def test_a_second_session_records_like_the_first(build, way):
    with Program(build, way) as program:
        total = 0
        for _ in range(4):
            with Session(build) as session:
                program.attach(session)
                for command in ("old", "queue"):
                    program.tell(command)
                    total += 5
                    assert program.tell("run 5") == [str(total)]
                session.stop()
                program.tell("detached")
                assert session.calls() == program.made
                kernels = check_linked(session)
                names = {r["op"]: r["text"] for r in session.kind("string")}
                assert [names[k["name"]] for k in kernels] == ["add"] * 10
                assert [k["times"] == UNTIMED for k in kernels] == [True] * 5 + [False] * 5
                assert len(late_events(session)) == 1
                described = {(o["op"], o["number"]) for o in session.kind("object")}
                assert {(QUEUE, k["queue"]) for k in kernels} <= described
                assert [m for m in session.kind("module") if "libpocl" in m["text"]]
            total += 3
            assert program.tell("run 3") == [str(total)]
        program.end()


def test_functions_that_the_program_has_looked_up_earlier(build, way):
    with Session(build) as session, Program(build, way) as program:
        expected = program.tell("extension")
        program.attach(session)
        assert program.tell("extension") == expected
        program.end()
        assert session.calls() == program.made


def test_the_detach_restores_the_drivers_table(build, way):
    with Program(build, way) as program:
        assert program.tell("replaced") == ["0"]
        for replaced_later in (0, 4):
            with Session(build) as session:
                program.attach(session)
                assert int(program.tell("replaced")[0]) > 90
                program.tell("run 3")
                if replaced_later:
                    program.tell("queue")
                session.stop()
                program.tell("detached")
                assert program.tell("replaced") == [str(replaced_later)]
        program.end()


def test_a_layer_of_another_tool_below_the_loader(build, way):
    layer = build / "tests/opencl/libfault_layer.so"
    with Session(build) as session, Program(build, way, OPENCL_LAYERS=str(layer)) as program:
        program.tell("run 10")
        program.attach(session)
        assert program.tell("run 10") == ["20"]
        program.tell("queue")
        assert program.tell("run 5") == ["25"]
        program.end()
        assert session.calls() == program.made
        check_linked(session)


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_that_launch_during_the_attach(build, way, threads):
    """Launches that begin after the attach are all recorded."""
    with Session(build) as session, Program(build, way) as program:
        program.tell(f"threads {threads}")
        program.attach(session)
        program.tell("count")
        program.tell("run 10")
        (launched,) = program.tell("join")
        program.end()
        launches, kernels = launches_and_kernels(session)
        (counts,) = session.kind("counts")
        assert counts["call"]["seen"] == counts["call"]["recorded"] + counts["call"]["dropped"]
        assert len(launches) + counts["call"]["dropped"] >= int(launched) + 10
        assert len({k["id"] for k in kernels}) == len(kernels)


@pytest.mark.parametrize("sessions", [5, pytest.param(50, marks=pytest.mark.deep)])
def test_many_sessions_do_not_disturb_threads_that_launch(build, way, sessions):
    with Program(build, way) as program:
        program.tell("threads 4")
        program.tell("count")
        for i in range(sessions):
            with Session(build) as session:
                program.attach(session)
                assert program.tell("run 2") == [str(2 * i + 2)]
                session.stop()
                program.tell("detached")
                check_ids(session)
        assert int(program.tell("join")[0]) > 0
        program.tell("queue")
        assert program.tell("run 1") == [str(2 * sessions + 1)]
        program.end()


def test_ctypes_in_python(build, repo):
    """ctypes holds pointers to functions in the heap."""
    with Session(build) as session:
        program = [sys.executable, repo / "tests/opencl/late_ctypes.py"]
        *made, counts = conftest.run_command([*program, session.library,
                                              session.folder]).out.splitlines()
        assert set(counts.split()) == {"30"}
        assert session.calls() == made
        kernels = check_linked(session)
        assert len({k["device"] for k in kernels}) == len(counts.split())
        half = len(kernels) // 2
        assert [k["times"] == UNTIMED for k in kernels] == [True] * half + [False] * half


def test_opencl_that_is_opened_after_the_attach(build, repo):
    with Session(build) as session:
        program = [sys.executable, repo / "tests/opencl/late_ctypes.py"]
        *made, counts = conftest.run_command([*program, session.library, session.folder,
                                              "first"]).out.splitlines()
        assert set(counts.split()) == {"30"}
        assert session.calls() == made
        assert all(k["times"] != UNTIMED for k in check_linked(session))
        assert not late_events(session)
