# SPDX-License-Identifier: MIT
"""Test NVTX domains, categories, colours, payloads and names, and also NVIDIA's own headers,
library and Python package where they are installed."""
import collections
import csv
import io
import json
import os
import pathlib
import subprocess
import sys

import pytest

from consumers import perfetto

HEADERS = os.environ.get("GPUTAP_NVTX_HEADERS")  # contains nvtx3/nvToolsExtPayload.h
LIBRARY = os.environ.get("GPUTAP_NVTX2")  # contains include/nvToolsExt.h and lib/libnvToolsExt.so.1
PACKAGE = os.environ.get("GPUTAP_NVTX")  # contains nvtx/__init__.py

FORMS = {
    "own": [],
    "headers": ["-DHEADERS", f"-I{HEADERS}"],
    "library": ["-DLEGACY", f"-I{LIBRARY}/include", f"{LIBRARY}/lib/libnvToolsExt.so.1",
                f"-Wl,-rpath,{LIBRARY}/lib"],
}


def compile_form(form, path, repo):
    subprocess.run(["cc", "-O1", "-Wall", "-Wno-unused-function", "-o", path,
                    repo / "tests/ranges/nvtx_said.c", *FORMS[form], "-ldl", "-lpthread"],
                   check=True)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory, repo):
    return compile_form("own", tmp_path_factory.mktemp("nvtx") / "nvtx_said", repo)


@pytest.fixture
def said(tap, program, work):
    """Return a function: run() returns the program's output and its recorded calls."""
    def run(*words, program=program):
        result = tap("run", "-f", "-o", "a.gputap", "--", program, *words)
        info = json.loads(tap("info", "--json", "a.gputap").out)
        assert info["seen"] == info["recorded"] and not info["dropped"]
        return result.out, rows(tap, work)
    return run


def rows(tap, work):
    tap("export", "-f", "a.gputap", "-o", "a.csv")
    found = list(csv.DictReader(io.StringIO((work / "a.csv").read_text())))
    return [r for r in found if r["domain"] == "nvtx"]


def events(tap, work, name="a.json"):
    tap("export", "-f", "a.gputap", "-o", name)
    return {e["name"]: e["args"] for e in json.loads((work / name).read_text())["traceEvents"]
            if e.get("cat") == "user_annotation"}


def user_ranges(tap, work):
    tap("export", "-f", "a.gputap", "-o", "a.json")
    return [e for e in json.loads((work / "a.json").read_text())["traceEvents"]
            if e.get("cat") == "user_annotation" and e["ph"] == "X"]


ONE = {
    "in mine": {"domain": "mine", "category": "loading", "payload": -5, "color": "#12ab34"},
    "in the default": {"category": "of the default", "payload": 0.1, "color": "#12ab34"},
    "registered": {"domain": "mine", "category": "loading", "payload": 0.1, "color": "#12ab34"},
    "a mark": {"domain": "wï", "payload": 2**64 - 1},
    "started": {"domain": "mine", "payload": 42},
}


def without_id(found):
    return {n: {k: v for k, v in args.items() if k != "External id"} for n, args in found.items()}


def test_ranges_have_their_domain_category_colour_and_payload(said, tap, work):
    out, found = said("one")
    assert out == "0 0 1 1 0 0 none\n"  # range levels per domain
    assert [r["operation"] for r in found] == ["nvtxRange"] * 3 + ["nvtxMark", "nvtxRangeStart",
                                                                   "nvtxRangeEnd"]
    assert without_id(events(tap, work)) == ONE
    assert ('message="in mine", domain="mine", category=7, category_name="loading",'
            ' color=0xff12ab34, payload="-5"') in {r["arguments"] for r in found}


def test_perfetto_has_them_as_values(said, tap, work):
    said("one")
    tap("export", "a.gputap", "-o", "a.pftrace")
    got = "extract_arg(arg_set_id, 'debug.%s')"
    found = perfetto.ask(work / "a.pftrace", ranges=f"""
        select name, {got % 'domain'} as domain, {got % 'category'} as category,
            {got % 'payload'} as payload, {got % 'color'} as color
        from slice where category = 'user_annotation'""")["ranges"]
    values = {r["name"]: {k: v for k, v in r.items() if k != "name" and v is not None}
              for r in found}
    assert float(values["a mark"].pop("payload")) == 2.0**64
    assert values == {**ONE, "a mark": {"domain": "wï"}}


def test_the_report_tells_domains_and_categories_apart(said, tap):
    said("one")
    out = tap("report", "--csv", "-t", "ranges", "a.gputap").out
    assert {(r["name"], r["scope"], r["category"]) for r in csv.DictReader(io.StringIO(out))} == {
        (n, a.get("domain", ""), a.get("category", "")) for n, a in ONE.items()}
    text = tap("report", "-t", "ranges", "a.gputap").out
    assert "scope" in text and "loading" in text


