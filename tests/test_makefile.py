# SPDX-License-Identifier: MIT
"""Test the targets of the Makefile: what they say, and which folder they use. The scripts that they
start are replaced by ones that write down their environment."""

import re
import shutil

import pytest

STARTED = ("setup", "demo", "test", "test-deep", "bench", "deb", "rpm")


@pytest.fixture
def make(work, run, repo):
    """Return make(TARGET.., tools=..): run a copy of the Makefile with scripts of ours."""
    (work / "tools").mkdir()
    shutil.copy(repo / "Makefile", work)
    for name in STARTED:
        script = work / "tools" / name
        script.write_text(f'#!/bin/sh\necho "{name} $* in ${{GPUTAP_BUILD:-}}"\n')
        script.chmod(0o755)
    (work / "bin").mkdir()
    for name in ("make", "sh", "sed", "expand"):
        (work / "bin" / name).symlink_to(shutil.which(name))

    def start(*arguments, tools=("meson", "ninja"), status=0):
        for name in tools:
            path = work / "bin" / name
            path.write_text(f'#!/bin/sh\necho "{name} $*"\n')
            path.chmod(0o755)
        return run(["make", *arguments], status=status, env={"PATH": work / "bin"})
    return start


def test_make_without_meson_says_what_to_do(make):
    result = make(status=2, tools=())
    assert "run 'make setup' first" in result.err
    assert "run 'make setup' first" in make(status=2, tools=("meson", )).err


@pytest.mark.parametrize("target", ["demo", "test", "test-deep", "bench", "deb", "rpm"])
def test_each_target_uses_the_build_folder(make, target):
    out = make("BUILD=another", target).out
    assert re.search(rf"^{target} +in another$", out, re.M)
    assert not re.search(r"\bbuild\b", out), out


def test_make_help_names_every_target(make, repo):
    text = (repo / "Makefile").read_text().replace("\\\n", " ")
    targets = re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split()
    named = re.findall(r"^  make (\S+) {2,}\S", make("help").out, re.M)
    assert sorted(named) == sorted(targets)
