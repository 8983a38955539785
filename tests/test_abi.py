# SPDX-License-Identifier: MIT
"""Test the public interfaces against the reference in tests/golden/abi, and test that tools/abi
reports each kind of incompatible change. docs/reference/abi.md states the policy."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, REPO

SAME, ADDITIONS, INCOMPATIBLE, ERROR = 0, 1, 2, 3
INTERFACES = ("gputap", "gputap-capture", "gputap-plugin", "gputap-pti", "gputap-roctx",
              "gputap-rocprofiler-sdk", "gputap-rocprofiler-sdk-rocattach",
              "gputap-rocprofiler-sdk-roctx")


def compare(*arguments, build=BUILD, **environment):
    """Run tools/abi. Return (exit status, output)."""
    done = subprocess.run([REPO / "tools/abi", "-b", build, *arguments],
                          stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          text=True,
                          timeout=600,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout


def change(folder, pattern, new):
    """Copy the headers to @folder and replace @pattern in tool.h. Return the folder with the
    copies."""
    include = folder / "include"
    shutil.copytree(REPO / "include", include)
    header = include / "gputap/tool.h"
    text, count = re.subn(pattern, new, header.read_text())
    assert count == 1, (pattern, count)
    header.write_text(text)
    return include


@pytest.mark.parametrize("interface", INTERFACES)
def test_the_interface_has_not_changed(interface):
    status, out = compare(interface)
    assert status == SAME, out


def test_each_interface_is_compared():
    assert sorted(compare("--list")[1].split()) == sorted(INTERFACES)
    assert sorted(path.stem for path in (REPO / "tests/golden/abi").iterdir()) == sorted(INTERFACES)


def test_each_public_header_belongs_to_an_interface():
    compared = set(re.findall(r'"(gputap/\w+\.h)"', (REPO / "tools/abi").read_text()))
    assert compared == {f"gputap/{path.name}" for path in (REPO / "include/gputap").glob("*.h")}


def test_the_reference_does_not_depend_on_the_compiler():
    assert compare("gputap", "gputap-rocprofiler-sdk", CC="clang")[0] == SAME


RETIRED = r"(struct gputap_record_retired \{[^}]*)"
CHANGES = {  # (pattern in tool.h, its replacement, part of the report)
    "a field of another type": (RETIRED + "uint64_t c", r"\1int64_t c",
                                "changed: field struct gputap_record_retired.time: at 8, 8 bytes, "
                                "uint64_t -> at 8, 8 bytes, int64_t"),
    "a field that moved": (RETIRED + "uint64_t c", r"\1uint64_t first, c",
                           "changed: field struct gputap_record_retired.time: at 8, 8 bytes, "
                           "uint64_t -> at 16"),
    "a longer struct without a size": (RETIRED + r"\}", r"\1 int more; }",
                                       "changed: type struct gputap_record_retired: 16 bytes"),
    "a constant with another number": (r"(GPUTAP_RECORD_RETIRED) = 3", r"\1 = 4",
                                       "constant gputap_record_kind.GPUTAP_RECORD_RETIRED: 3 -> 4"),
    "a function with another result": (r"int (gputap_buffer_flush\()", r"long \1",
                                       "changed: function gputap_buffer_flush: int (struct"),
    "a missing macro": ("#define (GPUTAP_TOOL_ABI) 1", r"enum { \1 = 1 };",
                        "missing: macro GPUTAP_TOOL_ABI: 1"),
    "a missing field of a struct with a size":
        (r"(struct gputap_clock_pair \{[^}]*)uint64_t monotonic_raw;", r"\1",
         "missing: field struct gputap_clock_pair.monotonic_raw: at 32"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_incompatible_change_of_a_header_is_reported(tmp_path, name):
    pattern, new, said = CHANGES[name]
    status, out = compare("gputap", "--include", change(tmp_path, pattern, new))
    assert status == INCOMPATIBLE, out
    assert [line for line in out.splitlines()
            if line.startswith("gputap: incompatible: ") and said in line], out


ADDED = {
    "a field at the end of a struct with a size":
        (r"(struct gputap_clock_pair \{[^}]*)\}", r"\1 uint64_t more; }",
         "new: field struct gputap_clock_pair.more: at 48, 8 bytes, uint64_t"),
    "a constant": ("(GPUTAP_RECORD_RETIRED = 3)", r"\1, GPUTAP_RECORD_MORE = 9",
                   "new: constant gputap_record_kind.GPUTAP_RECORD_MORE: 9"),
    "a function": ("(GPUTAP_API uint64_t gputap_now)", r"int gputap_more(void);\n\1",
                   "new: function gputap_more: int (void)"),
}


@pytest.mark.parametrize("name", ADDED)
def test_an_addition_must_be_recorded(tmp_path, name):
    pattern, new, said = ADDED[name]
    status, out = compare("gputap", "--include", change(tmp_path, pattern, new))
    assert status == ADDITIONS and f"gputap: addition: {said}" in out.splitlines(), out
    assert "incompatible" not in out and "tools/abi --update" in out


@pytest.fixture
def without_a_symbol(tmp_path):
    """Return a build folder whose libroctx64 lacks roctxMark."""
    lines = (REPO / "tests/golden/abi/gputap-roctx.txt").read_text().splitlines()
    names = [line.split()[1].rstrip(":") for line in lines if line.startswith("symbol ")]
    source, map_file = tmp_path / "library.c", tmp_path / "library.map"
    source.write_text("".join(f"void {n}(void) {{}}\n" for n in names if n != "roctxMark"))
    map_file.write_text("ROCTX_4.1 { global: roctx*; gputap_roctx; };\n")
    library = tmp_path / "src/compat/roctx/libroctx64.so.4"
    library.parent.mkdir(parents=True)
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library,
                    f"-Wl,--version-script={map_file}"], check=True)
    return tmp_path


def test_a_symbol_that_vanished_is_reported(without_a_symbol):
    status, out = compare("gputap-roctx", build=without_a_symbol)
    assert status == INCOMPATIBLE, out
    assert out.splitlines()[0] == ("gputap-roctx: incompatible: missing: symbol roctxMark: "
                                   "ROCTX_4.1")


def test_update_does_not_record_an_incompatible_change(without_a_symbol):
    reference = REPO / "tests/golden/abi/gputap-roctx.txt"
    before = reference.read_bytes()
    assert compare("--update", "gputap-roctx", build=without_a_symbol)[0] == INCOMPATIBLE
    assert reference.read_bytes() == before


def test_errors_name_the_way_out(tmp_path):
    assert compare("gputap-nothing") == (ERROR, "tools/abi: no interface gputap-nothing; there are "
                                         "gputap, gputap-capture, gputap-plugin, "
                                         "gputap-rocprofiler-sdk, "
                                         "gputap-rocprofiler-sdk-rocattach, "
                                         "gputap-rocprofiler-sdk-roctx, gputap-roctx, gputap-pti\n")
    status, out = compare("gputap", build=tmp_path)
    assert status == ERROR and out.endswith("libgputap.so.0 is not built: run make\n")
