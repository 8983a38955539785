# SPDX-License-Identifier: MIT
"""Test vendors' plug-ins under gputap run. The captures contain the plug-ins' records, counted and
linked. An error in a plug-in is reported, and disturbs neither the program nor other plug-ins."""
import json
import re
import subprocess

import pytest
from test_late_level_zero import Program, attach_to  # noqa: F401: fixture
from test_refdev import library, plugin, program  # noqa: F401: fixtures


@pytest.fixture(scope="session")
def vendor(repo, tmp_path_factory):
    """Return a function: vendor("hangs") builds tests/plugin/vendor.c with that fault. The function
    NAME_work() submits activities."""
    made = {}

    def make(fault="none", name="vendor"):
        if (fault, name) not in made:
            path = tmp_path_factory.mktemp("vendor") / f"{name}.so"
            subprocess.run([
                "cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-w", "-Wl,-Bsymbolic",
                f"-I{repo}/include", f'-DFAULT="{fault}"', f'-DNAME="{name}"',
                f"-Dpu1Exercise={name}_work", repo / "tests/plugin/vendor.c", "-o", path,
                "-lpthread", f"-Wl,-soname,{name}.so"
            ],
                           check=True)
            made[fault, name] = path
        return made[fault, name]
    return make


@pytest.fixture(scope="session")
def worker(repo, tmp_path_factory):
    """Return a function: worker(vendor, ...) builds tests/plugin/worker.c, linked with these
    vendors."""
    made = {}

    def make(*vendors):
        if vendors not in made:
            path = tmp_path_factory.mktemp("worker") / "worker"
            subprocess.run([
                "cc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{repo}/include",
                *(["-DOTHER"] if len(vendors) > 1 else []), repo / "tests/plugin/worker.c", "-o",
                path, *vendors, *[f"-Wl,-rpath,{v.parent}" for v in vendors], "-lpthread"
            ],
                           check=True)
            made[vendors] = path
        return made[vendors]
    return make


@pytest.fixture
def traced(tap, work):
    """Return a function: traced(plugins, program, word, ...) returns the result of gputap run, and
    info about the capture.
    """
    def call(plugins, *command, options=(), env=None):
        path = ":".join(map(str, plugins))
        result = tap("run", "-f", "-o", "p.gputap", *options, *command,
                     env={"KINETO_PLUGIN_PATH": path, "HOME": work} | (env or {}))
        return result, json.loads(tap("info", "--json", "p.gputap").out)
    return call


def report(tap):
    return json.loads(tap("report", "--json", "--top", "0", "p.gputap").out)


def counts(rows, key="name"):
    return {row[key]: row["count"] for row in rows}


# refdev's own plug-in -----------------------------------------------------------------

@pytest.mark.parametrize("words, work_items", [(["steps", "50"], 450), (["driver", "10"], 20),
                                               (["threads", "500"], 2000)])
@pytest.mark.parametrize("clock", ["hz=1000000000", "hz=19200000,epoch=5s"])
def test_all_that_a_plugin_records_is_in_the_capture(traced, tap, plugin, program, words,
                                                     work_items, clock):
    _, info = traced([plugin], program, *words, options=["-q", "-d", "privateuse1"],
                     env={"REFDEV_CLOCK": clock})
    assert info["activities"] == info["linked"] == work_items
    assert info["seen"] == info["recorded"] and info["untimed"] == 0
    assert [d["name"] for d in info["devices"]] == ["refdev 0"]


def test_a_plugins_kernels_are_those_that_gputap_sees_itself(traced, tap, plugin, program):
    own, theirs = [], []
    for options, rows in ((["--no-plugins"], own), (["-d", "privateuse1"], theirs)):
        traced([plugin], program, "steps", "20", options=["-q", *options])
        seen = report(tap)
        rows += [counts(seen["kernels"]), {c["direction"]: (c["count"], c["bytes"])
                                           for c in seen["copies"]}]
    assert own == theirs and own[0] == {"add": 60, "scale": 20}


def test_a_runtime_that_gputap_traces_itself_is_not_recorded_twice(traced, plugin, program):
    result, info = traced([plugin], program, "steps", "5")
    assert {r["domain"] for r in info["runtimes"]} == {"refdev"} and info["activities"] == 45
    assert "is not needed: refdev is traced without it" in " ".join(result.err.split())


# Another vendor ------------------------------------------------------------------------

