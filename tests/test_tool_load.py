# SPDX-License-Identifier: MIT
"""Test tools without `gputap run`: how gputap finds, starts and finishes tools, and attaches to
runtimes for them."""

import re
import subprocess

import pytest


@pytest.fixture(scope="session")
def built(tmp_path_factory, repo, build):
    """Return a function: built(name, *options) compiles tests/tool/<source> once."""
    folder, there = tmp_path_factory.mktemp("tools"), {}
    gputap = ["-L", build, "-l:libgputap.so.0", f"-Wl,-rpath,{build}"]

    def compiled(out, source, *options, link=()):
        if out not in there:
            parts = [part for name in link for part in (gputap if name == "gputap" else [name])]
            subprocess.run([
                "cc", "-O1", "-w", "-I", repo / "include", *options, repo / "tests/tool" / source,
                "-o", folder / out, *parts, "-ldl", "-lpthread"
            ],
                           check=True)
            there[out] = folder / out
        return there[out]
    return compiled


@pytest.fixture(scope="session")
def tool(built):
    """Build a tool's library, linked with libgputap."""
    return built("listener.so", "listener.c", "-shared", "-fPIC", link=["gputap"])


@pytest.fixture(scope="session")
def added(built):
    """Build a library that becomes a tool only when listener_add() is called."""
    return built("added.so", "listener.c", "-shared", "-fPIC", "-DBY_CALL", link=["gputap"])


@pytest.fixture(scope="session")
def bare(built):
    return built("host", "host.c")


@pytest.fixture(scope="session")
def with_hip(built, hip_headers):
    return built("host_hip", "host.c", "-DHIP", "-Wl,-z,lazy", link=["-lamdhip64"])


@pytest.fixture(scope="session")
def with_opencl(built):
    return built("host_opencl", "host.c", "-DOPENCL", link=["-lOpenCL"])


@pytest.fixture(scope="session")
def device(softgpu):
    return {**softgpu, "SOFT_AMDGPU_EXECUTE": "0"}


def log(out, name="listener"):
    """Return the output lines of the tool."""
    return [
        line.removeprefix(name + ": ") for line in out.splitlines() if line.startswith(name + ": ")
    ]


def finished(out, name="listener"):
    """Return the tool's final counts per domain. Fail unless the tool was finished exactly once."""
    last = [line for line in log(out, name) if line.startswith("finish")]
    assert len(last) == 1, out
    return {
        domain: count if count in ("some", "no") else int(count)
        for count, domain in re.findall(r"(\w+) (opencl|hip|hip_compiler|hsa|roctx)\b", last[0])
    }


# Finding ------------------------------------------------------------------------

def test_a_preloaded_tool_is_started_after_its_constructors_and_before_main(run, tool, bare):
    lines = run([bare, "main"], env={"LD_PRELOAD": tool}).out.splitlines()
    assert lines[:3] == ["listener: describe, version 0.1", "listener: start, constructed", "main"]
    assert lines[3].startswith("listener: finish")


def test_a_tool_in_GPUTAP_TOOLS_needs_only_libgputap_in_the_program(run, build, tool, bare):
    out = run([bare, "main"], env={"LD_PRELOAD": build / "libgputap.so.0",
                                   "GPUTAP_TOOLS": tool}).out
    assert log(out)[:2] == ["describe, version 0.1", "start, constructed"]


def test_a_library_that_is_initialised_before_libgputap_may_use_it(run, build, built, bare):
    early = built("early.so", "early.c", "-shared", "-fPIC", link=["-lOpenCL"])
    out = run([bare, "main"], env={"LD_PRELOAD": f"{build}/libgputap.so.0 {early}"}).out
    assert out.splitlines()[:2] == ["early: 0, 1 calls", "main"]


def test_the_last_entry_of_GPUTAP_TOOLS_counts_and_empty_ones_do_not(run, build, built, tool, bare):
    second = built("second.so",
                   "listener.c",
                   "-shared",
                   "-fPIC",
                   '-DNAME="second"',
                   link=["gputap"])
    out = run([bare],
              env={"LD_PRELOAD": build / "libgputap.so.0",
                   "GPUTAP_TOOLS": f":{tool}::{second}"}).out
    assert "start, constructed" in log(out) and "start, constructed" in log(out, "second")


