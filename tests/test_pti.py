# SPDX-License-Identifier: MIT
"""Test the library compatible with Intel PTI's callback API (src/compat/pti), in its proposed and
its shipped form, on Level Zero with Debian's loader and our driver, and on PoCL."""
import json
import re

import pytest

from conftest import REPO, run_command
from test_level_zero import environment, level_zero  # noqa: F401 (fixtures)
from test_run_plugins import vendor, worker  # noqa: F401 (fixtures)
from test_unified_runtime import CALLS, adapter  # noqa: F401 (a fixture)

IDS = REPO / "tests/golden/pti_ids.txt"
LAUNCH, INIT, CREATE_CONTEXT, CREATE_IMMEDIATE = 55, 1, 21, 34


@pytest.fixture(scope="session")
def compile_pti(build, tmp_path_factory):
    """Return a function: compile_pti("a.c b.c", *flags) builds a program or library that is linked
    with libpti_callback, and returns its path."""
    folder = tmp_path_factory.mktemp("pti")
    library = build / "src/compat/pti"
    made = {}

    def compile_it(names, *flags):
        out = folder / re.sub(r"\W+", "_", names)
        if out not in made:
            run_command(["cc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{REPO}/include",
                         f"-I{REPO}/include/compat",
                         *(REPO / "tests/pti" / name for name in names.split()), "-o", out,
                         f"-L{library}", "-l:libpti_callback.so.1", f"-L{build}",
                         "-l:libgputap.so.0", *flags, "-lpthread",
                         f"-Wl,-rpath,{library}:{build}"])
            made[out] = True
        return out
    return compile_it


@pytest.fixture
def log(compile_pti, run, level_zero, environment):  # noqa: F811
    """Return a function: log(words, *program) runs a program and returns the notification lines of
    the tool tests/pti/log_tool.c."""
    tool = compile_pti("log_tool.c", "-shared", "-fPIC")

    def log_it(words, *program, env=None):
        program = program or (level_zero / "lz_program", "immediate", "2")
        result = run(program, env={**environment, **(env or {}), "LD_PRELOAD": tool,
                                   "PTI_WORDS": words})
        log_it.out = result.out
        return result.err.splitlines()
    return log_it


def fields(line):
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


# Functions -------------------------------------------------------------------------------

def test_one_function_of_level_zero_is_notified_at_enter_and_exit(log):
    lines = log(f"1:{LAUNCH}")
    assert log.out == "driver 0: 3.5 3.5\n"
    assert [line.split()[:2] for line in lines] == [["a", "ENTER"], ["a", "EXIT"]] * 4
    assert {line.split()[5] for line in lines} == {"zeCommandListAppendLaunchKernel"}
    assert [fields(line)["kernel"] for line in lines[::2]] == ["scale", "add"] * 2
    for enter, leave in zip(map(fields, lines[::2]), map(fields, lines[1::2])):
        assert enter["id"] == leave["id"] == str(LAUNCH) and enter["group"] == "1"
        assert enter["args"] == enter["context"] == "1"
        assert enter["correlation"] == leave["correlation"] and "status" not in enter
        assert leave["status"] == "0" and enter["data"] == "0"
        assert leave["data"] == str(int(leave["correlation"]) + 1000)


def test_a_domain_is_all_functions_of_its_drivers(log):
    names = [line.split()[5] for line in log("driver") if " ENTER " in line]
    assert names.count("zeCommandListAppendLaunchKernel") == 4
    assert {"zeInit", "zeKernelCreate", "zeMemAllocShared"} <= set(names)


@pytest.mark.parametrize("way", ["table", "handle"])
def test_sycls_runtime_api_is_a_domain_of_its_own(log, adapter, way):  # noqa: F811
    """Unified Runtime calls come from a stand-in adapter. test_soft_level_zero_sycl.py uses the
    real adapters."""
    lines = log("runtime", *adapter, way)
    assert log.out == ""
    assert [line.split()[5] for line in lines if " ENTER " in line][1:] == CALLS
    assert [line for line in lines if "domain=2" not in line or "group=3" not in line] == []
    launch = [fields(line) for line in lines if "LaunchWithArgs" in line]
    assert [(each["id"], each["kernel"]) for each in launch] == [
        ("295", name) for name in ("scale", "scale", "add", "add")]
    assert launch[0]["correlation"] == launch[1]["correlation"] and launch[0]["args"] == "1"
    assert {line.split()[5] for line in log("3:97", *adapter, way)} == {"urQueueFinish"}
    assert [line for line in log("driver", *adapter, way) if " ENTER " in line] == []


