# SPDX-License-Identifier: MIT
"""Test `gputap plugin` with a plug-in that follows the guide's rules, with one plug-in per broken
rule, and with the guide's own programs."""
import re
import subprocess

import pytest
from test_plugin_loader import vendor  # noqa: F401: a fixture


def guide_of(repo):
    return (repo / "docs/tools/vendor-plugin.md").read_text()


@pytest.fixture
def check(tap):
    def call(path, *options, status=0):
        out = tap("plugin", "check", "--seconds", "20", *options, path, status=status).out
        lines = re.sub(r"\n {12}", " ", out)
        broken = {int(n) for n in re.findall(r"^broken +(\d+)", lines, re.M)}
        return broken, lines
    return call


def test_the_rules_are_those_of_the_guide(tap, repo):
    told = re.findall(r"^ ?(\d+)  (.*)$", tap("plugin", "rules").out, re.M)
    text = re.sub(r"\n {3,4}(?=\S)", " ", guide_of(repo))
    written = re.findall(r"^(\d+)\. (.*)$", text, re.M)
    assert [(n, sentence.replace("`", "")) for n, sentence in written] == told
    assert len(told) == 51


@pytest.mark.parametrize("fault", [
    "none", "bare", "monotonic", "ticks", "graph", "newer minor", "child enables"
])
def test_a_plugin_that_keeps_the_rules_passes(check, vendor, fault):
    assert check(vendor(fault))[0] == set()


def test_the_reference_accelerators_plugin_passes(check, build, tmp_path):
    for name in ("librefdev_pu1.so", "librefdev.so.1"):
        (tmp_path / name).write_bytes((build / "soft/refdev" / name).read_bytes())
    broken, text = check(tmp_path / "librefdev_pu1.so", "-v")
    assert broken == set()
    assert "47 rules kept, 0 broken, 0 skipped, 4 not applicable" in text
    absent = {int(n) for n in re.findall(r"^n/a +(\d+)", text, re.M)}
    assert absent == {42, 43, 44, 45}  # rules on pu1.errors, .config, .window and .counters


def test_rules_about_groups_are_not_applicable_without_them(check, vendor):
    broken, text = check(vendor("bare"), "-v")
    assert broken == set()
    absent = {int(n) for n in re.findall(r"^n/a +(\d+)", text, re.M)}
    assert absent == {21, 42, 43, 44, 45, 50, 51}


@pytest.mark.parametrize("fault, rules", [
    ("prints", {5}),
    ("small group", {9}),
    ("second disable fails", {17}),
    ("no operators", {22}),
    ("one session", {37, 44, 49}),
    ("hangs in the child", {39}),
    ("thread stays", {40}),
    ("crash at exit", {41}),
    ("bad error text", {42}),
    ("any words", {43}),
    ("outside of windows", {44}),
    ("any counter", {45}),
    ("nameless counter", {45}),
    ("newer", {4}),
    ("older", {4}),
    ("refuses", {6}),
    ("scribbles", {6}),
    ("crash at registration", {6}),
    ("no name", {7}),
    ("no kinds", {7}),
    ("any group", {8}),
    ("null callbacks", {10}),
    ("enable without callbacks", {11}),
    ("flush without callbacks", {12}),
    ("callbacks while enabled", {13}),
    ("any kind", {14, 15}),
    ("second enable fails", {16}),
    ("never disables", {16, 36}),
    ("empty pops", {18}),
    ("crash at empty", {18}),
    ("uncounted depth", {19}),
    ("shared stack", {21}),
    ("completes twice", {23}),
    ("own buffer", {23}),
    ("overruns", {24}),
    ("valid beyond size", {24, 30}),
    ("silent drops", {25, 26}),
    ("crash without buffer", {25}),
    ("flushes nothing", {27}),
    ("hangs", {27, 38}),
    ("circles", {28}),
    ("walk fails", {28, 29}),
    ("next null", {29}),
    ("next anywhere", {29}),
    ("outside", {30}),
    ("misaligned", {30}),
    ("short record", {30}),
    ("long record", {30}),
    ("wild kind", {31, 36}),
    ("backwards", {32}),
    ("no time", {32}),
    ("seconds", {32}),
    ("early kernel", {32}),
    ("wild device", {33}),
    ("wild stream", {33}),
    ("stream 0", {33}),
    ("any device", {33}),
    ("wild graph", {33}),
    ("null name", {34}),
    ("bad name", {34}),
    ("no correlation", {35}),
    ("one correlation", {35}),
    ("records when disabled", {36}),
    ("scribbles its own pattern", {6}),
    ("text changes", {46}),
    ("every record twice", {47}),
    ("control characters", {34}),
    ("absurd bytes", {48}),
    ("absurd block", {48}),
    ("stale buffer", {27}),
    ("falls silent", {49}),
    ("never synchronizes", {50}),
    ("no submissions", {51}),
])
def test_the_rule_that_is_broken_is_named(check, vendor, fault, rules):
    options = ["--seconds", "2"] if fault == "hangs" else []
    broken, text = check(vendor(fault), *options, status=1)
    assert rules <= broken, text
    # each fault in this list may break more rules; any other fault breaks only its own rules
    if fault not in ("hangs", "push fails", "never disables", "any group", "second enable fails",
                     "empty pops", "own buffer"):
        assert broken == rules, text


