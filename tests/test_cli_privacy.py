# SPDX-License-Identifier: MIT
"""Test who can read gputap's files, and which data they contain: docs/guides/privacy.md."""

import json
import os

import pytest

SECRET = "marker-of-a-secret"


@pytest.fixture
def loose_umask():
    old = os.umask(0o022)
    yield
    os.umask(old)


def mode_of(path):
    return os.stat(path).st_mode & 0o7777


@pytest.fixture
def captured(tap, build, work, loose_umask):
    """Return a function: captured(options...) records an OpenCL program that has a secret argument
    and returns the bytes of a.gputap."""
    def go(*options, env=None):
        tap("run",
            "-q",
            "-f",
            "-o",
            "a.gputap",
            *options,
            build / "tests/opencl/cl_golden",
            SECRET,
            env=env)
        return (work / "a.gputap").read_bytes()
    return go


def test_a_capture_is_its_owners_alone(captured):
    captured()
    assert mode_of("a.gputap") == 0o600


def test_a_shared_capture_has_the_permissions_that_the_umask_leaves(captured):
    captured("--share")
    assert mode_of("a.gputap") == 0o644


@pytest.mark.parametrize("name", ["a.json.gz", "a.csv", "a.rpd", "a.rocpd", "a.pftrace"])
def test_an_export_is_its_owners_alone(captured, tap, name):
    captured()
    tap("export", "a.gputap", "-o", name)
    tap("export", "a.gputap", "--share", "-o", "shared-" + name)
    assert (mode_of(name), mode_of("shared-" + name)) == (0o600, 0o644)


def test_an_export_of_a_run_is_its_owners_alone(tap, build, work, loose_umask):
    tap("run", "-q", "-o", "a.csv", build / "tests/opencl/cl_golden")
    tap("run", "-q", "--share", "-o", "b.csv", build / "tests/opencl/cl_golden")
    assert (mode_of("a.csv"), mode_of("b.csv")) == (0o600, 0o644)


def test_a_merged_capture_is_its_owners_alone(captured, tap):
    captured()
    tap("merge", "a.gputap", "-o", "m.gputap")
    assert mode_of("m.gputap") == 0o600


def test_the_program_has_the_umask_that_it_would_have(tap, work, loose_umask):
    assert tap("run", "-q", "-o", "a.csv", "sh", "-c", "umask").out == "0022\n"


def test_a_command_line_is_in_the_capture_unless_it_is_left_out(captured, tap):
    assert SECRET.encode() in captured()
    hidden = captured("--no-command")
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["command"] == ["cl_golden"] and not info["directory"]
    assert SECRET.encode() not in hidden
    assert SECRET not in tap("report", "--json", "a.gputap").out


def test_the_environment_is_not_in_a_capture(captured):
    assert b"value-of-a-variable" not in captured(env={"SOME_KEY": "value-of-a-variable"})


def test_source_and_build_options_are_in_the_arguments_alone(captured, tap):
    def arguments(*options):
        captured(*options)
        tap("export", "-f", "a.gputap", "-o", "a.rpd")
        return open("a.rpd", "rb").read()
    assert b"kernel void" in arguments()
    assert b"kernel void" not in arguments("--no-args")
    assert b"kernel void" not in arguments("--max-bytes", "0")