def test_kernels_copies_fills_waits_and_calls_of_all_threads(traced, tap, vendor, worker):
    _, info = traced([vendor()], worker(vendor()), 90, 4, options=["-q"])
    seen = report(tap)
    assert counts(seen["kernels"]) == {"vector_add": 120}
    assert {c["direction"]: (c["count"], c["bytes"]) for c in seen["copies"]} == {
        "memcpy H2D": (120, 120 * 256), "memset": (120, 120 * 256)}
    assert sum(o["calls"] for o in seen["operations"]) == 720
    assert info["seen"] == info["recorded"] == 1080
    assert info["activities"] == info["linked"] == 360


def test_several_vendors_stand_side_by_side(traced, tap, vendor, worker):
    both = vendor(), vendor(name="other")
    _, info = traced(both, worker(*both), 30, options=["-q"])
    assert info["seen"] == info["recorded"] == 2 * 90
    assert len(info["devices"]) == 2 and info["linked"] == 60


@pytest.mark.parametrize("clock", ["ticks", "monotonic"])
def test_a_plugins_clock_is_converted(traced, tap, vendor, worker, clock):
    """Activities start within one second of their calls."""
    _, info = traced([vendor(clock)], worker(vendor(clock)), 300, options=["-q"])
    tap("export", "-f", "p.gputap", "-o", "p.json")
    events = json.load(open("p.json"))["traceEvents"]
    begins = {e["args"]["correlation"]: e["ts"] for e in events
              if e.get("cat", "").startswith("privateuse1")}
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert len(kernels) == 100
    # One clock has ticks of 4 ns. The other clock has a different origin than the capture, which
    # without conversion would cause an error of hours. The clocks are read together as closely as
    # the machine's load allows.
    assert all(abs(e["ts"] - begins[e["args"]["correlation"]]) < 1e6 for e in kernels)


@pytest.mark.parametrize("options, calls, kernels, copies", [
    (["-m", "lite"], 0, 10, 0), (["-m", "standard"], 0, 10, 20), (["--no-device"], 60, 0, 0),
    (["--kernels", "nothing"], 60, 0, 20)])
def test_what_is_not_asked_for_is_not_recorded(traced, tap, vendor, worker, options, calls,
                                               kernels, copies):
    _, info = traced([vendor()], worker(vendor()), 30, options=["-q", *options])
    seen = report(tap)
    assert sum(o["calls"] for o in seen["operations"]) == calls
    assert sum(k["count"] for k in seen["kernels"]) == kernels
    assert sum(c["count"] for c in seen["copies"]) == copies
    assert info["seen"] == info["recorded"]


def test_calls_have_the_names_that_the_plugin_gives_them(traced, tap, vendor, worker):
    traced([vendor()], worker(vendor()), 30, options=["-q"])
    rows = {o["name"]: o["calls"] for o in report(tap)["operations"]}
    assert rows == {"vendorLaunch": 30, "vendorSubmit": 30}
    for form in ("json", "pftrace", "rpd", "db", "csv"):
        tap("export", "-f", "p.gputap", "-o", f"p.{form}",
            *(["--format", "rocpd"] if form == "db" else []))
        assert b"vendorLaunch" in open(f"p.{form}", "rb").read(), form
        assert b"vector_add" in open(f"p.{form}", "rb").read(), form


def test_work_belongs_to_the_range_that_it_was_submitted_in(traced, tap, vendor, worker):
    _, info = traced([vendor()], worker(vendor()), 30, 1, "ranges", options=["-q"])
    assert info["seen"] == info["recorded"]
    whole = json.loads(tap("report", "--json", "--by", "range", "--top", "0", "p.gputap").out)
    rows = {o["name"]: o["activities"] for o in whole["gpu_by_range"]}
    # each range has 30 activities; activities of the additional thread, of pushed ids and all
    # others are in no range
    assert rows["step"] == 30 and rows["acme::mul"] == 30, rows
    inside = json.loads(tap("report", "--json", "--where", "range=step", "p.gputap").out)
    assert sum(k["count"] for k in inside["kernels"]) == 20
    assert sum(o["calls"] for o in inside["operations"]) == 120