def test_domains_of_a_thread_need_not_nest(said, tap, work):
    out, found = said("overlap")
    assert out == "0 0 1 0 1 1 0\n"
    tap("export", "a.gputap", "-o", "a.pftrace")
    slices = perfetto.ask(work / "a.pftrace", ranges="""
        select name, ts, dur, extract_arg(arg_set_id, 'debug.domain') as domain from slice
        where category = 'user_annotation' order by ts""")["ranges"]
    assert len(slices) == 3 + 2000 and all(s["dur"] >= 0 for s in slices)
    a, b, c = slices[:3]
    assert [s["name"] for s in (a, b, c)] == ["a", "b", "c"]
    ends = [s["ts"] + s["dur"] for s in (a, b, c)]
    assert ends[0] <= ends[2] <= ends[1]  # `a` starts first and ends first
    assert {s["domain"] for s in slices if s["name"] == "a"} == {"left"}


def test_threads_have_the_names_that_the_program_gives_them(said, tap, work):
    said("threads")
    tap("export", "a.gputap", "-o", "a.json")
    names = {e["args"]["name"] for e in json.loads((work / "a.json").read_text())["traceEvents"]
             if e["name"] == "thread_name"}
    assert {"the first €", "a named one"} <= names


def test_payloads_are_decoded_by_their_schemas(said, tap, work):
    out, _ = said("payloads")
    assert out == "0 1 2 2 1 0 1\n"
    found = events(tap, work)
    point = {"kind": 3, "x": -4, "weight": 2.5, "tag": 'a"cd', "name": "a\nname",
             "parts": [1, 2.5, -3], "mode": 'exact "64"'}
    assert json.loads(found["pushed"]["payload"]) == point
    # the payload at the end of the last range has only the numbers; truncated or unknown payloads
    # are shown as bytes
    assert json.loads(found["a point"]["payload"]) == [1, -2, 3]
    assert json.loads(found["told by a payload"]["payload"]) == {"bytes": "0x2211000000000000"}


def test_what_a_schema_does_not_say_is_bytes(said, tap, work):
    said("cut")
    payload = json.loads(events(tap, work)["a point"]["payload"])
    assert payload == [[1, -2, 3], "a word", "0x0102ff", {"kind": 3, "bytes": "0x000000fcff"}]


def test_a_schema_in_itself_is_bytes(said, tap, work):
    said("itself")
    payload = events(tap, work)["(no name)"]["payload"]
    assert payload.startswith('{"bytes":"0x0000')


def test_locks_are_counted_by_function(said, tap):
    said("locks")
    out = tap("report", "--csv", "-t", "operations", "a.gputap").out
    assert {r["name"].removeprefix("nvtxDomainSyncUser"): int(r["calls"])
            for r in csv.DictReader(io.StringIO(out))} == {
                "Create": 1, "AcquireStart": 3, "AcquireSuccess": 3, "Releasing": 3, "Destroy": 1}


@pytest.mark.parametrize("options", [["-d", "opencl"], ["--ops", "cl*"]])
def test_a_session_that_records_no_nvtx_leaves_the_programs_switched_off(tap, program, options):
    result = tap("run", "-f", *options, "-o", "a.gputap", "--", program, "one", status=1)
    assert result.out == "0 0 0 0 0 0 one more\n"  # the same as without gputap
    assert json.loads(tap("info", "--json", "a.gputap").out)["recorded"] == 0


def test_a_variable_that_was_set_around_it_does_not_switch_them_on(tap, program, build):
    given = {"NVTX_INJECTION64_PATH": build / "libgputap.so.0"}
    result = tap("run", "-q", "-f", "-d", "opencl", "-o", "a.gputap", "--", program, "one",
                 env=given, status=1)
    assert result.out == "0 0 0 0 0 0 one more\n"


def test_a_window_between_ranges_needs_them_whatever_is_recorded(tap, program):
    result = tap("run", "-f", "-d", "opencl", "--from", "in mine", "-o", "a.gputap", "--", program,
                 "one")
    assert result.out == "0 0 1 1 0 0 none\n" and "no range" not in result.err


@pytest.mark.parametrize("options", [[], ["--paused"], ["-d", "ranges", "--no-args"]])
def test_xla_is_given_its_domain_only_by_a_session_that_names_nvtx(tap, program, options):
    """XLA does extra work for each operation if it gets a domain. The report names the unrecorded
    ranges."""
    result = tap("run", "-f", *options, "-o", "a.gputap", "--", program, "xla")
    assert result.out.splitlines()[0] == "no domain"
    if "-d" in options:
        return
    info = json.loads(tap("info", "--json", "a.gputap").out)
    [event] = [e for e in info["events"] if e["event"] == "not recorded"]
    assert "XLA's NVTX ranges" in event["text"] and "--domains cuda,nvtx" in event["text"]
    for command in ["report", "a.gputap"], ["info", "a.gputap"]:
        assert "XLA's NVTX ranges" in tap(*command).out
    if not options:
        assert "XLA's NVTX ranges" in result.err


@pytest.mark.parametrize("options", [["-d", "nvtx"], ["-d", "cuda,nvtx"], ["--ops", "nvtx*"],
                                     ["--from", "Thunk*"]])
