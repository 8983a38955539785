# SPDX-License-Identifier: MIT
"""Test signals at bad moments: while the state of a thread or process is created, and in the middle
of a call, with a jump out of the call."""

import json

import pytest

from rings import Session

METHODS = ["layer", "interposition"]


def jumper(build, what, method):
    """Return (number of calls that jumper started, call records, (seen, recorded, dropped))."""
    with Session(build) as session:
        # the interposed loader has no layers
        env = {} if method == "layer" else {"LD_LIBRARY_PATH": build / "tests/interception"}
        result = session.run([build / "tests/core/jumper", what], env=env)
        return sum(
            int(n) for n in result.out.split()), session.kind("call"), session.counts("jumper")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("what", ["first", "fork"])
def test_what_a_handler_calls_during_a_first_call_is_recorded(build, what, method):
    made, calls, counts = jumper(build, what, method)
    assert counts == (made, made, 0)
    assert len(calls) == made


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("what, left", [("jump", 10), ("stack", 5)])
def test_after_a_jump_out_of_a_call_the_next_ones_are_recorded(build, what, left, method):
    made, calls, (seen, recorded, dropped) = jumper(build, what, method)
    # the collector counts abandoned calls as unfinished
    assert (seen, recorded, dropped) == (made, made - left, 0)
    assert {c["depth"] for c in calls} == {0}


@pytest.fixture
def losses(tap, build, work):
    """Return a function: losses(WHAT, N, ..., options=[...]) returns the output of gputap run and
    the reasons why calls of jumper were lost."""
    def run(*steps, options=()):
        said = tap("run", "-q", *options, "-o", "j.gputap", build / "tests/core/jumper",
                   *steps).err
        found = json.loads(tap("info", "--json", "j.gputap").out)
        return said, {why: n for why, n in found["dropped_by_reason"].items() if n}
    return run


def test_calls_that_were_left_by_the_hundred_are_unfinished_and_nothing_worse(losses):
    """A thread with more open calls than its table holds is not mistaken for a program that
    overwrote its rings."""
    assert losses("jump", 100) == ("", {"unfinished": 200})


def test_a_jump_out_of_the_taking_of_a_stack_does_not_end_the_recording(losses):
    """A jump before a call starts or after it has ended leaves no open call that the next call
    could mistake for an abandoned call."""
    said, lost = losses("alarms", 500, options=["--stacks=slow:0,lines:0"])
    assert said == "" and set(lost) <= {"unfinished"}


@pytest.mark.parametrize("method", METHODS)
def test_a_handlers_own_stack_is_no_jump(build, method):
    made, calls, (seen, recorded, dropped) = jumper(build, "nested", method)
    inside = [c for c in calls if c["depth"]]
    assert made == 7
    if method == "layer":
        assert (seen, recorded, dropped) == (made, made, 0)
        assert [c["depth"] for c in inside] == [1] * 3
    else:  # calls inside a call of an interposed loader count as the loader's own
        assert (seen, recorded, dropped, inside) == (made - 3, made - 3, 0, [])