def test_exports_link_work_to_its_range_and_calls_to_their_ids(traced, tap, vendor, worker):
    traced([vendor()], worker(vendor()), 30, 1, "ranges", options=["-q"])
    tap("export", "-f", "p.gputap", "-o", "p.json")
    events = json.load(open("p.json"))["traceEvents"]
    ranges = {e["args"]["External id"]: e["name"] for e in events
              if e.get("cat") in ("cpu_op", "user_annotation") and "External id" in e["args"]}
    of = [ranges.get(e["args"].get("External id")) for e in events if e.get("cat") == "kernel"]
    assert sorted(map(str, of)) == ["None"] * 30 + ["acme::mul"] * 10 + ["step"] * 10
    tap("export", "-f", "p.gputap", "-o", "p.csv")
    calls = [line for line in open("p.csv") if ",vendorLaunch," in line]
    assert len([line for line in calls if ",33,77," in line]) == 30


# Programs that load plug-ins ------------------------------------------------------------

def test_a_switch_turns_them_off(traced, vendor, worker):
    result, info = traced([vendor()], worker(vendor()), 30, 1, "maps", options=["--no-plugins"])
    assert info["seen"] == 0 and "libgputap-plugin" not in result.out


def test_without_plugins_nothing_is_loaded(traced, vendor, worker):
    result, info = traced([], worker(vendor()), 30, 1, "maps", options=["-q"])
    assert info["seen"] == 0 and "libgputap-plugin" not in result.out


def test_a_program_that_has_nothing_of_the_vendors_is_left_alone(traced, vendor):
    result, info = traced([vendor()], "cat", "/proc/self/maps", options=["-q"])
    assert "libgputap.so" in result.out
    assert "vendor.so" not in result.out and "libgputap-plugin" not in result.out


# Faults of plug-ins ---------------------------------------------------------------------

def words_of(text):
    return " ".join(text.split())


@pytest.mark.parametrize("fault, sentence", [
    ("crash at registration", "is not used: its registration ends the process: Aborted"),
    ("refuses", "is not used: its registration failed with -6"),
    ("newer", "is not used: it was built with version 2.0"),
    ("no kinds", "is not used: it declares that it records nothing"),
])
def test_one_that_cannot_be_used_is_reported_and_the_others_go_on(traced, vendor, worker, fault,
                                                              sentence):
    bad, good = vendor(fault, "bad"), vendor()
    result, info = traced([bad, good], worker(good), 30, options=["-q"])
    assert f"plug-in {bad} {sentence}" in words_of(result.err)
    assert info["seen"] == info["recorded"] == 90




@pytest.mark.parametrize("fault, name", [
    ("wild kind", "unknown kind"), ("short record", "wrong size"), ("long record", "wrong size"),
    ("backwards", "wrong times"), ("no time", "wrong times"), ("wild device", "unknown device"),
    ("wild stream", "unknown stream"),
])
def test_records_that_make_no_sense_are_lost_by_name(traced, tap, vendor, worker, fault, name):
    _, info = traced([vendor(fault)], worker(vendor(fault)), 30, options=["-q"])
    events = tap("info", "p.gputap").out
    assert re.search(f"plug-in vendor: {name}: \\d+", words_of(events)), events
    assert info["seen"] > info["recorded"] >= 60
    assert info["seen"] == info["recorded"] + info["dropped"] == 90


@pytest.mark.parametrize("fault", ["hangs"])
def test_one_that_never_returns_does_not_keep_the_program(traced, tap, vendor, worker, fault):
    result, info = traced([vendor(fault)], worker(vendor(fault)), 30, options=["-q"])
    assert "plug-in vendor: pu1FlushAll() does not return" in words_of(
        tap("info", "p.gputap").out)


# Times of short runs --------------------------------------------------------------------

@pytest.fixture(scope="session")
def naps(repo, library, tmp_path_factory):  # noqa: F811
    """Build tests/plugin/naps.c, linked with refdev."""
    path = tmp_path_factory.mktemp("naps") / "naps"
    subprocess.run([
        "cc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{repo}",
        repo / "tests/plugin/naps.c", "-o", path, library, f"-Wl,-rpath,{library.parent}"
    ],
                   check=True)
    return path


