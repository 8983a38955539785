# SPDX-License-Identifier: MIT
"""Test gputap info, list and doctor."""

import json
import os
import re
import shutil
import stat
import subprocess

import pytest


@pytest.fixture
def synth(run, build, work):
    def make(*options):
        run([build / "tests/synth/synth", *options, "-o", "a.gputap"])
        return "a.gputap"
    return make


# info ------------------------------------------------------------------------

def info(tap, path, status=0):
    return json.loads(tap("info", path, "--json", status=status).out)


def test_info_of_a_whole_capture(tap, synth):
    i = info(tap, synth("--calls", "2000", "--threads", "3"))
    assert i["complete"] and i["why_not_complete"] == [] and i["end"] == "complete"
    assert i["seen"] == i["recorded"] == i["calls"] + i["activities"] and i["dropped"] == 0
    assert i["linked"] == i["activities"]
    assert i["bytes"] == os.path.getsize("a.gputap")
    assert tap("info", "a.gputap").out.startswith("a.gputap: complete\n")


@pytest.mark.parametrize("end", [[], ["--processes", "3"], ["--threads", "3"]],
                         ids=["one", "processes", "threads"])
def test_device_work_is_linked_only_if_its_call_is_there(tap, synth, end):
    i = info(tap, synth("--calls", "2000", "--lose", "10", *end))
    calls_lost = i["dropped_by_reason"]["ring full"]
    assert calls_lost == (75 if end else 25)
    assert (i["linked"], i["call_lost"]) == (i["activities"] - calls_lost, calls_lost)
    assert f"the call of {calls_lost} is not in the capture" in tap("info", "a.gputap").out
    r = json.loads(tap("report", "a.gputap", "--json").out)
    assert (r["activities"], r["linked"], r["call_lost"]) == (i["activities"], i["linked"],
                                                               i["call_lost"])
    assert f"all but {calls_lost} linked to their call" in tap("report", "--all", "a.gputap").out


def test_info_of_losses_names_the_reasons(tap, synth):
    i = info(tap, synth("--calls", "2000", "--drops"))
    assert not i["complete"] and "lost while tracing" in i["why_not_complete"][0]
    assert i["seen"] == i["recorded"] + i["dropped"]
    assert i["dropped"] == sum(i["dropped_by_reason"].values()) == sum(r["dropped"]
                                                                       for r in i["records"]) > 0
    assert i["dropped_by_reason"]["ring full"] > 0
    assert "ring full" in tap("info", "a.gputap").out


def test_info_of_an_interrupted_capture(tap, synth):
    i = info(tap, synth("--cut"), status=1)
    assert not i["complete"] and i["end"] == "cut"
    assert "gputap recover" in i["why_not_complete"][0]


def test_info_shows_events(tap, synth):
    i = info(tap, synth("--events"))
    assert {"unknown entry point", "loss"} <= {e["event"] for e in i["events"]}


def test_info_of_a_crashed_process(tap, synth):
    i = info(tap, synth("--crash"))
    assert any(p["signal"] for p in i["processes"])
    assert "signal" in tap("info", "a.gputap").out


@pytest.mark.parametrize("clock", ["raw", "timer", "offset"])
def test_info_says_how_device_clocks_were_converted(tap, synth, clock):
    i = info(tap, synth("--device-clock", clock))
    assert i["devices"][0]["clock"] and i["devices"][0]["residual_ns"] is not None


def test_info_of_a_traced_program(tap, build, work):
    tap("run", "-q", "-o", "real.gputap", build / "tests/opencl/cl_basic", "2")
    i = info(tap, "real.gputap")
    assert i["complete"], i["why_not_complete"]
    assert i["command"][-1] == "2" and i["linked"] == i["activities"] > 0
    loaders = [r for r in i["runtimes"] if "libOpenCL" in r["path"]]
    assert len(loaders) == 1 and loaders[0]["method"] in ("layer",
                                                        "interposition") and os.path.exists(
                                                            loaders[0]["path"])
    assert i["devices"][0]["clock"] == "CLOCK_MONOTONIC_RAW"
    process = i["processes"][0]
    assert process["exit_status"] == 0 and process["end"] == "exit 0" and process["exe"].endswith(
        "/cl_basic")
    assert 0 < process["wall_ns"] <= i["wall_ns"]
    threads = json.loads(tap("report", "real.gputap", "--json").out)["processes"][0]["threads"]
    assert i["threads"] == process["threads"] == threads  # gputap's own threads do not count


