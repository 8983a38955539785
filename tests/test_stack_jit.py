# SPDX-License-Identifier: MIT
"""Test code that a program generates while it runs. Its frames have the names in /tmp/perf-PID.map,
which the compiler of the code writes."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="x86-64 code")

NODE_HEADERS = next((each for each in ("/usr/include/node", "/usr/include/nodejs/src")
                     if os.path.exists(f"{each}/node_api.h")), None)


@pytest.fixture
def jit(run, tap, repo, work):
    """Return a function: jit(map) runs the program that writes this map ("%p" is its pid) and
    returns the frames of the launch. Maps in /tmp are removed when the test ends."""
    made = []

    def traced(map="", before="", options=("--stacks",)):
        run(["gcc", "-O1", "-fno-omit-frame-pointer", repo / "tests/stacks/jit_program.c", "-o",
             "jit_program", "-lOpenCL"])
        # exec keeps the pid of the shell
        tap("run", "-q", "-f", *options, "-o", "j.gputap", "sh", "-c",
            f"echo $$ > pid; {before} exec ./jit_program {map}".replace("%p", "$$"))
        made.append(f"/tmp/perf-{pathlib.Path('pid').read_text().strip()}.map")
        return frames("j.gputap")

    def frames(capture):
        rows = json.loads(tap("report", capture, "-t", "stacks", "--json").out)["stacks"]
        (stack,) = [row["stack"] for row in rows if row["name"] == "memset"
                    and row["device_ns"] is not None]
        return stack
    traced.frames = frames
    yield traced
    for path in made:
        pathlib.Path(path).unlink(missing_ok=True)


MAP = "/tmp/perf-%p.map"


def test_code_has_the_name_that_the_map_says_last(jit):
    stack = jit(MAP)
    assert stack[0].startswith("launch ") and stack[3].startswith("main ")
    assert stack[1:3] == ["Py::inner function:3 in [jit]", "LazyCompile:~outer in [jit]"]


def test_the_names_are_in_the_capture(jit):
    before = jit(MAP)
    for path in pathlib.Path("/tmp").glob(f"perf-{pathlib.Path('pid').read_text().strip()}.map"):
        path.unlink()
    assert jit.frames("j.gputap") == before


def test_without_a_map_code_is_an_address(jit):
    assert all(re.fullmatch(r"\[jit\] 0x[0-9a-f]+", frame) for frame in jit()[1:3])


def is_unread(stack):
    return all(frame.startswith("[jit] 0x") for frame in stack[1:3])


def test_a_map_is_not_read_through_a_link(jit, work):
    """A user who can write to /tmp must not make gputap read another file of the traced user."""
    assert is_unread(jit(f"{work}/map", before=f"ln -s {work}/map {MAP};"))


def test_a_map_of_another_user_is_not_read(jit):
    if os.geteuid():
        pytest.skip("only root can give a file away")
    stack = jit(MAP, before=f": > {MAP}; chown 65534 {MAP};")
    assert is_unread(stack)


def test_what_was_there_before_the_session_is_not_read(jit, work):
    """An earlier process with the same pid wrote the map."""
    (work / "old").write_text("0 ffffffffffff wrong\n")
    os.utime(work / "old", (1, 1))
    assert is_unread(jit("", before=f"cp -p {work}/old {MAP};"))


def test_a_pipe_in_its_place_holds_nobody(jit):
    assert is_unread(jit("", before=f"mkfifo {MAP};"))


def test_names_are_left_out_where_nobody_wants_them(jit):
    assert is_unread(jit(MAP, options=["--stacks=no-names"]))


def test_a_name_that_is_too_long_is_cut_and_its_place_is_not(jit, tap):
    before = "n=$(printf '%0200d' 7);"
    jit(MAP, before=f"{before} export JIT_NAME=$n;")
    table = ["report", "j.gputap", "-t", "stacks", "-w", "name=memset"]
    text = tap(*table, env={"COLUMNS": 70}).out
    (line,) = [line for line in text.splitlines() if "0000" in line]
    assert len(line) <= 70 and line.endswith("0.. in [jit]")
    assert "0" * 199 + "7 in [jit]" in tap(*table).out


@pytest.mark.parametrize("name, shown", [
    ("at::native::add(int, char const*)", "at::native::add"),
    ("void f<std::vector<int, std::allocator<int> > >(int)", "void f<..>"),
    ("a<int>::b(c<d>)", "a<int>::b"),
    ("a::(anonymous namespace)::b()", "a::(anonymous namespace)::b"),
    ("a::(anonymous namespace)", "a::(anonymous namespace)"),
    ("main::{lambda()#1}::operator()(int) const", "main::{lambda()#1}::operator()(int) const"),
    ("a::operator<(b)", "a::operator<"), ("a::operator->()", "a::operator->"), ("(x)", "(x)"),
])
def test_names_are_shown_without_parameters_and_long_template_arguments(jit, tap, name, shown):
    stack = jit(MAP, before=f"export JIT_NAME='{name}';")
    assert f"{name} in [jit]" in stack  # the data has the full name
    text = tap("report", "j.gputap", "-t", "stacks", "-w", "name=memset").out
    assert f" {shown} in [jit]\n" in text


ADDON = r"""
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <node_api.h>
#include <stdlib.h>
static cl_command_queue queue;
static cl_mem buffer;
static napi_value launch(napi_env env, napi_callback_info info)
{
	char zero = 0;
	clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, 4096, 0, NULL, NULL);
	clFinish(queue);
	return NULL;
}
static napi_value begin(napi_env env, napi_value exports)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	napi_value function;
	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		exit(77);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	buffer = clCreateBuffer(context, 0, 4096, NULL, NULL);
	napi_create_function(env, "launch", NAPI_AUTO_LENGTH, launch, NULL, &function);
	return function;
}
NAPI_MODULE(addon, begin)
"""

SCRIPT = """
const launch = require('./addon.node');
function forward(model) { launch(); return model + 1; }
function step(count) {
  let model = 0;
  for (let i = 0; i < count; i++)
    model = forward(model);
  return model;
}
for (let i = 0; i < 5; i++) step(2000);
"""


@pytest.mark.skipif(not (shutil.which("node") and NODE_HEADERS),
                    reason="node, or its headers, are not here")
def test_functions_of_node_have_names(run, tap, work):
    """V8 writes compiled and interpreted functions into its map."""
    (work / "main.js").write_text(SCRIPT)
    run(["gcc", "-xc", "-", "-w", "-O1", "-shared", "-fPIC", f"-I{NODE_HEADERS}", "-o",
         "addon.node", "-lOpenCL"], stdin=ADDON)
    tap("run", "-q", "--stacks", "-o", "n.gputap", "sh", "-c",
        "echo $$ > pid; exec node --perf-basic-prof --interpreted-frames-native-stack main.js")
    pathlib.Path(f"/tmp/perf-{pathlib.Path('pid').read_text().strip()}.map").unlink()
    rows = json.loads(tap("report", "n.gputap", "-t", "stacks", "--json").out)["stacks"]
    named = [row["stack"] for row in rows if row["device_ns"]
             and any("forward" in frame for frame in row["stack"])]
    assert named and all("step" in " ".join(stack) for stack in named)