@pytest.mark.parametrize("priorities,order", [("", ["listener", "second"]),
                                              ("listener=5 second=-3", ["second", "listener"])])
def test_all_tools_are_asked_first_then_started_by_priority_and_finished_the_other_way_round(
        run, build, built, tool, bare, priorities, order):
    second = built("second.so",
                   "listener.c",
                   "-shared",
                   "-fPIC",
                   '-DNAME="second"',
                   link=["gputap"])
    out = run(
        [bare],
        env={
            "LD_PRELOAD": build / "libgputap.so.0", "GPUTAP_TOOLS": f"{tool}:{second}",
            "LISTENER": priorities
        }).out
    lines = [tuple(line.split(",")[0].split(": ")) for line in out.splitlines()]
    assert lines == [("listener", "describe"), ("second", "describe"),
                     *((n, "start") for n in order), *((n, "finish") for n in reversed(order))]


def test_a_tool_that_is_there_twice_is_started_once(run, tool, bare):
    out = run([bare], env={"LD_PRELOAD": tool, "GPUTAP_TOOLS": f"{tool}:{tool}"}).out
    assert log(out).count("start, constructed") == 1


def test_the_program_itself_may_be_a_tool(run, repo, built):
    program = built("both", "listener.c", repo / "tests/tool/host.c", "-rdynamic", link=["gputap"])
    out = run([program]).out
    assert log(out)[1].startswith("start") and finished(out)


def test_a_tool_that_says_no_takes_no_part(run, tool, bare):
    assert log(run([bare], env={"LD_PRELOAD": tool,
                                 "LISTENER": "silent"}).out) == ["describe, version 0.1"]


def test_without_a_tool_nothing_is_changed(run, build, bare):
    result = run([bare, "environment"], env={"LD_PRELOAD": build / "libgputap.so.0"})
    assert (
        result.out == "environment\nHSA_TOOLS_LIB=(null) OPENCL_LAYERS=(null) LD_AUDIT=(null)\n"
        and result.err == ""
    )


# Faulty tools -----------------------------------------------------------------------

@pytest.mark.parametrize("quiet", [False, True])
def test_a_missing_library_is_named_and_the_others_and_the_program_run(
        run, build, tool, bare, quiet):
    env = {
        "LD_PRELOAD": build / "libgputap.so.0", "GPUTAP_TOOLS": f"/nowhere/libmissing.so:{tool}",
        "GPUTAP_QUIET": "1" if quiet else None
    }
    result = run([bare, "main"], env=env)
    assert "main" in result.out and finished(result.out)
    assert ("GPUTAP_TOOLS: /nowhere/libmissing.so: cannot open" in result.err) != quiet
    assert len(result.err.splitlines()) == (not quiet)


def test_a_library_that_is_no_tool_is_named(run, build, added, bare):
    result = run([bare, "main"],
                 env={"LD_PRELOAD": build / "libgputap.so.0", "GPUTAP_TOOLS": added})
    assert (
        result.err
        == f"gputap: GPUTAP_TOOLS: {added} is not a tool: it has no function "
        "gputap_tool_describe()\n"
    )
    assert result.out == "main\n"


def test_a_tool_of_another_version_is_refused_with_a_sentence(run, tool, bare):
    result = run([bare, "main"], env={"LD_PRELOAD": tool, "LISTENER": "abi"})
    assert (
        "listener is not used: it was built for version 2 of the tool API, this gputap has"
        " version 1" in result.err
    )
    assert log(result.out) == ["describe, version 0.1"] and "main" in result.out


def test_a_tool_whose_start_fails_is_notified_of_nothing_any_more(run, tool, with_hip, device):
    result = run([with_hip, "hip"],
                 env={**device, "LD_PRELOAD": tool, "LISTENER": "fail calls tables"})
    assert result.err == "gputap: listener is not used: its start() returned -7\n"
    assert log(result.out) == ["describe, version 0.1", "start, constructed"]


