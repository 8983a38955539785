# SPDX-License-Identifier: MIT
"""Test tools/release in a small repository: the refusals, and the files that it makes."""
import hashlib
import os
import shutil
import subprocess
import tarfile

import pytest

from conftest import REPO

CHECKS = ("check-style", "check-words", "check-order", "check-commits", "generate",
          "generate-docs", "abi")
FAKE = '#!/bin/sh\necho "$0 $*" >>"$CALLED"\n{}\n'
FILES = {
    "meson.build": "project('gputap', 'c',\n  version: '0.1.0')\n",
    "python/src/gputap/__init__.py": "__version__ = '0.1.0'\n",
    "CHANGELOG.md": "# Changes\n\n## 0.1.0, 2026-12-24\n\n- First.\n",
    "Makefile": "test test-deep:\n\t@echo make $@ >>$(CALLED)\n",
    "tools/torch-observers": FAKE.format(""),
    "tools/make-wheel": FAKE.format('echo wheel >"$3/gputap-0.1.0-py3-none-any.whl"'),
    "tools/deb": FAKE.format('echo deb >"$3/gputap_0.1.0_$2.deb"'),
    "tools/sbom": FAKE.format("echo '{}'"),
    ".gitignore": "/build/\n",
    **{f"tools/{name}": FAKE.format("") for name in CHECKS},
}


class Repository:
    """A repository with tools/release and with stand-ins for the other tools."""
    def __init__(self, root):
        self.root, self.called = root / "tree", root / "called"
        self.called.touch()
        for name, text in FILES.items():
            self.write(name, text)
        shutil.copy(REPO / "tools/release", self.root / "tools")
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
                       cwd=self.root, check=True,
                       env={**os.environ, "GIT_COMMITTER_DATE": "1700000000 +0000"})

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all", "--date=1700000000 +0000")

    def change(self, name, old, new):
        """Replace @old in a file, and commit the change."""
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))
        self.commit()

    def release(self, *arguments, **environment):
        return subprocess.run([self.root / "tools/release", *arguments], capture_output=True,
                              text=True, env={**os.environ, "CALLED": str(self.called),
                                              "RELEASE_TESTS": "1", "GPUTAP_BUILD": "build",
                                              **environment})

    def made(self):
        folder = self.root / "build/release"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def tree(tmp_path):
    return Repository(tmp_path)


def test_a_release_has_all_files_and_their_checksums(tree):
    done = tree.release()
    assert done.returncode == 0, done.stderr
    files = ["gputap-0.1.0-py3-none-any.whl", "gputap-0.1.0.cdx.json", "gputap-0.1.0.tar.gz",
             "gputap_0.1.0_amd64.deb", "gputap_0.1.0_arm64.deb"]
    assert tree.made() == ["SHA256SUMS", *files]
    folder = tree.root / "build/release"
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder,
                   check=True)
    head, *lines = done.stdout.splitlines()
    assert head.startswith("gputap 0.1.0, commit ") and "tests passed; in " in head
    for name, line in zip(files, lines, strict=True):
        data = (folder / name).read_bytes()
        assert line.split() == [hashlib.sha256(data).hexdigest(), f"{len(data):,}", name]


def test_a_release_runs_each_check_and_the_tests_first(tree):
    tree.release()
    called = [line.split()[0].rsplit("/")[-1] for line in tree.called.read_text().splitlines()]
    assert called == [*CHECKS, "make", "make", "torch-observers", "make-wheel", "deb", "deb",
                      "sbom"]


def test_tests_can_be_omitted_and_the_list_says_so(tree):
    done = tree.release(RELEASE_TESTS="0")
    assert done.returncode == 0 and "tests not run; in " in done.stdout
    assert "make test" not in tree.called.read_text()


def test_the_source_archive_has_the_committed_files_and_the_same_bytes_each_time(tree):
    archive = tree.root / "build/release/gputap-0.1.0.tar.gz"
    assert tree.release("--only", "source").returncode == 0
    first = archive.read_bytes()
    with tarfile.open(archive) as t:
        files = {m.name for m in t if m.isfile()}
        assert {m.mtime for m in t} == {1700000000}
    assert files == {f"gputap-0.1.0/{name}" for name in (*FILES, "tools/release")}
    assert tree.release("--only", "source").returncode == 0
    assert archive.read_bytes() == first


def test_files_of_an_earlier_release_do_not_remain(tree):
    tree.release()
    assert tree.release("--only", "source").returncode == 0
    assert tree.made() == ["SHA256SUMS", "gputap-0.1.0.cdx.json", "gputap-0.1.0.tar.gz"]


REFUSED = {
    "an uncommitted file": (
        lambda tree: tree.write("new.c", ""),
        "1 files differ from the last commit, for example new.c: commit or remove them"),
    "a version without a date": (
        lambda tree: tree.change("CHANGELOG.md", "2026-12-24", "not released yet"),
        "CHANGELOG.md has no date for 0.1.0 but 'not released yet': write '## 0.1.0, "
        "YYYY-MM-DD', or use --draft"),
    "changes of another version": (
        lambda tree: tree.change("CHANGELOG.md", "## 0.1.0", "## 0.2.0"),
        "CHANGELOG.md is of version 0.2.0, meson.build of 0.1.0"),
    "changes without a heading": (
        lambda tree: tree.change("CHANGELOG.md", "## 0.1.0, 2026-12-24", "First"),
        "CHANGELOG.md has no heading `## VERSION, DATE`"),
    "a package of another version": (
        lambda tree: tree.change("python/src/gputap/__init__.py", "0.1.0", "0.0.9"),
        "python/src/gputap/__init__.py is of version 0.0.9, meson.build of 0.1.0"),
    "a tag at another commit": (
        lambda tree: (tree.git("tag", "v0.1.0"), tree.change("CHANGELOG.md", "First", "Second")),
        "the tag v0.1.0 is at another commit: change the version in meson.build"),
    "a check that fails": (
        lambda tree: tree.change("tools/abi", "#!/bin/sh\n", "#!/bin/sh\nexit 2\n"),
        "tools/abi -b build failed; see above"),
    "a test that fails": (
        lambda tree: tree.change("Makefile", "\t@echo", "\t@false; exit 1; echo"),
        "make test failed; see above"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_release_is_refused_with(tree, name):
    change, said = REFUSED[name]
    change(tree)
    done = tree.release()
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == f"tools/release: {said}"
    assert tree.made() == [] and done.stdout == ""


def test_a_tag_at_this_commit_is_accepted(tree):
    tree.git("tag", "v0.1.0")
    assert tree.release("--only", "source").returncode == 0


def test_a_draft_needs_no_date_and_says_that_it_is_one(tree):
    tree.change("CHANGELOG.md", "2026-12-24", "not released yet")
    done = tree.release("--draft", "--only", "source")
    assert done.returncode == 0 and done.stdout.startswith("gputap 0.1.0 (draft), commit ")


@pytest.mark.parametrize("arguments, environment, said", [
    (["--only", "rpm"], {}, "no part 'rpm'; there are source, wheel, deb"),
    ([], {"RELEASE_TESTS": "no"}, "RELEASE_TESTS is 'no'; it can be 0 or 1"),
    (["-o", "tools/.."], {}, "is not a file of a release: use a folder of its own"),
])
def test_bad_arguments_are_a_sentence(tree, monkeypatch, arguments, environment, said):
    monkeypatch.chdir(tree.root)
    done = tree.release(*arguments, **environment)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
    assert all((tree.root / name).exists() for name in FILES)