def test_status_of_a_call_that_fails_is_told(log, level_zero):  # noqa: F811
    lines = log("1:98", level_zero / "lz_program", "errors")
    assert "78000011" in {fields(line).get("status") for line in lines}


def test_subscribers_come_in_order_and_leave_in_reverse(log):
    lines = [line.split()[:2] for line in log(f"two,1:{CREATE_CONTEXT}")]
    assert lines == [["a", "ENTER"], ["b", "ENTER"], ["b", "EXIT"], ["a", "EXIT"]]


def test_bad_input_has_the_documents_status(compile_pti, run):
    assert run([compile_pti("bad_input.c")]).out == ""


def test_the_pages_tool_works(build, run, level_zero, environment, work):  # noqa: F811
    text, = re.findall(r"```c\n(.*?)```", (REPO / "docs/tools/pti.md").read_text(), re.S)
    assert text.count("\n") <= 36
    (work / "tool.c").write_text(text)
    library = build / "src/compat/pti"
    run(["cc", "-shared", "-fPIC", "tool.c", "-o", "tool.so", f"-I{REPO}/include/compat",
         f"-L{library}", "-l:libpti_callback.so.1", f"-Wl,-rpath,{library}:{build}"])
    lines = run([level_zero / "lz_program", "immediate", "2"],
                env=environment | {"LD_PRELOAD": work / "tool.so"}).err.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        f"zeCommandListAppendLaunchKernel {name}" for name in ("scale", "add") * 2
    ]


def test_the_manual_has_each_function_and_each_status_that_the_header_names():
    header = (REPO / "include/compat/pti/pti_callback.h").read_text()
    manual = (REPO / "docs/man/libpti_callback.3").read_text()
    names = set(re.findall(r"^(?:pti_result|const char \*)\s*(pti\w+)\(", header, re.M))
    names |= set(re.findall(r"PTI_(?:ERROR|SUCCESS)\w*", header.split("/* As proposed ---")[1]))
    assert len(names) > 12
    assert [name for name in sorted(names) if name not in manual] == []


@pytest.mark.parametrize("form", [[], ["-DPTI_CALLBACK_SHIPPED"]], ids=["proposed", "shipped"])
@pytest.mark.parametrize("compiler", [["cc", "-x", "c", "-std=c11"], ["g++", "-x", "c++"]])
def test_the_header_is_c_and_cpp(run, compiler, form):
    run([*compiler, *form, "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
         f"-I{REPO}/include/compat", "-"], stdin="""
#include <pti/pti_callback.h>
#include <pti/pti_driver_levelzero_api_ids.h>
#include <pti/pti_driver_opencl_api_ids.h>
#include <pti/pti_runtime_sycl_api_ids.h>
""")


# As proposed: sentences of the document ----------------------------------------------------

SENTENCES = re.findall(r'^\t\{"(\w+)",', (REPO / "tests/pti/proposed.c").read_text(), re.M)


@pytest.mark.parametrize("how", ["immediate", "regular"])
@pytest.mark.parametrize("check", SENTENCES)
def test_as_proposed_on_level_zero(compile_pti, run, environment, check, how):  # noqa: F811
    program = compile_pti("proposed.c gpu_level_zero.c", "-lze_loader")
    assert run([program, check, how], env=environment | {"LZ_FAULT": "names"}).out == ""


@pytest.mark.parametrize("check", SENTENCES)
def test_as_proposed_on_opencl(compile_pti, run, check):
    assert run([compile_pti("proposed.c gpu_opencl.c", "-lOpenCL"), check]).out == ""