def test_a_tool_whose_start_or_finish_throws_is_gone_with_what_it_made_and_may_come_again(
        run, repo, build, work):
    subprocess.run([
        "c++", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{repo}/include",
        repo / "tests/tool/throws_start.cc", "-o", "throws", f"-L{build}", "-l:libgputap.so.0",
        f"-Wl,-rpath,{build}"
    ],
                   check=True)
    result = run([work / "throws"])
    assert result.out.splitlines() == [
        "start 1: 64 contexts", "caught start", "start 2: 64 contexts", "caught start",
        "start 3: 64 contexts", "add 0", "finish 1", "caught finish", "start 4: 64 contexts",
        "add 0", "finish 2", "remove 0", "start 5: 64 contexts", "add 0", "finish 3", "remove 0",
        "left 3 times"
    ]
    assert (
        "gputap: thrower is not used: an exception or jump left its start()"
        in result.err.splitlines()
    )


# Runtimes ------------------------------------------------------------------------

def test_a_linked_hip_program_is_notified_of(run, tool, with_hip, device):
    assert finished(run([with_hip, "hip", "hip"], env={**device, "LD_PRELOAD": tool}).out) == {
        "opencl": 0, "hip": 6, "hip_compiler": 0, "hsa": "some", "roctx": 0}


@pytest.mark.parametrize("order", [["gputap", "-lamdhip64"], ["-lamdhip64", "gputap"]])
@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_a_program_linked_with_libgputap_in_any_order_is_notified_of(run, built, tool, hip_headers,
                                                                 device, order, binding):
    program = built(f"linked_{order[0]}_{binding}",
                    "host.c",
                    "-DHIP",
                    f"-Wl,-z,{binding},--no-as-needed",
                    link=order)
    assert finished(run([program, "hip"], env={**device, "GPUTAP_TOOLS": tool}).out)["hip"] == 3


WAYS = {
    "linked": ["linked"], "bound_now": ["bound_now"], "dlopen_global": [
        "plugin_host", "plugin.so", "global"
    ], "dlopen_local": ["plugin_host", "plugin.so",
                        "local"], "dlopen_deepbind": ["plugin_host", "plugin.so", "deepbind"],
    "dlsym": ["plugin_host"], "pointer_table": ["table"]
}


@pytest.fixture(scope="session")
def ways(tmp_path_factory, repo, hip_headers):
    """Build tests/hip/way.c for each way of calling HIP."""
    folder, source = tmp_path_factory.mktemp("ways"), repo / "tests/hip/way.c"
    for out, options in {
            "linked": ["-lamdhip64", "-Wl,-z,lazy"], "bound_now": ["-lamdhip64", "-Wl,-z,now"],
            "table": ["-DVIA_TABLE", "-lamdhip64"], "plugin_host": ["-DVIA_DLSYM"],
            "plugin.so": ["-DPLUGIN", "-shared", "-fPIC", "-lamdhip64"]
    }.items():
        subprocess.run(["cc", "-O1", "-w", source, "-o", folder / out, *options, "-ldl"],
                       check=True)
    return folder


@pytest.mark.parametrize("listener", ["", "tables"])
@pytest.mark.parametrize("way", WAYS)
def test_every_hip_call_is_reported_once_whatever_way_it_takes(run, ways, tool, device, way,
                                                               listener):
    command = [ways / part if (ways / part).exists() else part for part in WAYS[way]]
    out = run(command, env={**device, "LD_PRELOAD": tool, "LISTENER": listener}).out
    made = [line for line in out.splitlines() if line.startswith("hip")]
    assert len(made) == 21
    assert finished(out)["hip"] == 21


def test_a_tool_under_gputap_run_and_the_capture_see_the_same_calls(run, tap, build, with_hip, tool,
                                                                    device, work):
    result = tap("run",
                 "-q",
                 "-o",
                 "a.gputap",
                 "--",
                 "env",
                 f"GPUTAP_TOOLS={tool}",
                 "LISTENER=tables",
                 with_hip,
                 "hip",
                 env=device)
    assert finished(result.out)["hip"] == 3
    assert "hipMalloc 4096" in log(result.out)
    assert "3 calls" in tap("report", "--all", "a.gputap").out


@pytest.mark.parametrize("host", ["with_opencl", "bare"])
def test_an_opencl_program_is_notified_of(run, request, tool, host):
    program = request.getfixturevalue(host)
    assert finished(run([program, "opencl", "opencl"], env={"LD_PRELOAD": tool}).out)["opencl"] == 2