def test_info_of_several_files(tap, synth):
    synth("--calls", "10")
    assert tap("info", "a.gputap", "a.gputap").out.count("a.gputap: ") == 2


# list ------------------------------------------------------------------------

def test_list_has_every_operation_of_the_frozen_list(tap, repo):
    frozen = (repo / "tests/golden/operations.txt").read_text()
    listed = json.loads(tap("list", "operations", "--json").out)["operations"]
    domains = json.loads(tap("list", "domains", "--json").out)["domains"]
    assert len(listed) == sum(d["operations"] for d in domains) > 200
    for o in listed:
        assert o["name"] in frozen
        assert o["group"] and o["kind"] and o["entry"] in ("table", "extension")


def test_list_chooses_by_pattern_group_and_kind(tap):
    def names(*options):
        return {
            o["name"]
            for o in json.loads(tap("list", "operations", "--json", *options).out)["operations"]
        }
    assert names("clFin*") == {"clFinish", "clFinalizeCommandBufferKHR"}
    assert "clEnqueueNDRangeKernel" in names("--kind", "launch")
    assert "clFlush" in names("--group", "queue") and "clFlush" not in names(
        "--group", "queue", "*Create*")
    domains = [
        d["name"]
        for d in json.loads(tap("list", "domains", "--json").out)["domains"]
        if d["operations"]
    ]
    assert names().union(*(names("--domain", d)
                           for d in domains)) == names() and "hsa_core" in domains
    assert "hsa_init" in names("--domain", "hsa_core") and "hsa_init" not in names(
        "--domain", "hsa_amd_ext")


def test_list_without_a_word_gives_an_overview(tap):
    out = tap("list").out
    for word in ("Domains", "opencl", "layer", "interposition", "perfetto", ".rpd"):
        assert word in out


def test_list_shows_a_method_for_every_domain_that_has_operations(tap):
    domains = json.loads(tap("list", "domains", "--json").out)["domains"]
    methods = json.loads(tap("list", "methods", "--json").out)["methods"]
    assert {d["name"] for d in domains if d["operations"]} == {d["domain"] for d in methods}


def test_list_says_which_calls_are_recorded_without_options(tap, build):
    domains = {d["name"]: d["calls"] for d in
               json.loads(tap("list", "domains", "--json").out)["domains"]}
    assert {domains[d] for d in ("opencl", "hip", "level_zero", "cuda_driver", "mpi", "roctx")
            } == {"default"}
    assert {domains[d] for d in ("hsa_core", "cuda_runtime", "unified_runtime", "nccl", "cublas",
                                 "cudnn", "cupti")} == {"request"}
    assert "or on request: with --domains" in tap("list", "domains").out


def test_list_shows_every_method_that_info_can_name(tap, repo):
    """The library's sources name the interception methods. A driver has no method, because gputap
    intercepts its loader."""
    named = set()
    for path in (repo / "src/runtime").rglob("*.c"):
        named |= set(
            re.findall(r'gt_(?:runtime_module\w*|hsa_method_tables)\([^;]*?"([^"]+)"',
                       path.read_text()))
    methods = {d["name"] for d in json.loads(tap("list", "methods", "--json").out)["methods"]}
    assert len(named) > 2 and named - {"driver"} <= methods


def test_list_formats_are_those_that_export_takes(tap):
    listed = json.loads(tap("list", "formats", "--json").out)["formats"]
    rows = re.findall(r"^  (\.\S+) +(\S+) +(\S.*)$", tap("export", "--help").out, re.M)
    assert {(f["extensions"].split()[0], f["name"]) for f in listed} == {
        (extension, name) for extension, name, _ in rows}
    help_text = tap("export", "--help").out
    assert all(extension in help_text for f in listed for extension in f["extensions"].split())


# doctor ------------------------------------------------------------------------

