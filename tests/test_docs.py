# SPDX-License-Identifier: MIT
"""Test that everything to which documents refer exists: links, headings, paths, files and names of
the source tree."""
import functools
import os
import re
import shutil
import subprocess
import urllib.parse

import pytest

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# matches `src/core/tap.h`, `tests/soft/isa_*` and `test_interception_{hip,hsa}.py`, but no build
# outputs
PATH = re.compile(
    r"`((?:api|bench|cli|docs|examples|gen|include|soft|src|tests|tools)/[\w./*{},-]*)`")


# matches `gt_call_begin()`, `struct gt_segment`, `GT_EVENT_LOSS` and `test_that_it_works`, but not
# `gt_<domain>_x`
NAME = re.compile(r"\b((?:gt|gputap|sdk|soft|pu1|test)_\w+|(?:GT|GPUTAP|SOFT_AMDGPU|PU1)_\w+)"
                  r"(?![\w<*{])")
FILE = re.compile(r"(?<![\w/.*}<>-])([a-z][\w-]*\.(?:c|h|inc|py|hip|isa))\b(?![\w/*{])")
NOT_OURS = {"first.c", "train.py", "validate.py"}  # files of the reader and of upstream
SPAN = re.compile(r"`([^`\n]+)`")


def documents(repo):
    names = subprocess.run(["git", "-C", repo, "ls-files", "-co", "--exclude-standard", "*.md"],
                           check=True,
                           text=True,
                           capture_output=True).stdout
    return [repo / name for name in names.splitlines()]


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors(text):
    """Return the anchors that GitHub generates for headings: letters, digits, '-' and '_'. The
    second of two equal headings gets the suffix -1."""
    seen, out = {}, set()
    for title in re.findall(r"^#+ +(.*?) *$", without_code(text), flags=re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        out.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
        seen[slug] = seen.get(slug, 0) + 1
    return out


def broken_links(repo, document):
    for target in LINK.findall(without_code(document.read_text())):
        url = urllib.parse.urlsplit(target)
        if url.scheme or url.netloc:
            continue
        there = (document.parent /
                 urllib.parse.unquote(url.path)).resolve() if url.path else document
        if not there.exists() or not there.is_relative_to(repo):
            yield f"{target}: no such file"
        elif url.fragment and url.fragment not in anchors(there.read_text()):
            yield f"{target}: no such heading"


def expand(pattern):
    """Expand braces: return a_b.py and a_c.py for `a_{b,c}.py`."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    return [
        name for part in found[1].split(",")
        for name in expand(pattern[:found.start()] + part + pattern[found.end():])
    ]


def missing_paths(repo, document):
    for path in PATH.findall(document.read_text()):
        for name in expand(path.rstrip("/")):
            if not any(repo.glob(name)):
                yield f"{path}: no such path"


@functools.lru_cache
def known(repo):
    """Return the words in the source tree and the names of its files."""
    names = subprocess.run(["git", "-C", repo, "ls-files", "-co", "--exclude-standard"],
                           check=True,
                           text=True,
                           capture_output=True).stdout.splitlines()
    words = set()
    for name in names:
        if not name.endswith((".md", ".png", ".gputap")) and (repo / name).is_file():
            words.update(re.findall(r"\w+", (repo / name).read_text(errors="replace")))
    files = {name.rsplit("/", 1)[-1] for name in names}
    return words | {part for name in names for part in name.split("/")} | {
        name.rsplit(".", 1)[0] for name in files}, files


def without_former_names(text):
    """Return @text with empty first cells in tables that begin with `| before | now |`."""
    return re.sub(r"^\| before \| now \|\n(?:\|.*\n)+",
                  lambda table: re.sub(r"^\|[^|]*\|", "| |", table[0], flags=re.M), text,
                  flags=re.M)


def unknown_names(repo, document):
    """Yield gputap names in code spans of @document that the tree contains neither as a whole name
    nor as a prefix such as `test_hip_`."""
    words, files = known(repo)
    for span in SPAN.findall(without_former_names(without_code(document.read_text()))):
        for name in NAME.findall(span):
            if name not in words and not (name.endswith("_")
                                          and any(word.startswith(name) for word in words)):
                yield f"{name}: no such name"
        for name in FILE.findall(span):
            if name not in files | NOT_OURS:
                yield f"{name}: no such file"


@pytest.mark.parametrize("text, wanted", [
    ("## HSA, and ROCm 6 and later\n", {"hsa-and-rocm-6-and-later"}),
    ("# A tool's `callback`\n```\n# no heading\n```\n", {"a-tools-callback"}),
    ("# Twice\n# Twice\n", {"twice", "twice-1"}),
])
def test_a_headings_anchor_is_githubs(text, wanted):
    assert anchors(text) == wanted


def test_a_broken_link_and_a_path_that_is_gone_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](#here) [b](#there) [c](none.md) [d](https://example.org/none)"
        " `src/core/none.c`\n"
    )
    assert [b.split(":")[0] for b in broken_links(tmp_path, page)] == ["#there", "none.md"]
    assert list(missing_paths(tmp_path, page)) == ["src/core/none.c: no such path"]


def test_a_name_that_is_gone_is_found(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "tap.c").write_text("void gt_here(void);\n")
    page = tmp_path / "page.md"
    page.write_text("`gt_here()` in `tap.c`, `gt_there()` in `gone.c`, `gt_<domain>_x`\n")
    assert list(unknown_names(tmp_path, page)) == ["gt_there: no such name", "gone.c: no such file"]
    page.write_text("| before | now |\n| --- | --- |\n| `gt_old()` | `gt_here()` |\n")
    assert list(unknown_names(tmp_path, page)) == []
    page.write_text("| before | now |\n| --- | --- |\n| `gt_old()` | `gt_there()` |\n")
    assert list(unknown_names(tmp_path, page)) == ["gt_there: no such name"]


@pytest.mark.parametrize("find", [broken_links, missing_paths, unknown_names])
def test_the_documents_point_at_what_is_there(repo, find):
    broken = [
        f"{document.relative_to(repo)}: {what}" for document in documents(repo)
        for what in find(repo, document)
    ]
    assert not broken, "\n".join(broken)


def test_code_that_a_page_quotes_is_in_the_file_that_it_names(repo):
    """A block whose first line is "```c tests/toy/library/toy.h" quotes a part of that file."""
    quoted = 0
    for document in documents(repo):
        for name, text in re.findall(r"^```\w+ (\S+/\S+)\n(.*?)^```$", document.read_text(),
                                     re.M | re.S):
            quoted += 1
            assert text in (repo / name).read_text(), f"{document}: {name} has no longer:\n{text}"
    assert quoted > 19


@pytest.mark.parametrize("word, page", [
    ("PyTorch", "docs/tutorials/slow-torch-step.md"),
    ("Slurm", "docs/tutorials/mpi-slurm-hip.md"),
    ("rocprofiler-sdk", "docs/tools/porting-rocprofiler.md"),
    ("PrivateUse1", "docs/tools/vendor-plugin.md"),
])
def test_readers_are_one_click_from_their_page(repo, word, page):
    text = (repo / "README.md").read_text()
    assert len(text.splitlines()) <= 100
    row = re.search(rf"^\| [^|]*\b{word}\b[^|]* \| (.*) \|$", text, re.M)
    assert page in LINK.findall(row[1])[0]


def test_values_of_the_data_files_are_in_the_pages(repo, run):
    """tools/generate-docs writes the values."""
    run([repo / "tools/generate-docs", "--check"])


def test_the_tables_of_captures_are_those_of_the_library(repo, build, run):
    """tools/generate-tables writes the page."""
    run([repo / "tools/generate-tables", "--check"],
        env={"GPUTAP_CAPTURE_LIBRARY": build / "libgputap-capture.so.0"})


def test_generate_docs_names_a_page_that_has_another_value(repo, run, work):
    for name in ("tools/generate-docs", "docs/data/figures.toml", "docs/data/support.toml"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repo / name, work / name)
    (work / "gen").symlink_to(repo / "gen")
    (work / "api").mkdir()
    shutil.copy(repo / "api/refdev.api", work / "api")
    run(["git", "init", "-q", work])
    text = "".join(f"<!--={key}-->{value}<!--/-->" for key, value in (
        ("call", "1 ns"), ("functions.refdev", "57")))
    (work / "page.md").write_text(text)
    assert "no document uses" in run([work / "tools/generate-docs", "--check"], status=1).err
    (work / "docs/data/figures.toml").write_text('call = "25 ns"\n')
    (work / "docs/data/support.toml").write_text("matrix = []\n")
    (work / "all.md").write_text("<!--=matrix-->\n<!--/-->")
    assert "page.md" in run([work / "tools/generate-docs", "--check"], status=1).err
    run([work / "tools/generate-docs"])
    assert (work / "page.md").read_text() == text.replace("1 ns", "25 ns")
    (work / "page.md").write_text("<!--=none-->1<!--/-->")
    assert "no value named none" in run([work / "tools/generate-docs"], status=1).err


def test_the_sites_navigation_has_each_page_once(repo):
    """`make docs` builds the site and checks its links."""
    nav = (repo / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    pages = re.findall(r"(\S+\.md)$", nav, re.M)
    docs = repo / "docs"
    wanted = {str(page.relative_to(docs)) for page in documents(repo) if docs in page.parents}
    wanted |= {f"man/{page.name}.md" for page in (docs / "man").iterdir()}
    wanted |= {str(page.relative_to(docs).with_suffix(".md")) for page in docs.rglob("*.ipynb")}
    wanted |= {"index.md", "man/index.md", "contributing.md", "changelog.md", "security.md"}
    assert sorted(pages) == sorted(wanted)


@pytest.mark.parametrize("columns", [80, 120])
def test_the_help_of_every_command_is_the_golden_one(repo, tap, columns):
    """The help text is the same on every machine and at every terminal width. GPUTAP_GOLDEN=1
    rewrites the golden file."""
    env, path, text = {"COLUMNS": columns}, repo / "tests/golden/help.txt", ""
    commands = re.findall(r"^  ([\w-]+) ", tap("--help").out.split("\nCommands\n")[1], re.M)
    for command in ("", *commands):
        words = [*command.split(), "--help"]
        text += f"$ gputap {' '.join(words)}\n{tap(*words, env=env).out}\n"
    if os.environ.get("GPUTAP_GOLDEN"):  # review the difference before committing
        path.write_text(text)
    assert text == path.read_text(), f"differs from {path}"