def test_a_library_that_comes_and_goes_at_the_same_place_is_notified_of_each_time(
        run, built, repo, tool, bare):
    library = built("libhip.so", repo / "tests/hip/standin.c", "-shared", "-fPIC", "-DCOPY=0")
    out = run([bare, *["visit", library] * 5], env={"LD_PRELOAD": tool, "LISTENER": "tables"}).out
    assert finished(out)["hip"] == 5


def test_a_library_of_the_functions_that_compile_has_no_table_and_leaves_hip_its_number(
        run, built, repo, tool):
    """libhiprtc was split off from the HIP library in ROCm 6 and may be mapped before the HIP
    library."""
    source = repo / "tests/hip/compiles.c"
    libraries = [built("libcompiles.so", source, "-shared", "-fPIC", "-DLIBRARY"),
                 built("libhip.so", repo / "tests/hip/standin.c", "-shared", "-fPIC", "-DCOPY=0")]
    out = run([built("compiles", source, link=libraries)],
              env={"LD_PRELOAD": tool, "LISTENER": "tables"}).out
    assert [line for line in log(out) if line.startswith("table")] == [
        "table 2 of instance 0: 4056 bytes", "table 3 of instance 0: 80 bytes"
    ]
    assert finished(out)["hip"] == 5


@pytest.mark.parametrize("forks", ["-", "fork"])
def test_no_call_is_missed_while_threads_open_and_close_the_same_libraries(
        run, built, repo, tool, forks):
    """Calls of a library that another thread has just opened are reported from the first call
    on."""
    libraries = [
        built(f"libhip{i}.so", repo / "tests/hip/standin.c", "-shared", "-fPIC", f"-DCOPY={i}")
        for i in range(4)
    ]
    out = run([built("churn", "churn.c"), 8, 500 if forks == "-" else 200, forks, *libraries],
              env={"LD_PRELOAD": tool}).out
    assert finished(out)["hip"] == int(re.search(r"^made (\d+)", out, re.M)[1])


# gputap run --tool -----------------------------------------------------------------


def test_run_starts_tools_with_their_arguments_beside_those_of_GPUTAP_TOOLS(
        tap, built, tool, with_hip, device, work):
    second = built("second.so",
                   "listener.c",
                   "-shared",
                   "-fPIC",
                   '-DNAME="second"',
                   link=["gputap"])
    third = built("third.so", "listener.c", "-shared", "-fPIC", '-DNAME="third"', link=["gputap"])
    (work / "here.so").symlink_to(second)
    out = tap("run",
              "-q",
              "-o",
              "a.gputap",
              "--tool",
              f"{tool}:a=1,b:50%:",
              "--tool",
              "./here.so",
              "--",
              "env",
              "-C",
              "/",
              with_hip,
              "hip",
              env={**device, "GPUTAP_TOOLS": f"{third}=x%3ay%25"}).out
    order = [line.split(":")[0] for line in out.splitlines() if "start, " in line]
    assert order[-3:] == ["third", "listener", "second"]
    assert {"arguments: a=1,b:50%:", "arguments at start: a=1,b:50%:"} <= set(log(out))
    assert "arguments: x:y%" in log(out, "third") and not any("arguments" in line
                                                               for line in log(out, "second"))
    for name in order:
        assert any("3 hip" in line for line in log(out, name))


@pytest.mark.parametrize(
    "library,message",
    [("/nowhere/missing.so",
      "--tool /nowhere/missing.so: No such file or directory; the program runs without it"),
     ("missing.so", "GPUTAP_TOOLS: missing.so: cannot open"),
     ("added", "is not a tool: it has no function gputap_tool_describe()")])
def test_a_tool_of_run_that_is_missing_or_none_is_named_and_the_program_runs(
        tap, added, bare, work, library, message):
    result = tap("run", "-q", "-o", "a.gputap", "--tool",
                 added if library == "added" else f"{library}:x", "--", bare, "main")
    assert result.out == "main\n" and message in result.err


@pytest.mark.parametrize("value", ["", ":x"])
def test_run_wants_a_library_for_a_tool(tap, bare, work, value):
    result = tap("run", "--tool", value, "--", bare, "main", status=2)
    assert "a tool's library, optionally followed by ':' and its arguments" in result.err
    assert result.out == ""


