# SPDX-License-Identifier: MIT
"""Test programs that use CUPTI themselves, as torch.profiler does (tests/cuda/kineto_like.c), on
the software driver: CUPTI gives such a program the same results as without gputap, and gputap
records everything."""
import json
import re
import shutil
import subprocess

import pytest

from conftest import REPO

# launches after the end of each session, which do not belong to the session
BEHIND = 3
TABLE = ["run=2000", "profile=3000", "run=4000", "profile=1000", "run=500"]


@pytest.fixture(scope="session")
def programs(build, tmp_path_factory):
    """Return a folder with the module and two variants of the program: one linked with CUPTI, one
    that opens CUPTI."""
    folder = tmp_path_factory.mktemp("share")
    common = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}"]
    source = REPO / "tests/cuda/kineto_like.c"
    driver = build / "soft/cuda/libcuda.so.1"
    cupti = build / "soft/cuda/cupti/libcupti.so.13"
    for command in ([
            *common, "-shared", "-fPIC", REPO / "tests/cuda/driver_kernels.c", "-o",
            folder / "kernels.so"
    ], [*common, source, "-o", folder / "opened", driver, "-ldl", "-lpthread"
        ], [*common, "-DLINKED", source, "-o", folder / "linked", driver, cupti, "-lpthread"]):
        subprocess.run(list(map(str, command)), check=True)
    return folder


@pytest.fixture
def bare(run, gputap, programs):
    """Return a function: bare("opened", words...) runs the program without gputap and returns its
    output."""

    def call(program, *words, env=None):
        done = run([gputap, "soft", "cuda", "--", programs / program, programs / "kernels.so",
                    *words], env=env)
        return [json.loads(line) for line in done.out.splitlines()]

    return call


@pytest.fixture
def beside(run, gputap, programs, work):
    """Return a function: beside("opened", words...) runs the program under gputap and returns its
    output and the report."""

    def call(program, *words, options=(), env=None):
        done = run([gputap, "run", "-q", "-f", "-o", "share.gputap", *options, "--", gputap, "soft",
                    "cuda", "--", programs / program, programs / "kernels.so", *words], env=env)
        report = json.loads(
            run([gputap, "report", "--json", "--top", "0", "share.gputap"]).out)
        return [json.loads(line) for line in done.out.splitlines()], report

    return call


def launches(words):
    """Return the number of GPU activities that the program launches."""
    counts = [word.split("=") for word in words if word[-1].isdigit()]
    behind = {"run": 0, "callbacks": 5, "leave": 0, "flush": 0}
    return sum((4 if name == "graph" else 1) * int(count) + behind.get(name, BEHIND)
               for name, count in counts)


def check_ours(report, words):
    assert report["activities"] == report["linked"] == launches(words)
    assert report["dropped"] == 0


def check_session(said, kernels):
    assert said["kernels"] == said["work"] == kernels
    assert said["driver"] >= kernels and said["external"] >= kernels
    assert said["unlinked"] == said["outside"] == said["strangers"] == 0
    assert said["kept"] == said["dropped"] == 0


@pytest.mark.parametrize("program", ["linked", "opened"])
@pytest.mark.parametrize("first", [False, True], ids=["gputap-first", "profiler-first"])
def test_both_get_everything_whoever_comes_first(beside, bare, program, first):
    words = (["profile=500"] if first else []) + ["clock=ticks", *TABLE]
    said, report = beside(program, *words)
    sessions = [int(word.split("=")[1]) for word in words if word.startswith("profile")]
    assert len(said) == len(sessions) + 1
    for row, kernels in zip(said, sessions):
        check_session(row, kernels)
    check_ours(report, words)
    assert said == bare(program, *words)


@pytest.mark.parametrize("clock", ["ticks", "none", "boot"])
def test_its_records_are_in_its_own_unit_of_time(beside, bare, clock):
    words = [f"clock={clock}", "run=20", "profile=300", "run=20", "profile=200"]
    said, report = beside("opened", *words)
    check_session(said[0], 300)
    check_session(said[1], 200)
    check_ours(report, words)
    assert said == bare("opened", *words)


def test_it_gets_no_records_of_kinds_that_it_did_not_ask_for(beside, bare):
    words = ["api=400", "run=10", "api=100"]
    said, report = beside("opened", *words)
    assert [row["work"] for row in said[:2]] == [0, 0]
    assert [row["driver"] >= kernels for row, kernels in zip(said, (400, 100))] == [True, True]
    check_ours(report, words)
    assert said == bare("opened", *words)


