# SPDX-License-Identifier: MIT
"""Test how vendors' plug-ins are found, loaded and read. Each kind of error is counted and reported
with its name, and the other plug-ins continue."""
import os
import re
import subprocess

import pytest

HERE = "tests/plugin"


@pytest.fixture(scope="session")
def vendor(repo, tmp_path_factory):
    """Return a function: vendor("overruns") builds tests/plugin/vendor.c with that fault as a
    plug-in in a separate folder."""
    made = {}

    def make(fault="none", *flags, name="vendor"):
        key = (fault, flags, name)
        if key not in made:
            folder = tmp_path_factory.mktemp("vendor")
            made[key] = folder / f"{name}.so"
            subprocess.run([
                "cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-w", f"-I{repo}/include",
                f'-DFAULT="{fault}"', f'-DNAME="{name}"', *flags, repo / HERE / "vendor.c", "-o",
                made[key], "-lpthread"
            ],
                           check=True)
        return made[key]
    return make


@pytest.fixture(scope="session")
def host_program(repo, build, tmp_path_factory):
    program = tmp_path_factory.mktemp("host") / "host"
    library = build / "src/plugin/libgputap-plugin.so.0"
    subprocess.run([
        "cc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{repo}/include",
        repo / HERE / "host.c", "-o", program, library, f"-Wl,-rpath,{library.parent}", "-ldl"
    ],
                   check=True)
    return program


@pytest.fixture
def host(run, host_program, work):
    """Return a function: host("all", plugins=[...]) runs the program with those plug-ins and with
    the test's HOME."""
    def call(*words, plugins=(), env=None, **keywords):
        path = ":".join(map(str, plugins)) or None
        return run([host_program, *words],
                   env={"KINETO_PLUGIN_PATH": path, "HOME": work} | (env or {}),
                   **keywords)
    return call


def counts(result):
    return {name: int(n) for name, n in re.findall(r"^count (.*): (\d+)$", result.out, re.M)}


# Guarded ----------------------------------------------------------------------------

@pytest.mark.parametrize("fault, why", [
    ("crash at registration", "its registration ends the process: Aborted"),
    ("registers never", "its registration does not return"),
])
def test_a_guarded_host_outlives_a_registration_that_crashes_or_hangs(host, vendor, fault, why):
    bad = vendor(fault, name="bad")
    result = host("guarded", "all", plugins=[bad, vendor()])
    assert f"gputap: plug-in {bad} is not used: {why}\n" == result.err
    assert "loaded 1, again 1" in result.out and counts(result)["records"] > 0


def test_a_guarded_host_leaves_a_plug_in_alone_whose_stop_hangs(host, vendor):
    result = host("guarded", "all", "sessions=2", plugins=[vendor("hangs", name="bad"), vendor()])
    lines = result.out.splitlines()
    assert "error 0 its stop does not return: it is not called again, and its records are lost" \
        in lines
    assert [line for line in lines if line.startswith("start")] == ["start 2", "start 1"]
    assert counts(result)["records"] > 0


def test_a_plug_in_that_kills_a_guarded_host_is_named(host, vendor):
    result = host("guarded", plugins=[vendor("crash at start", name="bad")], status=-11)
    assert result.err == "gputap: plug-in bad ends the process in its start\n"


@pytest.mark.parametrize("fault", ["none", "forks"])
def test_a_guarded_host_reads_the_same(host, vendor, fault):
    outs = []
    for words in ([], ["guarded"]):
        out = host("all", "sessions=2", *words, plugins=[vendor(fault)]).out
        outs.append([line for line in out.splitlines() if line.startswith("count ")])
    assert outs[0] == outs[1] and len(outs[0]) > 2


# The headers ----------------------------------------------------------------------

@pytest.mark.parametrize("compiler", [["cc", "-xc", "-std=c99"], ["c++", "-xc++", "-std=c++11"]])
def test_the_headers_are_c_and_cpp(run, repo, compiler):
    for header in ("PrivateUse1TracingApi.h", "plugin.h"):
        run([
            *compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic",
            f"-I{repo}/include", "-"
        ],
            stdin=f"#include <gputap/{header}>\n")


def test_the_librarys_symbols_are_those_of_the_list(run, repo, build):
    text = (repo / "docs/reference/symbols.txt").read_text().partition("# libgputap-plugin.so.0")[2]
    text = text.partition("# libgputap-capture.so.0")[0]
    listed = {line.split()[0] for line in text.splitlines() if line.startswith("gputap_")}
    library = build / "src/plugin/libgputap-plugin.so.0"
    found = set(re.findall(r" T (\w+)", run(["nm", "-D", "--defined-only", library]).out))
    assert found == listed
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-d", library]).out)
    assert set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2"}