def doctor(tap, status=0, **env):
    result = tap("doctor", "--json", status=status, env=env)
    d = json.loads(result.out)
    assert d["ok"] == (result.status == 0) == bool(d["traceable"])
    return d, {(f["what"], f["level"]) for f in d["findings"]}


def test_doctor_finds_what_is_here(tap):
    d, found = doctor(tap)
    assert "opencl" in d["traceable"]
    for what in ("libraries", "injection", "loader", "driver", "device"):
        assert (what, "ok") in found
    assert re.search(r"^OpenCL.* programs can be traced here:\n  gputap run ",
                     tap("doctor").out, re.M)


def test_doctor_says_how_to_get_a_driver(tap, work):
    d, found = doctor(tap, status=None, OCL_ICD_VENDORS=str(work))
    assert ("driver", "bad") in found and "opencl" not in d["traceable"]
    assert any("apt install pocl-opencl-icd" in (f["hint"] or "") for f in d["findings"])
    assert "OpenCL" not in tap("doctor", status=None,
                               env={"OCL_ICD_VENDORS": str(work)}).out.splitlines()[-1]


@pytest.mark.parametrize("text, hint", [
    ("ID=debian\n", "apt install pocl-opencl-icd   (runs on the CPU)"),
    ('ID=ubuntu\nID_LIKE=debian\n', "apt install pocl-opencl-icd   (runs on the CPU)"),
    ('NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\n',
     "dnf install pocl   (runs on the CPU)"),
    ("ID=fedora\n", "dnf install pocl   (runs on the CPU)"),
    ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', "zypper install pocl   (runs on the CPU)"),
    ("ID=sles\n", "zypper install pocl   (runs on the CPU)"),
    ("ID=arch\n", "pacman -S pocl   (runs on the CPU)"),
    ("ID_LIKE=arch\nID=manjaro", "pacman -S pocl   (runs on the CPU)"),
    ("ID=nixos\n", "install what Debian packages as pocl-opencl-icd   (runs on the CPU)"),
    ("ID\n", "install what Debian packages as pocl-opencl-icd   (runs on the CPU)"),
    (None, "install what Debian packages as pocl-opencl-icd   (runs on the CPU)"),
], ids=["debian", "ubuntu", "rocky", "fedora", "leap", "sles", "arch", "manjaro", "nixos", "broken",
        "none"])
def test_doctor_speaks_the_package_manager_of_the_distribution(tap, work, text, hint):
    if text is not None:
        (work / "os-release").write_text(text)
    (work / "vendors").mkdir()
    d, _ = doctor(tap, status=None, OCL_ICD_VENDORS=str(work / "vendors"),
                  GPUTAP_OS_RELEASE=str(work / "os-release"))
    hints = [f["hint"] for f in d["findings"] if f["area"] == "opencl" and f["what"] == "driver"]
    assert hint in hints


def test_doctor_translates_hints_of_several_packages(tap, work):
    """PATH has no compiler and no tool, and no runtime is found."""
    (work / "os-release").write_text("ID=arch\n")
    d, _ = doctor(tap, status=None, PATH=str(work), GPUTAP_OS_RELEASE=str(work / "os-release"))
    hints = {f["hint"] for f in d["findings"] if f["hint"]}
    assert {"pacman -S sqlite", "pacman -S jq",
            "pacman -S hip-runtime-amd   (or ROCm's packages)"} <= hints
    assert not [h for h in hints if "apt" in h.split()]


def test_doctor_knows_the_packages_of_tools_packages(repo):
    """Both lists give a Debian package the same name in another distribution."""
    ours = re.findall(r'^\t\{"(\S+)", (\S+), (\S+), (\S+)\},$',
                      (repo / "src/doctor/doctor_packages.c").read_text(), re.M)
    assert len(ours) > 8
    listed = re.sub(r" *#.*", "", (repo / "tools/packages").read_text())
    for apt, *others in ours:
        entry = re.search(rf"\n\S[^\n]*\n +apt {re.escape(apt)} .*?(?=\n\S|\n\n)", listed, re.S)
        if not entry:
            continue
        for manager, name in zip(("dnf", "zypper", "pacman"), others):
            found = re.search(rf"\b{manager} (\S+)", entry[0])
            assert name.strip('"') == (found[1] if found else "NULL"), (apt, manager)