def test_two_drivers_have_their_own_contexts_and_kernels(log, level_zero, work):  # noqa: F811
    second = work / "libsecond.so"
    second.write_bytes((level_zero / "liblz_driver.so").read_bytes())
    lines = log(f"1:{LAUNCH}", env={
        "ZE_ENABLE_ALT_DRIVERS": f"{level_zero / 'liblz_driver.so'},{second}"
    })
    assert log.out == "driver 0: 3.5 3.5\ndriver 1: 3.5 3.5\n"
    assert [fields(line)["kernel"] for line in lines[::2]] == ["scale", "add"] * 4
    assert {fields(line)["context"] for line in lines} == {"1"}
    assert len({fields(line)["correlation"] for line in lines}) == 8


# As shipped --------------------------------------------------------------------------------

CHECKS = re.findall(r'^\t\{"(\w+)", \w+\},$', (REPO / "tests/pti/shipped.c").read_text(), re.M)
LEVEL_ZERO, OPENCL = "shipped.c gpu_level_zero.c", "shipped.c gpu_opencl.c"


def test_each_sentence_of_the_document_and_each_idea_of_ptis_tests_has_its_check():
    """tests/pti/README.md names the check for each sentence."""
    proposed, shipped = (REPO / "tests/pti/README.md").read_text().split("\n## ")[1:]
    assert [name for name in SENTENCES if f"`{name}`" not in proposed] == []
    named = re.findall(r"^\| .* \| `(\w+)`", shipped, re.M)
    assert named == CHECKS and len(named) == 13 + 4 + 2


@pytest.mark.parametrize("how", ["immediate", "regular"])
@pytest.mark.parametrize("check", CHECKS)
def test_as_shipped_on_level_zero(compile_pti, run, environment, check, how):  # noqa: F811
    if check == "external_correlation_in_callbacks" and how == "regular":
        return  # the activity belongs to the call that runs the list
    assert run([compile_pti(LEVEL_ZERO, "-lze_loader"), check, how], env=environment).out == ""


@pytest.mark.parametrize("check", CHECKS)
def test_as_shipped_on_opencl(compile_pti, run, check):
    assert run([compile_pti(OPENCL, "-lOpenCL"), check]).out == ""


def test_kernels_of_opencl_come_and_go_by_their_references(compile_pti, run):
    assert run([compile_pti("opencl_kernels.c", "-lOpenCL")]).out == ""


@pytest.fixture
def log_shipped(compile_pti, run, level_zero, environment):  # noqa: F811
    """Return a function: log_shipped(letters, *words) runs lz_program and returns the notifications
    of tests/pti/log_shipped.c as (first two words of the line, fields of the line)."""
    def log_it(letters, *words):
        tool = compile_pti("log_shipped.c", "-shared", "-fPIC")
        result = run([level_zero / "lz_program", *words],
                     env=environment | {"LD_PRELOAD": tool, "PTI_SHIPPED": letters})
        return [(line.split()[:2], fields(line) | {"name": line.split("name=", 1)[1]})
                for line in result.err.splitlines()]
    return log_it


def test_several_kernels_in_one_command_are_one_operation_with_all_names(log_shipped, log,
                                                                         level_zero):  # noqa: F811
    lines = [(word, found) for word, found in log_shipped("ad", "several", "3")
             if found["kind"] == "1"]
    ids = {}
    for word, found in lines:
        assert found["name"] == "scale, add" and found["kernel"] == "0"
        ids.setdefault(" ".join(word), []).append(found["id"])
    assert len(ids["appended ENTER"]) == len(set(ids["appended ENTER"])) == 3
    assert ids["appended ENTER"] == ids["appended EXIT"]
    assert sorted(ids["completed EXIT"]) == sorted(ids["appended EXIT"])
    lines = log("1:58", level_zero / "lz_program", "several", "1")
    assert [line.split("kernel=")[1].split(" context")[0] for line in lines] == ["scale, add"] * 2


def test_an_immediate_list_is_its_own_queue(log_shipped):
    for how, place in (("immediate", {("1/2", "1")}), ("regular", {("1/1", "0"), ("0/1", "1")})):
        found = log_shipped("ad", how, "1")
        assert {(f["list"], f["queue"]) for _, f in found} == place
        assert {f["device"] for _, f in found} == {"1"}