# Finding ---------------------------------------------------------------------------

def test_without_plugins_nothing_is_said_and_nothing_is_loaded(host):
    result = host()
    assert result.out.startswith("loaded 0, again 0\nstart 0\n") and result.err == ""


def test_a_file_a_folder_and_the_homes_folder_are_looked_into(host, vendor, work):
    folder = work / "vendors"
    folder.mkdir()
    home = work / ".local/lib/kineto/plugins"
    home.mkdir(parents=True)
    (folder / "b.so").write_bytes(vendor(name="beta").read_bytes())
    (folder / "a.so").write_bytes(vendor(name="alpha").read_bytes())
    (folder / "readme.txt").write_text("not a plug-in")
    (home / "h.so").write_bytes(vendor(name="home").read_bytes())
    result = host("list", plugins=[vendor(name="single"), folder])
    assert re.findall(r"name=(\w+)", result.out) == ["single", "alpha", "beta", "home"]
    assert result.err == ""


def test_the_same_file_by_two_names_is_one_plugin(host, vendor, work):
    (work / "link.so").symlink_to(vendor())
    assert "loaded 1" in host(plugins=[vendor(), work / "link.so", vendor()]).out


def test_seventeen_plugins_are_one_too_many(host, vendor, work):
    for i in range(17):
        (work / f"{i:02}.so").write_bytes(vendor().read_bytes())
    result = host(plugins=[work])
    assert "loaded 16" in result.out and result.err.count("\n") == 1
    assert "16.so is not loaded: 16 plug-ins are loaded already" in result.err


@pytest.mark.parametrize("make, sentence", [
    (lambda p, v: p.write_text("hello"), "it is not a shared library"),
    (lambda p, v: p.write_bytes(v.read_bytes()[:30]), "it is not a shared library"),
    (lambda p, v: p.write_bytes(v.read_bytes()[:18] + b"\xf3\0" + v.read_bytes()[20:]),
     "it is built for RISC-V"),
    (lambda p, v: p.write_bytes(v.read_bytes()[:16] + b"\x01\0" + v.read_bytes()[18:]),
     "a program or an object file"),
    (lambda p, v: p.write_bytes(v.read_bytes()[:4000]), "the file is truncated"),
    (lambda p, v: None, "no plug-in at "),
    (lambda p, v: p.mkdir(), "no file there ends with .so"),
    (lambda p, v: os.mkfifo(p), "it is neither a file nor a folder"),
])
def test_what_is_no_plugin_is_reported_in_one_line_and_the_others_go_on(host, vendor, work, make,
                                                                   sentence):
    make(work / "bad.so", vendor())
    result = host(plugins=[work / "bad.so", vendor()])
    assert sentence in result.err and result.err.count("\n") == 1
    assert "loaded 1" in result.out and "kind 1 1" in result.out


@pytest.mark.parametrize("fault, flags, sentence", [
    ("none", ("-DWITHOUT_POP", ), "it does not export pu1PopExternalCorrelationId()"),
    ("none", ("-DWITHOUT_REGISTER", ), "does not export kineto_register_privateuse1_plugin()"),
    ("newer", (), "version 2.0 of PrivateUse1TracingApi.h; this gputap supports 1.0: use a newer"),
    ("older", (), "version 0.7 of PrivateUse1TracingApi.h; this gputap supports 1.0: rebuild it"),
    ("refuses", (), "its registration failed with -6"),
    ("no kinds", (), "it declares that it records nothing"),
])
def test_a_plugin_that_cannot_be_used_is_reported_and_the_others_go_on(host, vendor, fault, flags,
                                                                  sentence):
    result = host(plugins=[vendor(fault, *flags), vendor(name="good")])
    assert sentence in result.err and result.err.count("\n") == 1
    assert "loaded 1" in result.out and "kind 1 1" in result.out


def test_a_newer_minor_version_is_taken(host, vendor):
    assert "abi=1.3" in host("list", plugins=[vendor("newer minor")]).out


@pytest.mark.parametrize("spoil, sentence", [
    (lambda f: f.chmod(0o777), "other users can write"),
    (lambda f: f.parent.chmod(0o777), "other users can write"),
    (lambda f: f.parent.parent.chmod(0o777), "other users can write"),
])
def test_what_others_may_write_is_refused(host, vendor, work, spoil, sentence):
    folder = work / "outer" / "inner"
    folder.mkdir(parents=True)
    (folder / "v.so").write_bytes(vendor().read_bytes())
    spoil(folder / "v.so")
    for way in (folder, folder / "v.so"):
        result = host(plugins=[way])
        assert sentence in result.err and result.err.count("\n") == 1 and "loaded 0" in result.out