def test_every_hint_of_a_description_can_be_translated(repo):
    """A name that src/doctor/doctor_packages.c lacks would be printed as Debian's."""
    known = set(re.findall(r'^\t\{"(\S+)",', (repo / "src/doctor/doctor_packages.c").read_text(),
                           re.M))
    sources = [*(repo / "api").glob("*.api"), *(repo / "src").glob("**/*.c"),
               *(repo / "cli").glob("*.c")]
    named = [name for path in sources
             for text in re.findall(r'"apt install ([a-z][^,(;"%]*)', path.read_text())
             for name in text.split()]
    assert len(named) >= 7 and set(named) <= known


def test_doctor_of_libraries_that_cannot_be_preloaded_says_that_nothing_can_be_traced(
        build, gputap, run, work):
    (work / "a folder").mkdir()
    shutil.copy(gputap, work / "a folder")
    for name in ("libgputap.so.0", "libgputap-audit.so"):  # cut off, as by a full disk
        (work / "a folder" / name).write_bytes((build / name).read_bytes()[:1000])
    d = json.loads(run([work / "a folder/gputap", "doctor", "--json"], status=1).out)
    assert not d["ok"] and d["traceable"] == []
    assert "Nothing can be traced here yet" in run([work / "a folder/gputap", "doctor"],
                                                   status=1).out


def test_doctor_names_a_proc_that_is_not_mounted(gputap, run):
    if os.geteuid() != 0:
        pytest.skip("needs root to mount")
    result = run(
        ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs none /proc && exec {gputap} doctor"],
        status=1)
    assert (
        "/proc is not mounted:" in result.out and "-> mount -t proc proc /proc" in result.out
    ), result


def test_doctor_says_what_is_missing_of_rocm(tap, softgpu, hip_headers, work):
    """doctor looks up hipcc in PATH. The software GPU works only with a ROCr whose libhsakmt can be
    replaced."""
    shown = {
        f["what"]: f for f in doctor(tap)[0]["findings"] if f["area"] in ("hip", "hsa", "amdgpu")
    }
    assert shown["software"]["level"] == "ok" and "libhsakmt.so.1" in shown["software"]["text"]
    assert shown["driver"]["level"] == "ok" or "/dev/kfd" in shown["driver"]["text"]
    d, found = doctor(tap, PATH=str(work))
    assert ("compiler", "note") in found or os.path.exists("/opt/rocm/bin/hipcc")
    if not os.path.exists("/dev/kfd"):
        assert [n for n in d["traceable"] if n != "level_zero"] == ["opencl", "hip", "hsa"]
        (work / "libhsa-runtime64.so.1").write_bytes(b"no ROCr")
        d, found = doctor(tap, LD_LIBRARY_PATH=str(work))
        assert ("software", "note") in found
        assert [n for n in d["traceable"] if n != "level_zero"] == ["opencl"]


def driver(run, work, text):
    """Build a driver library from @text and return a vendors folder with an .icd file that names
    the library."""
    (work / "driver.c").write_text(text)
    run(["cc", "-shared", "-fPIC", "-o", "libdriver.so", "driver.c"])
    (work / "vendors").mkdir()
    (work / "vendors" / "bad.icd").write_text(f"{work}/libdriver.so\n")
    return str(work / "vendors")


def test_doctor_survives_a_driver_that_crashes(tap, run, work):
    folder = driver(
        run,
        work,
        "#include <signal.h>\n__attribute__((constructor)) static void f(void) {"
        " raise(SIGSEGV); }\n",
    )
    d, found = doctor(tap, status=None, OCL_ICD_VENDORS=folder)
    assert ("driver", "bad") in found
    assert any("crashes when it is loaded: Segmentation fault" in f["text"] for f in d["findings"])


def test_doctor_shows_a_driver_that_is_not_there(tap, work):
    (work / "x.icd").write_text("libnosuchdriver.so\n")
    d, found = doctor(tap, status=None, OCL_ICD_VENDORS=str(work))
    assert any(
        "libnosuchdriver.so: cannot open shared object file" in f["text"] for f in d["findings"])


