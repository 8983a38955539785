# SPDX-License-Identifier: MIT
"""Programs that use CUPTI themselves, as torch.profiler does (tests/cuda/kineto_like.c), on the
software driver: they get what they get without gputap, and gputap records everything."""
import json
import subprocess

import pytest

from conftest import REPO

# launches behind the end of each session, which are not its own
BEHIND = 3
TABLE = ["run=2000", "profile=3000", "run=4000", "profile=1000", "run=500"]


@pytest.fixture(scope="session")
def programs(build, tmp_path_factory):
    """A folder with the module and the program, with CUPTI linked and opened."""
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
    """bare("opened", words..): what the program prints without gputap."""

    def call(program, *words, env=None):
        done = run([gputap, "soft", "cuda", "--", programs / program, programs / "kernels.so",
                    *words], env=env)
        return [json.loads(line) for line in done.out.splitlines()]

    return call


@pytest.fixture
def beside(run, gputap, programs, work):
    """beside("opened", words..): what it prints under gputap, and the report."""

    def call(program, *words, options=(), env=None):
        done = run([gputap, "run", "-q", "-f", "-o", "share.gputap", *options, "--", gputap, "soft",
                    "cuda", "--", programs / program, programs / "kernels.so", *words], env=env)
        report = json.loads(
            run([gputap, "report", "--json", "--top", "0", "share.gputap"]).out)
        return [json.loads(line) for line in done.out.splitlines()], report

    return call


def launches(words):
    """What the program launches."""
    counts = [word.split("=") for word in words if word[-1].isdigit()]
    return sum(int(count) + (0 if name == "run" else 5 if name == "callbacks" else BEHIND)
               for name, count in counts)


def check_ours(report, words):
    assert report["device_work"] == report["linked"] == launches(words)
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
    words = ["run=10", "callbacks=200", "profile=50", "callbacks=100", "run=10"]
    said, report = beside("opened", *words)
    assert [row.get("callbacks") for row in said] == [200, None, 100, None]
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


def test_without_device_work_it_is_left_alone(beside, bare):
    words = ["clock=none", "run=20", "profile=100", "second", "callbacks=10"]
    said, report = beside("opened", *words, options=["--no-device"])
    assert said == bare("opened", *words)
    assert report["device_work"] == 0


def test_a_graphs_launches_as_one_do_not_keep_its_records_away(beside, bare):
    words = ["run=20", "profile=300", "run=20"]
    said, report = beside("opened", *words, options=["--mode", "lite"])
    check_session(said[0], 300)
    assert report["device_work"] == launches(words) and report["dropped"] == 0
    assert said == bare("opened", *words)


def test_its_calls_are_recorded_on_request(beside):
    words = ["profile=10"]
    _, report = beside("opened", *words, options=["-d", "cupti,cuda_driver"])
    calls = {row["name"]: row["calls"] for row in report["operations"]}
    assert calls["cuptiSubscribe"] == calls["cuptiActivityFlushAll"] == 1
    assert calls["cuptiActivityEnable"] == calls["cuptiActivityDisable"] == 6
    _, report = beside("opened", *words)
    assert "cuptiSubscribe" not in {row["name"] for row in report["operations"]}