# Raw tables -----------------------------------------------------------------------


def test_subscribers_get_a_table_of_hip_that_has_none_and_stand_in_front(
        run, tool, with_hip, device):
    out = run([with_hip, "hip"], env={**device, "LD_PRELOAD": tool, "LISTENER": "tables calls"}).out
    lines = log(out)
    tables = [line for line in lines if line.startswith("table")]
    assert tables[:2] == ["table 2 of instance 0: 4056 bytes", "table 3 of instance 0: 80 bytes"]
    assert "0 empty, missing ones say 801" in lines
    # call order: program, tool's function, tap; the tool's function runs before the tool is
    # notified
    assert lines[lines.index("hipMalloc 4096") + 1] == "call 2.215"
    assert finished(out)["hip"] == 3


def test_two_subscribers_are_chained_the_last_one_outermost(run, build, built, tool, with_hip,
                                                            device):
    second = built("second.so",
                   "listener.c",
                   "-shared",
                   "-fPIC",
                   '-DNAME="second"',
                   link=["gputap"])
    out = run(
        [with_hip, "hip"],
        env={
            **device, "LD_PRELOAD": build / "libgputap.so.0", "GPUTAP_TOOLS": f"{tool}:{second}",
            "LISTENER": "tables"
        }).out
    assert [line for line in out.splitlines()
            if "hipMalloc" in line] == ["second: hipMalloc 4096", "listener: hipMalloc 4096"]


def test_a_library_that_is_opened_later_has_a_table_too(run, tool, bare, hip_headers, device):
    out = run([bare, "hip"], env={**device, "LD_PRELOAD": tool, "LISTENER": "tables"}).out
    assert "table 2 of instance 0: 4056 bytes" in log(out) and finished(out)["hip"] == 1


# Late ----------------------------------------------------------------------------

@pytest.mark.parametrize("before", [[], ["hip"]])
def test_a_tool_that_a_running_program_opens_is_notified_of_what_follows(
        run, tool, with_hip, device, before):
    out = run([with_hip, *before, "open", tool, "hip"], env=device).out
    assert finished(out)["hip"] == 3


@pytest.mark.parametrize("before", [[], ["opencl"]])
def test_a_late_tool_is_notified_of_opencl_though_the_loader_has_begun(
        run, tool, with_opencl, before):
    assert finished(run([with_opencl, *before, "open", tool, "opencl"]).out)["opencl"] == 1


@pytest.mark.parametrize("open_it", ["open", "open_global"])
@pytest.mark.parametrize("before", [[], ["hip"]])
def test_a_late_tool_is_notified_of_hsa_though_it_was_initialised_before(
        run, tool, with_hip, device, before, open_it):
    done = run([with_hip, *before, open_it, tool, "hip"], env=device)
    assert done.err == "" and "some hsa" in done.out


def test_a_tool_by_a_call_is_notified_of_an_hsa_that_was_initialised_before(
        run, added, with_hip, device):
    done = run([with_hip, "hip", "open", added, "add", "remove", "add", "hip"], env=device)
    assert done.err == "" and "some hsa" in done.out


def test_a_late_tool_is_told_at_once_if_hsas_tables_are_not_found(run, tool, built, hip_headers,
                                                                  device):
    """An HSA whose tables look different is not touched."""
    other = built("libhsa-runtime64.so.1", "other_hsa.c", "-shared", "-fPIC",
                  "-Wl,-soname,libhsa-runtime64.so.1")
    program = built("host_hsa", "host.c", "-DHSA", link=[other, f"-Wl,-rpath,{other.parent}"])
    done = run([program, "hsa", "open", tool, "hsa"])
    assert done.err.splitlines() == [
        "gputap: listener was loaded into a running program: it is not notified of HSA calls, and"
        " kernels and copies of HSA and HIP; preload it (LD_PRELOAD), or start the program under"
        " 'gputap run'"]