def test_its_callbacks_are_called_and_ours_stay_on(beside, bare):
    words = ["callbacks=200", "profile=50", "callbacks=100", "run=10"]
    said, report = beside("opened", *words)
    # including the callbacks of calls during graph capture
    assert [row.get("callbacks") for row in said] == [204, None, 104, None]
    check_ours(report, words)
    assert said == bare("opened", *words)


def test_a_second_subscriber_gets_cuptis_answer(beside, bare):
    words = ["second", "profile=10"]
    said, report = beside("opened", *words)
    assert said[0] == {"second": 39}
    check_session(said[1], 10)
    check_ours(report, words)
    assert said == bare("opened", *words)


def test_a_profiler_without_buffers_loses_its_own_records_alone(beside):
    words = ["poor=100", "profile=100"]
    said, report = beside("opened", *words)
    assert said[0]["work"] == 0 and said[0]["dropped"] >= 100
    check_session(said[1], 100)
    check_ours(report, words)


def test_its_finalisation_ends_its_part_alone(beside):
    words = ["profile=100", "finalize", "run=50", "profile=200", "finalize", "run=10"]
    said, report = beside("opened", *words)
    check_session(said[0], 100)
    check_session(said[1], 200)
    check_ours(report, words)


def test_what_gputap_flushes_does_not_use_up_its_buffers(beside):
    """A session of one second uses at most three buffers: one that is filled, one that CUPTI holds,
    and possibly a next one that CUPTI has already requested."""
    words = ["run=10", "slow=50"]
    said, report = beside("opened", *words)
    check_session(said[0], 50)
    assert said[1]["buffers"] <= 3
    check_ours(report, words)


def test_it_is_not_called_after_its_end(beside):
    words = ["run=10", "leave=50"]
    said, report = beside("opened", *words)
    assert said == []
    check_ours(report, words)


def test_it_gets_its_records_when_the_program_ends_in_a_session(beside):
    words = ["clock=none", "run=10", "flush=700"]
    said, report = beside("opened", *words)
    check_session(said[0], 700)
    check_ours(report, words)


def test_without_device_work_it_is_left_alone(beside, bare):
    words = ["clock=none", "run=20", "profile=100", "second", "callbacks=10"]
    said, report = beside("opened", *words, options=["--no-device"])
    assert said == bare("opened", *words)
    assert report["activities"] == 0


def test_a_graphs_launches_as_one_do_not_keep_its_records_away(beside, bare):
    words = ["run=20", "profile=300", "run=20"]
    said, report = beside("opened", *words, options=["--mode", "lite"])
    check_session(said[0], 300)
    assert report["activities"] == launches(words) and report["dropped"] == 0
    assert said == bare("opened", *words)


def test_it_gets_each_node_of_a_graph(beside, bare):
    words = ["graph=30", "run=10", "graph=20"]
    said, report = beside("opened", *words)
    assert [row["kernels"] for row in said[:2]] == [120, 80]
    check_ours(report, words)
    assert said == bare("opened", *words)


def test_in_lite_it_gets_each_node_of_a_graph(beside, bare):
    words = ["run=10", "graph=30", "run=10"]
    said, report = beside("opened", *words, options=["--mode", "lite"])
    assert said[0]["kernels"] == said[0]["work"] == 120
    assert report["activities"] == launches(words)
    assert said == bare("opened", *words)


@pytest.fixture
def roctx(build):
    return {"KINETO_LIKE_ROCTX": build / "src/compat/roctx/libroctx64.so.4"}


@pytest.mark.parametrize("subscribed", [["subscribe"], ["profile=100"], []])
def test_recording_may_begin_when_it_is_there(beside, bare, roctx, subscribed):
    words = ["pause", *subscribed, "run=30", "profile=70", "resume", "run=50", "profile=40"]
    said, report = beside("opened", *words, env=roctx)
    check_session(said[-2], 40)
    assert report["activities"] == report["linked"] == launches(words[-2:])
    assert said == bare("opened", *words, env=roctx)


def test_recording_may_pause_and_go_on_between_its_sessions(beside, bare, roctx):
    words = [
        "run=50", "profile=100", "pause", "run=30", "profile=70", "run=20", "resume", "run=50",
        "profile=40"
    ]
    said, report = beside("opened", *words, env=roctx)
    assert [row["kernels"] for row in said[:3]] == [100, 70, 40]
    ours = words[:2] + words[-2:]
    assert report["activities"] == report["linked"] == launches(ours)
    assert said == bare("opened", *words, env=roctx)


def test_a_forks_child_beside_it_is_no_concern(beside, bare):
    words = ["profile=100", "fork", "run=20", "profile=50", "fork"]
    said, report = beside("opened", *words)
    check_session(said[0], 100)
    check_session(said[1], 50)
    check_ours(report, words)
    assert said == bare("opened", *words)