def kernels_and_calls(tap):
    tap("export", "-f", "p.gputap", "-o", "p.json")
    events = json.load(open("p.json"))["traceEvents"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    calls = {e["args"]["correlation"]: e for e in events if e.get("ph") == "X"
             and e is not None and e.get("cat") != "kernel" and "correlation" in e.get("args", {})}
    return kernels, calls


@pytest.mark.parametrize("domain", ["privateuse1", "refdev"])
@pytest.mark.parametrize("hz", [1000000000, 25000000, 19200000])
@pytest.mark.parametrize("count", [5, 50, 500])
def test_device_times_have_their_unit_in_runs_of_any_length(traced, tap, plugin, naps,  # noqa: F811
                                                            domain, hz, count):
    """Runs last 10 ms, 100 ms and 1 s. A kernel lasts the 2 ms for which it sleeps, and starts
    after its call."""
    _, info = traced([plugin] if domain == "privateuse1" else [], naps, count,
                     options=["-q", "-d", domain],
                     env={"REFDEV_CLOCK": f"hz={hz},epoch=3s"})
    assert info["activities"] == info["linked"] == count
    kernels, calls = kernels_and_calls(tap)
    assert len(kernels) == count
    for kernel in kernels:
        assert kernel["dur"] >= 1900, kernel
        assert kernel["ts"] > calls[kernel["args"]["correlation"]]["ts"] - 1e5, kernel


def test_times_outside_of_the_process_are_lost_by_name(traced, tap, vendor, worker):
    _, info = traced([vendor("early kernel")], worker(vendor("early kernel")), 30, options=["-q"])
    assert "times outside the process's lifetime: 10" in words_of(tap("info", "p.gputap").out)
    assert info["seen"] == 90 and info["recorded"] == 80
    assert {c["direction"]: c["count"] for c in report(tap)["copies"]} == {
        "memcpy H2D": 10, "memset": 10}


# The headline ---------------------------------------------------------------------------

@pytest.mark.parametrize("fault, headline", [
    ("none", "nothing lost"),
    ("flushes nothing", "at least 30 lost"),
    ("own buffer", "at least"),
    ("valid beyond size", "at least"),
    ("enables nothing", "1 tool failed"),
    ("wild kind", "10 lost, 1 tool failed"),
    ("loses kernels", "10 lost"),
    ("bad name", "nothing lost"),
])
def test_nothing_lost_is_printed_beside_no_loss(traced, tap, vendor, worker, fault, headline):
    result, info = traced([vendor(fault)], worker(vendor(fault)), 30)
    first = result.err.replace("\n", " ")
    assert headline in first, result.err
    assert ("nothing lost" in first) == (headline == "nothing lost"), result.err
    text = words_of(tap("report", "p.gputap").out)
    assert ("nothing lost" in text) == (headline == "nothing lost"), text
    complete = json.loads(tap("report", "--json", "p.gputap").out)["complete"]
    assert complete == (headline == "nothing lost")


@pytest.mark.parametrize("how", ["_exit", "kill"])
def test_a_process_that_skips_exit_leaves_what_its_plugin_held_uncounted(traced, tap, vendor,
                                                                         worker, how):
    path = ":".join(map(str, [vendor()]))
    result = tap("run", "-f", "-o", "p.gputap", worker(vendor()), 30, 0, how,
                 env={"KINETO_PLUGIN_PATH": path}, status=-9 if how == "kill" else 0)
    assert "nothing lost" not in result.err and "at least" in result.err, result.err
    info = json.loads(tap("info", "--json", "p.gputap").out)
    assert info["missing"] == 1 and not info["complete"]
    # the vendor reports submissions, so activities whose records were not delivered are unfinished
    assert info["seen"] == info["recorded"] + info["dropped"]
    assert info["activities"] + info["dropped_by_reason"]["unfinished"] == 30
    assert "their last" not in result.out


def test_launches_whose_kernels_never_came_are_unfinished(traced, vendor, worker):
    _, info = traced([vendor("loses kernels")], worker(vendor("loses kernels")), 30,
                     options=["-q"])
    assert info["dropped_by_reason"]["unfinished"] == 10 and info["activities"] == 20


def test_advice_fits_the_reason_of_a_loss(traced, vendor, worker):
    result, _ = traced([vendor("wild kind")], worker(vendor("wild kind")), 30, options=["-q"])
    words = words_of(result.err)
    assert "10: wrong or dropped in the plug-in" in words and "--buffer" not in words




# Launches of a vendor's calls -----------------------------------------------------------

def stacks_of(tap):
    return json.loads(tap("report", "-t", "stacks", "--json", "p.gputap").out)["stacks"]


def test_stacks_of_a_vendors_calls_are_those_of_the_submitting_thread(traced, tap, vendor, worker):
    traced([vendor()], worker(vendor()), 30, 2, options=["-q", "--stacks"])
    rows = stacks_of(tap)
    assert {(r["name"], r["count"]) for r in rows} == {
        ("vector_add", 20), ("Memcpy HtoD", 20), ("Memset", 20)}
    assert all(any("vendor_work" in frame for frame in r["stack"]) for r in rows), rows


def test_a_plugin_that_reports_no_submissions_gets_no_advice_to_record_stacks(traced, tap, vendor,
                                                                             worker):
    plain = vendor("no submits")
    traced([plain], worker(plain), 30, options=["-q", "--stacks"])
    text = words_of(tap("report", "-t", "stacks", "p.gputap").out)
    assert "recorded: use gputap run --stacks" not in text
    assert "no recorded call has a stack" in text, text
    assert "pu1.submits" in tap("info", "p.gputap").out


@pytest.mark.parametrize("fault", ["none", "no submits"])
def test_a_vendors_calls_launch_copy_and_set(traced, tap, vendor, worker, fault):
    """The calls are in the summary, and in the HTA export under names that HTA knows."""
    result, _ = traced([vendor(fault)], worker(vendor(fault)), 30)
    launches = tap("report", "p.gputap", "-t", "operations", "--where", "kind=launch").out
    assert "vendor" in launches, (launches, result.err)
    tap("export", "-f", "p.gputap", "-o", "p.hta.json.gz")
    import gzip
    events = json.load(gzip.open("p.hta.json.gz"))["traceEvents"]
    names = [e["name"] for e in events if e.get("ph") == "X"]
    assert names.count("cudaLaunchKernel") >= 10, set(names)


def test_a_long_name_of_a_call_goes_into_every_export(traced, tap, vendor, worker):
    traced([vendor("long call name")], worker(vendor("long call name")), 30, options=["-q"])
    for form in ("json", "pftrace", "rpd", "db", "csv", "hta.json.gz"):
        tap("export", "-f", "p.gputap", "-o", f"p.{form}",
            *(["--format", "rocpd"] if form == "db" else []))


def test_bytes_that_no_memory_has_are_none(traced, tap, vendor, worker):
    _, info = traced([vendor("absurd bytes")], worker(vendor("absurd bytes")), 30, options=["-q"])
    assert {c["direction"]: c["bytes"] for c in report(tap)["copies"]} == {
        "memcpy H2D": 0, "memset": 2560}
    assert "impossible bytes: 10" in words_of(tap("info", "p.gputap").out)


def test_hostile_records_are_recorded_or_lost_by_name(run, repo, build, tmp_path):
    """Runs 3 rounds. `make fuzz` runs more."""
    run([repo / "tests/fuzz/plugins", "3", tmp_path / "fuzz"], env={"GPUTAP_BUILD": build})


def test_an_event_names_a_plugin_by_its_path_alone(traced, tap, vendor, worker):
    """In the session's line, a separator and the required libraries follow the path."""
    slow = vendor("registers never in worker")
    traced([slow], worker(slow), 3, options=["-q"])
    text = words_of(tap("info", "p.gputap").out)
    assert f"plug-in {slow}: not ready after 5 s" in text, text


# Attached to while the program runs -------------------------------------------------------

def test_plugins_record_from_an_attach_to_the_detach(
        attach_to, tap, vendor, worker, work):  # noqa: F811
    """A second session starts the plug-ins again."""
    program = Program([worker(vendor()), "90", "0", "obey"], {})
    for name, times in (("p.gputap", 2), ("q.gputap", 1)):
        command = attach_to(program, name, env={"KINETO_PLUGIN_PATH": str(vendor()),
                                                "HOME": str(work)})
        for _ in range(times):
            assert program("work") == "0"
        tap("detach", str(program.process.pid))
        command.wait()
        assert program("work") == "0"  # not recorded
        seen = json.loads(tap("report", "--json", "--top", "0", name).out)
        assert counts(seen["kernels"]) == {"vector_add": 30 * times}
        info = json.loads(tap("info", "--json", name).out)
        assert info["seen"] == info["recorded"] and info["untimed"] == 0
        assert info["activities"] == info["linked"] == 90 * times and len(info["devices"]) == 1
        assert [e["text"] for e in info["events"] if e["event"] == "repaired"] == [
            f"plug-in vendor: name repaired: {30 * times}"]
    program.end()