@pytest.mark.parametrize("how", ["immediate", "regular"])
def test_a_completion_has_its_operations_name_and_the_function_that_found_it(log_shipped, how):
    appended, completed, functions = {}, {}, set()
    ids = dict(line.split() for line in IDS.read_text().splitlines())
    for word, found in log_shipped("ad", how, "2"):
        if word == ["appended", "EXIT"]:
            appended[found["id"]] = found["name"]
        elif word == ["completed", "EXIT"]:
            completed[found["id"]] = found["name"]
            functions.add(found["function"])
    assert completed == appended
    assert {"scale", "zeCommandListAppendMemoryCopy", "zeCommandListAppendMemoryFill"} <= set(
        appended.values())
    assert functions == {
        ids["zeEventHostSynchronize" if how == "immediate" else "zeCommandQueueSynchronize"]}


# Opened by a running program ------------------------------------------------------------------

@pytest.mark.parametrize("under", ["", "gputap run"])
@pytest.mark.parametrize("how", ["local", "global"])
@pytest.mark.parametrize("gpu", ["level_zero", "opencl"])
def test_a_tool_that_a_running_program_opens_is_notified_of_what_follows(
        compile_pti, run, gputap, environment, gpu, how, under):  # noqa: F811
    """The tool is not notified of anything that happened before it was opened."""
    tool = compile_pti("log_shipped.c", "-shared", "-fPIC")
    library = "-lze_loader" if gpu == "level_zero" else "-lOpenCL"
    program = run_late(compile_pti, f"late.c gpu_{gpu}.c", library)
    command = [gputap, "run", "-q", "-f", "-o", "r.gputap"] if under else []
    lines = run([*command, program, "run", f"{how}:{tool}", "run"],
                env=environment | {"PTI_SHIPPED": "adi"}).err.splitlines()
    words = [" ".join(line.split()[:2]) for line in lines]
    assert sorted(words) == ["appended ENTER"] * 4 + ["appended EXIT"] * 4 + ["completed EXIT"] * 4


def run_late(compile_pti, names, library):
    """Build the program without linking gputap's libraries."""
    linked = compile_pti(names, library, "-ldl")
    out = linked.with_name(linked.name + "_bare")
    if not out.exists():
        run_command(["cc", "-O1", f"-I{REPO}/include", f"-I{REPO}/include/compat",
                     *(REPO / "tests/pti" / name for name in names.split()), "-o", out, library,
                     "-ldl", "-lpthread"])
    return out


EARLY_LIST = r"""
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
	ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_command_list_handle_t list;
	ze_context_handle_t context;
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	void *from, *to;
	uint32_t one = 1;

	zeInit(0);
	zeDriverGet(&one, &driver);
	zeDeviceGet(driver, &one, &device);
	zeContextCreate(driver, &desc, &context);
	zeCommandListCreateImmediate(context, device, &queue, &list);
	zeMemAllocHost(context, &host, 4096, 64, &from);
	zeMemAllocHost(context, &host, 4096, 64, &to);
	if (argc > 1 && !dlopen(argv[1], RTLD_NOW))
		puts(dlerror());
	for (int i = 0; i < 3; i++)
		zeCommandListAppendMemoryCopy(list, to, from, 4096, NULL, 0, NULL);
	return 0;
}
"""


def test_a_tool_is_told_at_once_of_the_device_work_that_it_came_too_late_for(
        compile_pti, run, environment, work):  # noqa: F811
    tool = compile_pti("log_shipped.c", "-shared", "-fPIC")
    (work / "early.c").write_text(EARLY_LIST)
    run(["cc", "early.c", "-o", "early", "-lze_loader", "-ldl"])
    err = run([work / "early", tool], env=environment | {"PTI_SHIPPED": "adi"}).err
    lines = re.sub("list 0x[0-9a-f]+", "list 0x..", err).splitlines()
    text = ("libpti_callback was loaded into a running program: it is not notified of GPU"
            " activities of command list 0x..: created before gputap attached, and the driver"
            " reports neither its context nor its device; preload it (LD_PRELOAD), or start the"
            " program under 'gputap run'")
    assert [line for line in lines if "appended" not in line] == [
        f"internal 2 tool failed: {text} (0)", f"gputap: {text}"]
    assert lines[0].startswith("appended ENTER") and lines[1].startswith("internal")
    assert len(lines) == 6 + 2


# Critical events -----------------------------------------------------------------------------