def test_xlas_ranges_are_recorded_where_nvtx_or_a_range_is_named(said, tap, program, options):
    result = tap("run", "-f", *options, "-o", "a.gputap", "--", program, "xla")
    assert result.out.splitlines()[0] == "a domain"
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert not info["events"] and info["recorded"] == info["seen"] >= 3


def test_texts_that_many_ranges_have_are_in_the_capture_once(said, tap, work):
    _, found = said("repeated")
    assert len(found) == 3000
    names = collections.Counter(r["arguments"].split('"')[1] for r in found)
    assert names == {f"Thunk:#name=fusion,hlo_op=fusion.{i},id=42949673{i}#": 1000
                     for i in range(3)}
    payloads = collections.Counter(e["args"]["payload"] for e in user_ranges(tap, work))
    assert payloads == {f'{{"text":"{"x" * 900}","number":{i}}}': 1500 for i in range(2)}
    assert (work / "a.gputap").stat().st_size < 3000 * 100
    # an exported part of the capture includes the texts
    tap("export", "--where", "name=Thunk*fusion.1*", "-f", "a.gputap", "-o", "b.gputap")
    tap("export", "-f", "b.gputap", "-o", "b.csv")
    rows_of_b = list(csv.DictReader(io.StringIO((work / "b.csv").read_text())))
    assert len(rows_of_b) == 1000 and "x" * 900 in rows_of_b[0]["arguments"]


def test_without_gputap_nothing_is_returned(run, program):
    assert run([program, "one"], status=1).out == "0 0 0 0 0 0 one more\n"


def test_the_library_of_another_tool_stays_and_is_said(tap, program, run):
    given = {"NVTX_INJECTION64_PATH": "/of/another/tool.so"}
    result = tap("run", "-f", "-o", "a.gputap", "--", program, "one", env=given, status=1)
    assert "NVTX_INJECTION64_PATH names /of/another/tool.so" in result.err
    assert result.out == "0 0 0 0 0 0 one more\n"
    assert not tap("run", "-q", "-f", "-o", "a.gputap", "--", "true", env=given).err


def test_streams_and_devices_of_cuda_have_their_names(tap, gputap, build, repo, tmp_path, work):
    subprocess.run(["cc", "-O1", "-Wall", "-Wno-unused-function", f"-I{repo}", "-o",
                    tmp_path / "named", repo / "tests/cuda/named_program.c",
                    build / "soft/cuda/libcuda.so.1", "-ldl"], check=True)
    tap("run", "-f", "-o", "a.gputap", "--", gputap, "soft", "cuda", "--", tmp_path / "named")
    info = json.loads(tap("info", "--json", "a.gputap").out)
    labels = {o.get("label") for o in info["devices"]}
    assert labels == {"the first one"}
    tap("export", "a.gputap", "-o", "a.pftrace")
    tracks = perfetto.ask(work / "a.pftrace", tracks="select name from track")["tracks"]
    names = " ".join(r["name"] or "" for r in tracks)
    for name in "before its work", "behind its work €", "the default one":
        assert name in names


# NVIDIA's own headers, library and package -------------------------------------------

@pytest.mark.skipif(not HEADERS, reason="needs NVTX 3's headers, in a folder that"
                    " GPUTAP_NVTX_HEADERS names")
@pytest.mark.parametrize("what", ["one", "overlap", "threads", "payloads", "cut", "itself",
                                  "locks"])
def test_nvidias_headers_do_what_our_own_do(said, tmp_path, repo, program, what):
    theirs = compile_form("headers", tmp_path / "nvtx_said", repo)

    def told(p):
        out, found = said(what, program=p)
        return out, [(r["operation"], r["arguments"].split(", handle=")[0].split("color")[0])
                     for r in found]
    assert told(theirs) == told(program)


@pytest.mark.skipif(not LIBRARY, reason="needs NVTX 2's library, in a folder that GPUTAP_NVTX2"
                    " names")
def test_programs_of_nvtx_2_are_recorded(said, tap, tmp_path, repo, work):
    out, _ = said("one", program=compile_form("library", tmp_path / "nvtx_said", repo))
    assert out == "0 0 1 1 0 0 none\n"
    assert without_id(events(tap, work)) == ONE


@pytest.mark.skipif(not PACKAGE, reason="needs NVIDIA's nvtx for Python: GPUTAP_NVTX names its"
                    " folder")
def test_pythons_nvtx_is_recorded(tap, work):
    script = ("import nvtx\n"
              "d = nvtx.get_domain('mine')\n"
              "with nvtx.annotate('outer', color='red', domain='mine', category='c', payload=3):\n"
              "    with nvtx.annotate('inner'): pass\n"
              "nvtx.mark('here', payload=2.5)\n"
              "r = nvtx.start_range('started'); nvtx.end_range(r)\n")
    tap("run", "-f", "-o", "a.gputap", "--", sys.executable, "-c", script,
        env={"PYTHONPATH": str(pathlib.Path(PACKAGE))})
    found = without_id(events(tap, work))
    assert found["outer"] == {"domain": "mine", "category": "c", "payload": 3,
                              "color": "#ff0000"}
    assert found["here"]["payload"] == 2.5 and {"inner", "started"} <= set(found)