def test_what_is_no_plugin_is_reported(check, work, tap):
    (work / "text.so").write_text("hello")
    broken, text = check(work / "text.so", status=1)
    assert broken == {1} and text == f"""\
broken   1  The file is a shared library for this machine, and only its owner may write it. \
it is not a shared library
skipped     All other rules need a plug-in that loads and registers.
{work}/text.so: 0 rules kept, 1 broken, 50 skipped
"""
    assert "cannot read none.so" in tap("plugin", "check", "none.so", status=1).err


@pytest.mark.parametrize("flag, rule", [("-DWITHOUT_POP", 3), ("-DWITHOUT_REGISTER", 3)])
def test_a_function_that_is_missing_is_named(check, vendor, flag, rule):
    broken, text = check(vendor("none", flag), status=1)
    assert broken == {rule} and "() is missing" in text
    assert len(re.findall("^skipped", text, re.M)) == 1
    assert "3 rules kept, 1 broken, 47 skipped" in text  # rules 1, 2 and 5 are kept


def test_a_call_that_does_not_return_is_reported_while_it_runs(tap, vendor):
    result = tap("plugin", "check", "--seconds", "4", vendor("hangs"), status=1)
    words = " ".join(result.err.split())
    assert "a session (rule 27): waiting for up to 4 s" in words
    assert result.out.count(": did not return") >= 2


@pytest.mark.parametrize("flag, rule", [("-DUNDEFINED", 2), ("-DSTACKS_OF_ALL", 20)])
def test_what_the_linker_decides_is_named(check, vendor, flag, rule):
    assert check(vendor("none", flag), status=1)[0] == {rule}


def test_without_work_the_rules_about_records_are_not_tried(check, vendor, work):
    quiet = vendor()
    bare = work / "quiet.so"
    data = quiet.read_bytes().replace(b"pu1Exercise", b"pu1Exercisf")
    bare.write_bytes(data)
    broken, text = check(bare)
    assert broken == set() and "export pu1Exercise()" in text and "skipped" in text


def test_another_library_may_have_the_work(check, vendor, work, repo):
    (work / "more.c").write_text("int pu1Exercise(unsigned n) { return n ? 0 : 0; }")
    subprocess.run(["cc", "-shared", "-fPIC", "more.c", "-o", "more.so"], check=True)
    broken, text = check(vendor(), "--exercise", work / "more.so", status=1)
    assert 27 in broken and "30 activities have 0 records" in text


# The guide ------------------------------------------------------------------------

def programs_of(guide):
    """Return ({name: text of a file}, [text of a shell block]) from the guide. A file consists of
    all blocks with its name."""
    files, shell = {}, []
    for info, text in re.findall(r"^```(.*?)\n(.*?)^```$", guide, re.M | re.S):
        kind, _, name = info.partition(" ")
        assert (kind, bool(name)) in {("c", True), ("py", True), ("sh", False)}, info
        if name:
            files[name] = files.get(name, "") + text
        else:
            shell.append(text)
    return files, shell


def lay_out(files, repo, build, gputap, work):
    """Write @files to a folder as a reader of the guide would, and return the reader's
    environment."""
    for name, text in files.items():
        (work / name).write_text(text)
    library = build / "src/plugin"
    (work / "libgputap-plugin.so").symlink_to(library / "libgputap-plugin.so.0")
    (work / "gputap-plugin.pc").write_text(
        f"Name: gputap-plugin\nDescription: as built\nVersion: 0.1\nCflags: -I{repo}/include\n"
        f"Libs: -L{work} -lgputap-plugin -Wl,-rpath,{library}\n")
    return {"PKG_CONFIG_PATH": work, "PATH": f"{gputap.parent}:/usr/bin:/bin", "HOME": work}


def test_every_program_of_the_guide_is_compiled_and_runs(repo, build, run, gputap, work):
    """Follow the guide as a reader would. test_torch_profile.py covers the last step, which needs
    torch."""
    files, shell = programs_of(guide_of(repo))
    assert set(files) == {"acme_pu1.c", "show.c", "program.c", "acme_profile.py"}
    assert len(shell) == 4
    env = lay_out(files, repo, build, gputap, work)
    out = run(["bash", "-e", "-c", "\n".join(shell[:3])], env=env).out
    assert "0 broken, 0 skipped" in out
    assert out.count("acme: nothing of operator 42\n") == 3
    assert out.count("acme: acmeLaunch of operator 42\n") == 3
    assert re.search(r" 1,000 .* thrice\n", out) and "all linked to their calls" in out, out