def test_a_folder_that_others_may_add_to_but_not_take_from_is_passed_through(host, vendor, work):
    folder = work / "shared" / "mine"
    folder.mkdir(parents=True)
    folder.parent.chmod(0o1777)
    (folder / "v.so").write_bytes(vendor().read_bytes())
    assert "loaded 1" in host(plugins=[folder]).out


def test_what_is_another_users_is_refused(host, vendor, work):
    if os.geteuid():
        pytest.skip("needs root: chown()")
    (work / "v.so").write_bytes(vendor().read_bytes())
    os.chown(work / "v.so", 12345, 0)
    assert "belongs to user 12345" in host(plugins=[work / "v.so"]).err


# Reading ---------------------------------------------------------------------------

def test_records_of_a_plugin_are_read(host, vendor):
    result = host("all", "list", plugins=[vendor()])
    assert result.err == ""
    assert ("plugin 0 name=vendor vendor=Example & Sons version=1.2 abi=1.0 devices=1 kinds=0x3e"
            " groups=0x7ff") in result.out
    assert "device 0 Vendor 'One' streams=2" in result.out
    assert "stream 1 first handle=0x1001\nstream 2 stream 2 handle=0x1002" in result.out
    assert "record 1 vector_add d0 s1 c1 b0 g4,1,1 graph 0.0.0 priority=3" in result.out
    assert "record 2 Memcpy HtoD d0 s1 c2 b256" in result.out
    assert "record 4 vendorLaunch d-1 s0 c1" in result.out
    assert "external 9 user 9" in result.out
    assert counts(result) == {"records": 9, "name repaired": 1}  # the metadata contains quotes


def test_sessions_follow_each_other(host, vendor):
    result = host("sessions=5", plugins=[vendor()])
    assert result.out.count("count records: 9\n") == 5


def test_many_records_in_small_buffers_are_all_read(host, vendor):
    result = host("pieces=100000", "buffer=4096", plugins=[vendor()])
    assert counts(result)["records"] == 300000


def test_buffers_beyond_the_memory_are_refused_and_the_plugins_drops_are_counted(host, vendor):
    result = host("pieces=3000", "buffer=4096", "memory=65536", plugins=[vendor()])
    found = counts(result)
    assert found["records"] + found["dropped by the plug-in"] == 9000
    assert found["no buffer"] == found["dropped by the plug-in"]


def test_several_plugins_have_their_own_records(host, vendor):
    result = host(plugins=[vendor(name="one"), vendor(name="two"), vendor(name="three")])
    assert counts(result)["records"] == 27


def test_the_configuration_reaches_the_plugin(host, vendor):
    assert "refused by the plug-in" not in counts(host("config=fast", plugins=[vendor()]))
    assert counts(host("config=slow", plugins=[vendor()]))["refused by the plug-in"] == 1


def test_a_forks_child_has_no_open_session_and_the_parents_goes_on(host, vendor):
    result = host("fork", plugins=[vendor()])
    child, parent = re.search(r"child start (-?\d+)(.*?)\nstop", result.out, re.S).groups()
    assert child == "0"  # the plug-in's device belongs to the parent
    assert result.out.count("count records: 9\n") == 1


def test_a_plugin_may_fork_when_it_is_enabled(host, vendor):
    assert counts(host(plugins=[vendor("forks")]))["records"] == 9


def test_a_session_too_short_for_its_clocks_rate_takes_the_nominal_one(host, build, work):
    import time
    folder = work / "refdev"
    folder.mkdir()
    for name in ("librefdev_pu1.so", "librefdev.so.1"):
        (folder / name).write_bytes((build / "soft/refdev" / name).read_bytes())
    before = time.time_ns()
    result = host("all", plugins=[folder / "librefdev_pu1.so"],
                  env={"REFDEV_CLOCK": "hz=1000000", "LD_LIBRARY_PATH": folder})
    first, last = map(int, re.search(r"span (\d+) (\d+)", result.out).groups())
    assert before - 2000 < first < last < time.time_ns() + 2000


@pytest.mark.parametrize("fault", ["none", "monotonic", "ticks"])
def test_times_are_on_one_clock_whatever_the_plugins_is(host, vendor, fault):
    import time
    before = time.time_ns()
    result = host("pieces=30000", plugins=[vendor(fault)])
    first, last = map(int, re.search(r"span (\d+) (\d+)", result.out).groups())
    assert before < first < last < time.time_ns()
    assert counts(result)["records"] == 90000


