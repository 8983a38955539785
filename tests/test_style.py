# SPDX-License-Identifier: MIT
"""Test the house rules that scripts can check. Each script also finds a sample violation."""

import json
import re
import shutil
import subprocess

import pytest

from conftest import REPO


def test_no_folder_uses_what_is_above_or_beside_it_and_no_files_call_in_circles(repo, run, build):
    run([repo / "tools/check-order", "-b", build])


def test_files_keep_the_house_style(repo, run):
    run([repo / "tools/check-style"])


def test_texts_keep_the_budget_of_turns_of_phrase(repo, run):
    run([repo / "tools/check-words"])


def test_check_words_shows_a_text_over_its_budget(repo, run, work):
    (work / "a.md").write_text("Whoever reads this, too, goes on.\n")
    result = run([repo / "tools/check-words", "-v", work / "a.md"], status=1)
    assert "trailing ', too'" in result.out and "turns of phrase, 1 at most" in result.out
    (work / "a.md").write_text("A reader continues.\n")
    run([repo / "tools/check-words", work / "a.md"])


def test_check_words_shows_comments_that_begin_with_a_relative_clause(repo, run, work):
    (work / "a.c").write_text("/* What a call gives. */\nint x; /* what it is */\n")
    (work / "a.py").write_text('"""Of whom it is."""\nX = "What a text."  # That is what.\n')
    for name, lines in (("a.c", {"1"}), ("a.py", {"1", "2"})):
        out = run([repo / "tools/check-words", work / name], status=1).out
        assert {line.split(":")[1] for line in out.splitlines()} == lines, out
    (work / "a.c").write_text("/* Return the call. */\n")
    run([repo / "tools/check-words", work / "a.c"])


def test_commit_messages_keep_their_form(repo, run):
    run([repo / "tools/check-commits"])


@pytest.mark.parametrize("message, complaint", [
    ("core: keep a count\n\nIt was lost.", None),
    ("core: keep a count", "no body"),
    ("core: keep a count; docs: say it\n\nBoth.", "several things"),
    ("keep a count\n\nIt was lost.", 'not "area: summary"'),
    ("core: the count is kept\n\nIt was lost.", "not imperative"),
    ("core: keep " + "x" * 70 + "\n\nIt was lost.", "over 72 characters"),
])
def test_check_commits_shows_a_message_that_breaks_a_rule(repo, run, work, message, complaint):
    (work / "tools").mkdir()
    shutil.copy(repo / "tools/check-commits", work / "tools")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", work]
    run(git[:5] + ["-C", work, "init", "-q"])
    run(git + ["add", "."])
    run(git + ["commit", "-q", "-m", "first"])
    run(git + ["commit", "-q", "--allow-empty", "-m", message])
    result = run([work / "tools/check-commits"], status=1 if complaint else 0)
    assert (complaint or "") in result.out


@pytest.mark.parametrize("file, include, complaint", [
    ("src/util/x.c", '"core/tap.h"', "src/util must not include core/tap.h"),
    ("src/core/x.h", '"util/../collector/collector.h"', None),
    ("src/core/y.h", '"collector/collector.h"', "src/core must not include collector/collector.h"),
    ("src/export/x.c", '"core/thread.h"', "src/export must not include core/thread.h"),
    ("src/ring/x.c", "<sqlite3.h>", "sqlite3.h belongs only in src/export"),
    ("src/export/y.c", "<sqlite3.h>", None),
    ("cli/x.c", '"export/export.h"', None),
    ("src/new/x.c", '"util/error.h"', "folder is not in the order"),
])
def test_check_order_shows_a_broken_order(repo, run, work, file, include, complaint):
    (work / file).parent.mkdir(parents=True)
    (work / file).write_text(f"#include {include}\n")
    result = run([repo / "tools/check-order", work], status=1 if complaint else 0)
    assert (complaint or "") in result.out


@pytest.mark.parametrize("files, complaint", [
    ({"src/core/a.c": "void gt_b(void); void gt_a(void) { gt_b(); }",
      "src/tool/b.c": "void gt_b(void) {}"},
     "src/core/a.c: src/core must not call gt_b() of src/tool/b.c"),
    ({"src/util/a.c": "void gt_b(void); void gt_a(void) { gt_b(); }",
      "src/core/b.c": "void gt_b(void) {}"},
     "src/util/a.c: src/util must not call gt_b() of src/core/b.c"),
    ({"src/core/a.c": "int open(const char *, int, ...); int gt_a(void) { return open(\"\", 0); }",
      "src/tool/b.c": "int open(const char *a, int b, ...) { return 0; }"}, None),
    ({"src/util/a.c": "void gt_b(void); void gt_a(void) { gt_b(); }",
      "src/util/b.c": "void gt_a(void); void gt_b(void) { gt_a(); }"},
     "src/util: a.c b.c: call each other in a circle"),
    ({"src/runtime/one/a.c": "void gt_b(void); void gt_a(void) { gt_b(); }",
      "src/runtime/two/b.c": "void gt_b(void) {}"},
     "src/runtime/one must not use its sibling's gt_b()"),
    ({"src/runtime/one/a.c": '#include "runtime/two/b.h"', "src/runtime/two/b.h": ""},
     "src/runtime/one must not use its sibling's runtime/two/b.h"),
])
def test_check_order_shows_calls_upwards_between_siblings_and_in_circles(repo, run, work, files,
                                                                        complaint):
    commands = []
    for file, text in files.items():
        (work / file).parent.mkdir(parents=True, exist_ok=True)
        (work / file).write_text(text + "\n")
    for file in files:
        if file.endswith(".c"):
            object_file = file.replace("/", "_") + ".o"
            run(["gcc", "-w", f"-I{work}/src", "-c", file, "-o", object_file])
            commands.append({"directory": str(work), "file": file, "output": object_file})
    (work / "compile_commands.json").write_text(json.dumps(commands))
    found = run([repo / "tools/check-order", "-b", work, work], status=None).out.splitlines()
    assert (complaint in "\n".join(found)) if complaint else found == []


