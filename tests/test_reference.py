# SPDX-License-Identifier: MIT
"""Test the reference manual, which Doxygen generates from the public headers."""
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import REPO


def made(root, out):
    return subprocess.run([root / "tools/reference", out],
                          capture_output=True,
                          text=True,
                          timeout=600)


def documented(out):
    """Return the names of functions that have a description in the manual."""
    found = set()
    for page in (out / "xml").glob("*.xml"):
        for member in xml.etree.ElementTree.parse(page).iter("memberdef"):
            texts = [
                part.itertext()
                for part in member
                if part.tag in ("briefdescription", "detaileddescription")
            ]
            if member.get("kind") == "function" and any("".join(t).strip() for t in texts):
                found.add(member.findtext("name"))
    return found


def undocumented(result):
    """Return Doxygen's warnings."""
    return [line for line in (result.stdout + result.stderr).splitlines() if line.strip()]


def test_no_symbol_of_the_public_headers_is_undocumented(tmp_path):
    result = made(REPO, tmp_path)
    assert result.returncode == 0 and undocumented(result) == []
    symbols = (REPO / "docs/reference/symbols.txt").read_text()
    text = symbols.partition("# OpenCL loader layer")[0]
    exported = {line.split()[0] for line in text.splitlines() if line.startswith("gputap_")}
    exported |= set(re.findall(r"^gputap_plugins_\w+", symbols, re.M))
    exported |= {"pu1GetVersion", "pu1FlushAll", "kineto_register_privateuse1_plugin"}
    assert len(exported) >= 48
    assert exported <= documented(tmp_path)
    assert (tmp_path / "html/index.html").exists()


def test_every_public_function_says_what_the_house_template_asks_for():
    fields = ("Return", "Owner", "Thread", "Signal", "Since")
    seen, lacking = 0, []
    for header in sorted((REPO / "include/gputap").glob("*.h")):
        text = header.read_text()
        comments = re.findall(r"/\*\*.*?\*/", text, re.S)
        for name in re.findall(r"^(?:GPUTAP_API|PU1_API)\b[^;{(]*?(\w+)\(", text, re.M):
            own = [c for c in comments if re.search(rf"\b{name}\(\) - ", c)]
            said = own[0] if own else ""
            seen += 1
            lacking += [f"{header.name}: {name}(): {f}" for f in fields if f"{f}:" not in said]
    assert lacking == [] and seen >= 70


def test_no_enum_of_the_public_headers_has_a_number_twice_or_no_name():
    seen = 0
    for header in (REPO / "include/gputap").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for name, body in re.findall(r"\benum\s*(\w*)\s*\{(.*?)\}", text, re.S):
            numbers = re.findall(r"=\s*(-?\d+)", body)
            assert name and len(numbers) == len(set(numbers)), (header.name, name, body)
            seen += 1
    assert seen >= 20


def test_the_public_headers_have_one_name_for_a_gpu_activity():
    for header in (REPO / "include/gputap").glob("*.h"):
        text = re.sub(r"work-items?", "", header.read_text())
        assert not re.findall(r"(?i)\b\w*_work\w*\b|\bwork\b|device_activity", text), header.name


def test_a_function_that_returns_a_boolean_says_so_by_its_name():
    wrong = []
    for header in (REPO / "include/gputap").glob("*.h"):
        for name in re.findall(r"(\w+)\(\) - return whether", header.read_text()):
            wrong += [] if re.search(r"_(is|has)_|_active$", name) else [name]
    assert wrong == []


@pytest.mark.parametrize("compiler, standard", [("cc", "c99"), ("c++", "c++98")])
def test_typed_flags_combine_in_c_and_in_cpp(work, compiler, standard):
    program = work / ("flags.c" if compiler == "cc" else "flags.cc")
    program.write_text("""
#include <gputap/tool.h>
#include <gputap/plugin.h>
enum gputap_context_flags flags(void);
enum gputap_context_flags flags(void)
{
	return GPUTAP_CONTEXT_DENSE | GPUTAP_CONTEXT_INNERMOST;
}
int subscribe(struct gputap_context *context, gputap_call_fn fn);
int subscribe(struct gputap_context *context, gputap_call_fn fn)
{
	return gputap_context_calls(context, GPUTAP_DOMAIN_HIP, 0, 0,
				    GPUTAP_CALLS_WRITE | GPUTAP_CALLS_TIMED, fn, 0);
}
""")
    subprocess.run([compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror",
                    "-Wno-long-long", f"-I{REPO}/include", "-fsyntax-only", program], check=True)


def test_a_function_without_a_comment_is_reported(tmp_path):
    for part in ("tools/reference", "docs/reference", "include/gputap"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (REPO / part).is_dir() else shutil.copy)(REPO / part, tmp_path / part)
    header = tmp_path / "include/gputap/tool.h"
    header.write_text(header.read_text().replace(
        "/* gputap's own threads",
        "GPUTAP_API int gputap_forgotten(void);\n\n/* gputap's own threads"))
    told = undocumented(made(tmp_path, tmp_path / "out"))
    assert told and all("gputap_forgotten" in line for line in told)


def test_the_first_page_has_a_tool_that_works(build, run, work):
    page = (REPO / "docs/reference/main.md").read_text()
    (work / "first.c").write_text("".join(line[4:] + "\n"
                                          for line in page.splitlines()
                                          if line.startswith("    ") or not line).lstrip())
    subprocess.run([
        "cc", "-Wall", "-shared", "-fPIC", f"-I{REPO}/include", "first.c", "-o", "first.so",
        f"-L{build}", "-lgputap"
    ],
                   check=True)
    told = run([build / "tests/opencl/cl_basic", 3],
               env={"LD_PRELOAD": build / "libgputap.so.0", "GPUTAP_TOOLS": work / "first.so"}).out
    assert "clEnqueueNDRangeKernel" in told.splitlines()
