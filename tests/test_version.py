# SPDX-License-Identifier: MIT
"""Test that meson.build is the only place of the version, and that the other places agree."""
import re
import subprocess
import sys

import pytest

from conftest import REPO


def version():
    return re.search(r"^ *version: '([^']+)'", (REPO / "meson.build").read_text(), re.M)[1]


def read(name):
    return (REPO / name).read_text()


def test_the_version_has_three_numbers():
    assert re.fullmatch(r"\d+\.\d+\.\d+", version())


def test_the_command_prints_the_version(run, gputap):
    assert run([gputap, "--version"]).out == f"gputap {version()}\n"


def test_the_c_header_has_the_version():
    header = read("include/gputap/gputap.h")
    numbers = [re.search(rf"#define GPUTAP_VERSION_{part} (\d+)", header)[1]
               for part in ("MAJOR", "MINOR")]
    assert numbers == version().split(".")[:2]


@pytest.mark.parametrize("package", ("gputap", "gputap-capture", "gputap-plugin", "gputap-roctx"))
def test_pkg_config_prints_the_version(build, package):
    assert f"Version: {version()}\n" in next(build.glob(f"**/{package}.pc")).read_text()


def test_the_python_package_has_the_version():
    code = "import gputap; print(gputap.__version__)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True, cwd="/",
                                   env={"PYTHONPATH": str(REPO / "python/src")}) == version() + "\n"


def test_the_newest_changes_are_those_of_the_version():
    assert re.search(r"^## (\S+), ", read("CHANGELOG.md"), re.M)[1] == version()


def test_no_other_file_contains_a_version_of_its_own():
    """A file that has to contain the version is compared here; other files take it from
    meson.build."""
    names = subprocess.check_output(
        ["git", "-C", REPO, "ls-files", "-co", "--exclude-standard", "packaging", "torch", "python",
         "meson.build", "*.build", "tools", "CITATION.cff"], text=True).split()
    own = re.compile(r"(?:^|\s)[\"']?_*version_*[\"']?\s*[:=(]\s*[\"']?(\d+\.\d+\.\d+)\b",
                     re.I | re.M)
    found = {}
    for name in names:
        if (REPO / name).is_file():
            numbers = set(own.findall((REPO / name).read_text(errors="replace")))
            if numbers and "src/compat" not in name:
                found[name] = numbers
    assert {"meson.build", "python/src/gputap/__init__.py"} <= set(found)
    assert {name: numbers for name, numbers in found.items() if numbers != {version()}} == {}