def test_doctor_finds_libraries_missing(run, gputap, work):
    copy = work / "gputap"
    copy.write_bytes(gputap.read_bytes())
    copy.chmod(copy.stat().st_mode | stat.S_IXUSR)
    result = run([copy, "doctor", "--json"], status=None)
    found = {f["what"]: f for f in json.loads(result.out)["findings"]}
    if found["libraries"]["level"] == "bad":  # otherwise doctor found an installed copy
        assert result.status == 1 and "GPUTAP_LIBRARY_PATH" in found["libraries"]["text"]


def test_doctor_shows_a_session_to_recover(tap, build, run, work):
    """A killed collector leaves its session folder."""
    run(["sh", "-c", f"'{build}/gputap' run -o k.gputap sh -c 'kill -9 $PPID; sleep 0.2' & wait"],
        status=None)
    findings = [
        f for f in json.loads(tap("doctor", "--json").out)["findings"] if f["area"] == "gputap"
    ]
    (ours, ) = [
        line.split()[0]
        for line in tap("recover").out.splitlines()
        if line.endswith(f"{work}/k.gputap")
    ]
    tap("recover", ours)
    named = [f["hint"] for f in findings if f["what"] == "session"]
    assert all(hint.startswith("gputap recover /") for hint in named)
    # If there are many sessions, including those of other tests, doctor names only the first ones.
    rest = [f["hint"] for f in findings if f["what"] == "sessions"]
    assert f"gputap recover {ours}" in named or "lists them" in rest[0]


def test_run_that_saw_nothing_says_what_is_here(tap, work):
    told = tap("run", "true").err
    assert (
        "true used no runtime that gputap can trace (OpenCL, HIP, HSA, Level Zero, CUDA);"
        " installed here: OpenCL with" in told
    )
    assert ("HIP" in told.partition("here: ")[2]) == any(
        f["area"] == "hip" and f["level"] == "ok" for f in doctor(tap)[0]["findings"])
    assert "here: OpenCL without a driver" in tap("run", "true",
                                                  env={"OCL_ICD_VENDORS": str(work)}).err
    assert "here: OpenCL without a driver" in tap("run",
                                                  "true",
                                                  env={"OCL_ICD_VENDORS": "/no/such/folder"}).err


def test_coverage_is_none_where_launches_are_seen_and_nothing_of_the_device(
        hip_program, softgpu, tap, work):
    """The program removes HSA_TOOLS_LIB from its environment without gputap's knowledge."""
    (work / "shut.c").write_text(
        '#include <stdlib.h>\n__attribute__((constructor)) static void shut(void) {'
        ' unsetenv("HSA_TOOLS_LIB"); }\n'
    )
    subprocess.run(["cc", "-shared", "-fPIC", "shut.c", "-o", "shut.so"], check=True)
    env = {**softgpu, "LD_PRELOAD": work / "shut.so"}
    tap("run", "-q", "-o", "a.gputap", "--", hip_program("ends"), "kernels:7", env=env)
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["coverage"] == "none" and info["activities"] == 0
    text = tap("info", "a.gputap").out
    assert "made 7 hip launches, but no GPU activity was seen" in text
    tap("run", "-q", "-f", "-o", "a.gputap", "--", hip_program("ends"), "kernels:7", env=softgpu)
    assert json.loads(tap("info", "--json", "a.gputap").out)["coverage"] == "GPU activities seen"


def test_options_of_a_session_have_units(tap, build, work):
    """Patterns that the user gave are shown verbatim, even if they look like durations."""
    tap("run", "-q", "-o", "units.gputap", "--when-full", "250ms", "--stacks=launch,slow:2ms",
        "--kernels", "x:12ns", "--duration", "90s", "--", build / "tests/opencl/cl_golden")
    out = tap("info", "units.gputap", env={"COLUMNS": 500}).out
    options = next(line for line in out.splitlines() if line.startswith("  options "))
    for part in ("when-full=250 ms", "slow:2.00 ms", "duration=90.0 s", "kernels=x:12ns",
                 "buffer=256 MiB", "block=64.0 KiB"):
        assert part in options
    info = json.loads(tap("info", "--json", "units.gputap").out)
    assert "when-full=250000000ns" in info["options"]