SPDX = "/* SPDX-License-Identifier: MIT */\n"


@pytest.mark.parametrize("file, text, complaint", [
    ("src/a.c", "int a;\n", "a.c:1: no SPDX-License-Identifier: MIT"),
    ("src/a.c", SPDX + "int a;  \n", "a.c:2: white space"),
    ("src/a.c", SPDX + "/* TO" + "DO: later */\n", "the one tag"),
    ("src/a.c", SPDX + "/* NEEDS" + "WORK */\n", "needs a reason"),
    ("src/a.c", SPDX + "/* NEEDS" + "WORK: no device here has it */\n", None),
    ("src/a.c", SPDX + '#define A "/wo' + 'rk/main"\n', "path of one machine"),
    ("src/a.c", SPDX + "void f(void)\n{\n" + "\tx();\n" * 150 + "}\n", "function of 153 lines"),
    ("src/a.c", SPDX + "void f(void)\n{\n" + "\tx();\n" * 100 + "}\n", None),
    ("src/a.c", SPDX + "int a;\n" * 1500, "1501 lines, 1500 at most"),
    ("a.py", "# SPDX-License-Identifier: MIT\ndef f():\n" + "    x()\n" * 150,
     "function of 151 lines"),
    ("src/a.c", SPDX + "int a; /* " + "x" * 90 + " */\n", "a.c:2: 103 columns, 100 at most"),
    ("src/a.c", SPDX + "\t" * 11 + "a = 1234567;\n", None),
    ("src/a.c", SPDX + "\t" * 12 + "a = 1234567;\n", "columns, 100 at most"),
    ("a.md", "word " * 21 + "end\n", "columns, 100 at most"),
    ("a.md", "| a fact | " * 10 + "|\n", None),
    ("a.md", "- [" + "word " * 20 + "](docs/a.md)\n", None),
    ("a.md", "| " + "word " * 33 + "|\n", "a cell of 164 letters"),
    ("a.md", "| [word](" + "x" * 200 + ") |\n", None),
    ("a.md", "| " + "`a_function()`, " * 20 + "|\n", None),
    ("generated/a.c", "/* Do not edit */\nint a; /* " + "x" * 100 + " */\n", None),
])
def test_check_style_shows_a_broken_rule(repo, run, work, file, text, complaint):
    subprocess.run(["git", "init", "-q", work], check=True)
    (work / file).parent.mkdir(parents=True, exist_ok=True)
    (work / file).write_text(text)
    result = run([repo / "tools/check-style", work], status=1 if complaint else 0)
    assert (complaint or "") in result.out


@pytest.mark.skipif(not shutil.which("clang-format-14"), reason="no clang-format-14")
def test_check_style_shows_c_that_is_not_laid_out(repo, run, work):
    subprocess.run(["git", "init", "-q", work], check=True)
    (work / ".clang-format").write_text((repo / ".clang-format").read_text())
    (work / "a.c").write_text(SPDX + "int f( void )\n{\n  return 1;\n}\n")
    (work / "b.c").write_text(SPDX + "int g(void)\n{\n\treturn 1;\n}\n")
    (work / "c.hip").write_text(SPDX + "int h(void) { return 1; }\n")
    told = run([repo / "tools/check-style", work], status=1).out
    assert "a.c:2:7: not laid out" in told and "b.c" not in told and "c.hip: not laid" in told


def test_check_style_shows_two_files_of_one_name(repo, run, work):
    subprocess.run(["git", "init", "-q", work], check=True)
    for folder in ("src/a", "src/b"):
        (work / folder).mkdir(parents=True)
        (work / folder / "same.c").write_text(SPDX)
    assert "src/a/same.c has the same name" in run([repo / "tools/check-style", work], status=1).out

HOUSE = ("Return:", "Owner:", "Thread:", "Signal:", "Since:")


def functions(text):
    """Return (name, comment or "") for each function that a public header declares."""
    for found in re.finditer(r"(?m)^(?:GPUTAP|PU1)_API\s[^;]*?\b(\w+)\(", text):
        comment = re.search(r"/\*(?:[^*]|\*(?!/))*\*/\n\Z", text[:found.start()])
        yield found[1], comment[0] if comment else ""


@pytest.mark.parametrize("header", ["gputap.h", "tool.h", "plugin.h", "PrivateUse1TracingApi.h"])
def test_every_public_function_has_the_template_of_the_house(header):
    declared = list(functions((REPO / "include/gputap" / header).read_text()))
    assert declared
    lacks = [(name, word) for name, comment in declared
             for word in (f"/**\n * {name}() - ",) + HOUSE if word not in comment]
    assert not lacks