# event: words of the program, fault of the driver, result, name
CRITICAL = {
    "buffers_lost": ((), "", 1000, "loss"),
    "clock_broken": (("events", "3"), "clock", 6, "clock"),
    "unknown_entry_point": (("names", "3"), "names", 7, "unknown entry point"),
    "driver_error": (("events", "1"), "lost", 50, "device fault"),
    "plug_in_failure": (("30", ), "", 200, "tool failed"),
    "tool_failure": (("events", "1"), "", 200, "tool failed"),
}
LOGS = "log_tool.c log_shipped.c"


@pytest.fixture
def critical_program(compile_pti, vendor, worker):  # noqa: F811
    """Return a function: critical_program(name) returns (command that provokes the event,
    environment, options of gputap run)."""
    library = compile_pti(LOGS, "-shared", "-fPIC")

    def program_for(name):
        if name == "tool_failure":  # the tool fails before the program's own constructors run
            failing = compile_pti("failing_tool.c", "-shared", "-fPIC")
            return [compile_pti("../level_zero/lz_program.c", "-lze_loader", "-ldl",
                                "-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}")
                    ], {"GPUTAP_TOOLS": failing}, ()
        if name == "plug_in_failure":
            plugin = vendor("wild kind")
            return ["env", f"LD_PRELOAD={library}", worker(plugin)], {
                "KINETO_PLUGIN_PATH": plugin
            }, ()
        if name == "buffers_lost":
            return [compile_pti(f"{LOGS} fill.c gpu_level_zero.c", "-lze_loader")
                    ], {}, ("--buffer", "1M", "--when-full", "0")
        return [compile_pti(f"{LOGS} ../level_zero/lz_program.c", "-lze_loader", "-ldl")], {}, ()
    return program_for


@pytest.fixture
def provoke(critical_program, tap, environment):  # noqa: F811
    """Return a function: provoke(name) records r.gputap and returns (lines of the tools, events in
    the capture)."""
    def provoke_it(name):
        words, fault, _, _ = CRITICAL[name]
        program, env, options = critical_program(name)
        env = environment | env | {
            "PTI_WORDS": "critical,events", "PTI_SHIPPED": "i", "LZ_FAULT": fault
        }
        result = tap("run", "-q", "-o", "r.gputap", *options, "--", *program, *words, env=env,
                     status=None)
        info = json.loads(tap("info", "--json", "r.gputap").out)
        return result.err.splitlines(), [e["event"] for e in info["events"]]
    return provoke_it


@pytest.mark.parametrize("name", CRITICAL)
def test_a_critical_event_is_told_to_pti_to_the_c_api_and_to_the_capture(provoke, tap, name):
    """PTI reports the event in both forms. The shipped form is PTI_INTERNAL_EVENT_TYPE_CRITICAL."""
    result, called = CRITICAL[name][2:]
    lines, recorded = provoke(name)
    proposed = [line for line in lines if line.startswith(f"a critical {result} ")]
    assert proposed and all(called in line for line in proposed), lines
    shipped = [line for line in lines if line.startswith("internal 2 ") and called in line]
    assert len(shipped) == len(proposed), lines
    assert [line for line in lines if line.startswith(f"event {called} ")]
    assert called in recorded
    assert called in tap("info", "r.gputap").out


def test_no_critical_event_comes_without_a_reason(provoke, monkeypatch):
    monkeypatch.setitem(CRITICAL, "nothing", (("events", "3"), "", 0, ""))
    assert provoke("nothing") == ([], [])


# Ids -------------------------------------------------------------------------------------

def test_an_id_never_changes():
    """tests/golden/pti_ids.txt only grows: new functions are appended."""
    now = []
    for path in sorted((REPO / "include/compat/pti").glob("pti_*_api_ids.h")):
        now += re.findall(r"^\t(\w+)_id = (\d+),$", path.read_text(), re.M)
    frozen = [tuple(line.split()) for line in IDS.read_text().splitlines()]
    assert [pair for pair in frozen if pair not in now] == []
    assert sorted(now) == sorted(frozen), "add the new ones to tests/golden/pti_ids.txt"
    for group in ("driver_levelzero", "driver_opencl", "runtime_sycl"):
        text = (REPO / f"include/compat/pti/pti_{group}_api_ids.h").read_text()
        ids = re.findall(r"_id = (\d+),", text)
        assert len(ids) == len(set(ids)), group