def events(run, gputap):
    info = json.loads(run([gputap, "info", "--json", "share.gputap"]).out)
    return [event["text"] for event in info["events"]]


def test_who_subscribes_by_the_way_that_excludes_others_has_it_alone(beside, bare, run, gputap):
    version = {"SOFT_CUDA_CUPTI_VERSION": "13.5"}
    words = ["run=50", "v2=300", "run=20"]
    said, report = beside("opened", *words, env=version)
    assert said == bare("opened", *words, env=version) == [{"v2": 300}]
    assert report["activities"] == report["linked"] == 50
    assert any("cuptiSubscribe_v2()" in text for text in events(run, gputap))


@pytest.mark.parametrize("name", ["libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"])
def test_a_second_copy_that_is_not_newer_is_served(beside, build, tmp_path, name):
    copy = tmp_path / name  # the stand-in derives its version from the file name
    shutil.copy(build / "soft/cuda/cupti/libcupti.so.13", copy)
    words = ["run=20", "profile=300", "run=20"]
    said, report = beside("opened", *words,
                          env={"KINETO_LIKE_CUPTI": copy,
                               "GPUTAP_CUPTI": build / "soft/cuda/cupti/libcupti.so.13"})
    check_session(said[0], 300)
    check_ours(report, words)


def test_a_second_copy_that_is_newer_is_left_to_itself(run, gputap, build, programs, work):
    copy = work / "libcupti.so.12"
    shutil.copy(build / "soft/cuda/cupti/libcupti.so.13", copy)
    done = run([
        gputap, "run", "-q", "-o", "share.gputap", "--", gputap, "soft", "cuda", "--",
        programs / "opened", programs / "kernels.so", "run=20", "subscribe"
    ], status=1, env={"KINETO_LIKE_CUPTI": build / "soft/cuda/cupti/libcupti.so.13",
                      "GPUTAP_CUPTI": copy})
    assert done.err.splitlines()[0] == "cuptiSubscribe: 39"
    assert any("is a second CUPTI, newer than" in text for text in events(run, gputap))
    assert json.loads(run([gputap, "report", "--json", "share.gputap"]).out)["activities"] == 20


@pytest.mark.parametrize("name", ["libToolsInjection64.so", "libcuda-injection.so"])
def test_a_profiler_of_nvidias_around_the_program_has_it(beside, run, gputap, work, name):
    (work / "empty.c").write_text("int InitializeInjection(void)\n{\n\treturn 1;\n}\n")
    run(["cc", "-shared", "-fPIC", "empty.c", "-o", name])
    words = ["run=20", "profile=300"]
    said, report = beside("opened", *words, env={"CUDA_INJECTION64_PATH": work / name})
    check_session(said[0], 300)
    assert report["activities"] == 0
    assert any("also profiles this program" in text for text in events(run, gputap))


def test_both_get_everything_while_other_threads_launch(beside):
    said, report = beside("opened", "run=5", "threads=1000")
    assert said[0] == {"sessions": 10, "strangers": 0}
    assert report["activities"] == report["linked"] == 5 + 3 * 1000 + 10 * 5
    assert report["dropped"] == 0


def test_its_calls_are_recorded_on_request(beside):
    words = ["profile=10"]
    _, report = beside("opened", *words, options=["-d", "cupti,cuda_driver"])
    calls = {row["name"]: row["calls"] for row in report["operations"]}
    assert calls["cuptiSubscribe"] == calls["cuptiActivityFlushAll"] == 1
    assert calls["cuptiActivityEnable"] == calls["cuptiActivityDisable"] == 6
    _, report = beside("opened", *words)
    assert "cuptiSubscribe" not in {row["name"] for row in report["operations"]}


@pytest.mark.parametrize("program", ["linked", "opened"])
def test_tools_without_a_session_share_it_too(run, build, programs, bare, tmp_path, program):
    tool = tmp_path / "work_counter.so"
    library = build / "libgputap.so.0"
    source = REPO / "tests/cuda/activity_counter.c"
    run(["cc", "-shared", "-fPIC", f"-I{REPO}/include", source, "-o",
         tool, library, f"-Wl,-rpath,{build}"])
    words = ["clock=none", "run=20", "profile=300", "callbacks=10", "profile=50", "run=5"]
    done = run([programs / program, programs / "kernels.so", *words],
               env={
                   "LD_LIBRARY_PATH": f"{build}/soft/cuda:{build}/soft/cuda/cupti",
                   "LD_PRELOAD": library,
                   "GPUTAP_TOOLS": tool
               })
    assert [json.loads(line) for line in done.out.splitlines()] == bare(program, *words)
    told = json.loads(done.err.splitlines()[-1])
    assert told["complete"] == told["linked"] == told["kernel"] == launches(words)