@pytest.mark.parametrize("options", [[], ["--mode", "hsa"], ["-d", "opencl"]])
@pytest.mark.parametrize("open_it", ["open", "open_global"])
def test_tools_that_a_program_under_gputap_run_opens_are_notified_of_what_follows(
        run, gputap, built, tool, with_hip, device, work, open_it, options):
    second = built("second.so",
                   "listener.c",
                   "-shared",
                   "-fPIC",
                   '-DNAME="second"',
                   link=["gputap"])
    done = run([gputap, "run", "-q", "-o", work / "a.gputap", *options, with_hip, "hip", open_it,
                tool, "hip", open_it, second, "hip"],
               env=device)
    assert finished(done.out)["hip"] == 6 and finished(done.out, "second")["hip"] == 3
    assert finished(done.out)["hsa"] == finished(done.out, "second")["hsa"] == "some"
    assert "was loaded into" not in done.err


def test_a_library_that_announces_itself_is_found_where_libgputap_is_mapped_already(
        run, build, built, with_hip, device):
    """Without a tool, nothing tells libgputap that the program opens a library."""
    announced = built("announced.so", "listener.c", "-shared", "-fPIC", "-DANNOUNCES",
                      link=["gputap"])
    out = run([with_hip, "hip", "open", announced, "hip"],
              env={**device, "LD_PRELOAD": build / "libgputap.so.0"}).out
    assert finished(out)["hip"] == 3 and finished(out)["hsa"] == "some"


def test_an_announcement_during_the_start_up_of_a_program_has_no_effect(run, built, bare):
    announced = built("announced.so", "listener.c", "-shared", "-fPIC", "-DANNOUNCES",
                      link=["gputap"])
    lines = run([bare, "main"], env={"LD_PRELOAD": announced}).out.splitlines()
    assert lines[:3] == ["listener: describe, version 0.1", "listener: start, constructed", "main"]


def test_a_tool_by_a_call_is_notified_until_it_is_removed(run, added, with_hip, device):
    out = run(
        [with_hip, "hip", "open", added, "remove", "add", "add", "hip", "remove", "hip", "remove"],
        env=device).out
    assert re.findall(r"^(?:add|remove): (.*)", out, re.M) == ["-2", "0", "-114", "0", "-2"]
    assert finished(out)["hip"] == 3


def test_a_removed_tool_can_be_unloaded_and_one_that_is_not_stays_mapped(run, added, bare):
    out = run([bare, "open", added, "add", "close", "is_open", added]).out
    assert "is open: 1" in out and finished(out) is not None
    out = run([bare, "open", added, "add", "remove_it", "close", "is_open", added]).out
    assert "is open: 0" in out


# The end --------------------------------------------------------------------------

def test_finish_may_call_the_runtime_and_anything_of_gputap(run, tool, with_hip, device):
    out = run([with_hip, "hip"], env={**device, "LD_PRELOAD": tool, "LISTENER": "again"}).out
    assert "1 devices, status 0" in log(out) and finished(out)["hip"] == 4


def test_calls_of_handlers_of_exit_are_reported_if_they_were_registered_after_the_first_call(
        run, tool, with_hip, device):
    assert finished(run([with_hip, "hip", "hip_at_exit"],
                        env={**device, "LD_PRELOAD": tool}).out)["hip"] == 6


def test_quick_exit_finishes_tools_and__exit_does_not(run, tool, with_hip, device):
    assert finished(run([with_hip, "hip", "quick_exit"],
                        env={**device, "LD_PRELOAD": tool}).out)["hip"] == 3
    assert not any(
        "finish" in line
        for line in log(run([with_hip, "hip", "_exit"], env={**device, "LD_PRELOAD": tool}).out))


def test_threads_that_outlive_main_are_notified_of(run, tool, with_hip):
    """Runs without a device, because HIP 5.2 with a device never ends after the main thread has
    ended."""
    assert finished(
        run([with_hip, "outlive"], env={"LD_PRELOAD": tool,
                                        "HIP_VISIBLE_DEVICES": "-1"}).out)["hip"] == 1


def test_the_child_of_a_fork_is_notified_of_and_finishes_for_itself(run, tool, with_hip):
    """Runs without a device, because HIP does not work in the child of a process that used a
    device."""
    out = run([with_hip, "fork", "hip"], env={"LD_PRELOAD": tool, "HIP_VISIBLE_DEVICES": "-1"}).out
    assert "child: 0" in out
    assert len([line for line in log(out) if line.startswith("finish")]) == 2