@pytest.mark.parametrize("fault, counted", [
    ("wild kind", {"unknown kind": 1}),
    ("backwards", {"wrong times": 1}),
    ("no time", {"wrong times": 1}),
    ("seconds", {"wrong times": 1}),
    ("wild device", {"unknown device": 3}),
    ("negative device", {"unknown device": 3}),
    ("wild stream", {"unknown stream": 3}),
    ("stream 0", {"unknown stream": 3}),
    ("short record", {"wrong size": 1}),
    ("long record", {"wrong size": 1}),
    ("circles", {"walk broken off": 1}),
    ("outside", {"wrong place": 1}),
    ("misaligned", {"wrong place": 1}),
    ("walk fails", {"walk broken off": 1}),
    ("completes twice", {"wrong buffer": 1}),
    ("own buffer", {"wrong buffer": 1, "buffer kept": 1}),
    ("valid beyond size", {"wrong buffer": 9}),
    ("flushes nothing", {"buffer kept": 1}),
    ("enables nothing", {"refused by the plug-in": 5}),
])
def test_records_that_make_no_sense_are_named_counted_and_left_out(host, vendor, fault, counted):
    result = host("pieces=3", plugins=[vendor(fault), vendor(name="good")])
    found = counts(result)
    assert {name: n for name, n in found.items() if name not in ("records", "name repaired")} == \
        counted
    assert 9 <= found["records"] <= 18


@pytest.mark.parametrize("fault, counted, name", [
    ("null name", "no name", "unnamed"),
    ("bad name", "name repaired", "ab?'c/d "),
])
def test_a_name_that_is_none_is_mended(host, vendor, fault, counted, name):
    result = host("all", plugins=[vendor(fault)])
    assert f"record 1 {name} d0" in result.out and counts(result)[counted] >= 1
    assert counts(result)["records"] == 9


def test_a_graph_that_is_not_known_is_taken_off_the_record(host, vendor):
    assert "graph 5.1.2" in host("all", plugins=[vendor("graph")]).out
    wild = host("all", plugins=[vendor("wild graph")])
    assert counts(wild)["unknown graph"] == 1 and "graph 6" not in wild.out


def test_work_without_a_correlation_is_kept_and_counted(host, vendor):
    found = counts(host(plugins=[vendor("no correlation")]))
    assert found["no correlation"] == 3 and found["records"] == 9


def test_an_overrun_of_a_buffer_is_found_and_the_buffer_given_up(host, vendor):
    result = host("pieces=100", "buffer=4096", plugins=[vendor("overruns")])
    found = counts(result)
    assert found["buffer overrun"] == 300 // 29 and 0 < found["records"] < 300


def test_a_plugin_without_groups_is_read(host, vendor):
    found = counts(host("list", plugins=[vendor("bare")]))
    assert found["records"] == 9


# GPU activities in progress when a session ends -----------------------------------------

@pytest.fixture(scope="session")
def flight(repo, build, tmp_path_factory):
    """Build tests/plugin/flight.c, and copy refdev's plug-in into a folder that only its owner may
    write to."""
    folder = tmp_path_factory.mktemp("flight")
    for name in ("librefdev_pu1.so", "librefdev.so.1"):
        (folder / name).write_bytes((build / "soft/refdev" / name).read_bytes())
    library = build / "src/plugin/libgputap-plugin.so.0"
    subprocess.run([
        "cc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{repo}", f"-I{repo}/include",
        repo / HERE / "flight.c", "-o", folder / "flight", library, folder / "librefdev.so.1",
        f"-Wl,-rpath,{library.parent}:{folder}", "-lpthread"
    ],
                   check=True)
    return folder


def test_work_in_flight_at_a_sessions_end_leaves_later_sessions_whole(run, flight, work):
    result = run([flight / "flight", "blocked", "4"],
                 env={"KINETO_PLUGIN_PATH": flight / "librefdev_pu1.so", "HOME": work})
    first, *others = result.out.splitlines()
    assert first.startswith("nap 10 block 0")
    assert len(others) == 3
    for line in others:
        assert line.startswith("nap 10 block 0") and "of an earlier session: 1" in line


def test_a_session_waits_for_the_device_of_a_plugin_that_can(run, flight, work):
    result = run([flight / "flight", "short", "4"],
                 env={"KINETO_PLUGIN_PATH": flight / "librefdev_pu1.so", "HOME": work})
    assert result.out == "nap 10 block 0\n" * 4
