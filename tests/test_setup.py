# SPDX-License-Identifier: MIT
"""Test tools/setup: it finds what is missing with the machine's own tools, and gets it with the
machine's own package manager. The managers here are scripts that write down what they are asked."""

import os
import pathlib
import re
import shlex
import shutil

import pytest

MANAGERS = ("apt", "dnf", "zypper", "pacman")
# ID of the distribution, its manager, and the command that the manager gets
DISTRIBUTIONS = {
    "debian": ("apt", "apt-get install -y --no-install-recommends"),
    "rocky": ("dnf", "dnf install -y"),
    "opensuse-leap": ("zypper", "zypper --non-interactive install --no-recommends"),
    "arch": ("pacman", "pacman -S --needed --noconfirm"),
}
LIKE = {"rocky": 'ID_LIKE="rhel centos fedora"\n', "opensuse-leap": 'ID_LIKE="suse opensuse"\n'}
PROFILES = ("build", "demo", "deb", "rpm", "cross", "docs", "test", "bench", "aarch64", "torch",
            "wheel")
KINDS = ("command", "header", "module", "library", "file", "compiler", "python", "python-module")
TOOLS = ("sh", "sed", "sort", "tr", "grep", "cat", "dirname", "mktemp", "rm", "env")


def listed(repo):
    """Return (profile, kind, arguments, {manager: packages}) of each entry of tools/packages."""
    entries = []
    for line in (repo / "tools/packages").read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if line[0] != " ":
            entries.append((words[0], words[1], words[2:], {}))
            continue
        for word in words:
            if word in MANAGERS:
                assert word not in entries[-1][3], line
                packages = entries[-1][3][word] = []
            else:
                packages.append(word)
    return entries


@pytest.fixture
def machine(work, run, repo):
    """Return machine(ID, missing=.., offers=..): run tools/setup on a machine with that
    distribution, without root unless `user` says so. `have`: managers in PATH."""
    def script(name, text):
        path = work / "bin" / name
        assert not path.exists(), "a link to this machine's own program: do not write through it"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def start(distribution, *arguments, have=MANAGERS, root=False, sudo=False, status=1,
              offers=".*", tools=(), modules="."):
        shutil.rmtree(work / "bin", ignore_errors=True)
        (work / "bin").mkdir()
        for name in TOOLS + tuple(tools):
            (work / "bin" / name).symlink_to(shutil.which(name))
        script("id", f"echo {0 if root else 1000}")
        script("ldconfig", "")
        script("pkg-config", f'case $2 in {modules}) exit 0;; esac; exit 1')
        if sudo:
            script("sudo", f'echo sudo >>{work}/told; exec "$@"')
        offered = f'echo "$*" | grep -qE "({offers})$" && echo yes'
        told = f'echo "${{0##*/}} $*" >>{work}/told'
        if "apt" in have:
            script("apt-cache", offered)
            script("apt-get", told)
        if "dnf" in have:
            script("dnf", f'case "$*" in *repoquery*) {offered};; *) {told};; esac')
        if "zypper" in have:
            script("zypper", f'case "$*" in *search*) {offered};; *) {told};; esac')
        if "pacman" in have:
            script("pacman", f'case "$*" in -Si*) {offered};; *) {told};; esac')
        (work / "os-release").write_text(f"ID={distribution}\n{LIKE.get(distribution, '')}")
        return run([repo / "tools/setup", *arguments], status=status,
                   env={"PATH": work / "bin", "GPUTAP_OS_RELEASE": work / "os-release"})
    return start


def test_every_entry_of_the_list_is_complete(repo):
    for profile, kind, arguments, packages in listed(repo):
        entry = f"{profile} {kind} {arguments}"
        assert profile in PROFILES, entry
        if kind == "pip":
            assert arguments and not packages, entry
            continue
        assert kind.rstrip("?") in KINDS, entry
        assert bool(arguments) == (kind != "compiler"), entry
        assert packages.get("apt"), entry
        if profile == "build" and not kind.endswith("?"):
            for manager in MANAGERS:
                assert packages.get(manager) or (kind == "module" and manager in ("dnf", "zypper")
                                                 ), f"{entry}: no package of {manager}"


def test_setup_finds_what_each_module_of_the_build_needs(repo):
    """A dependency that meson.build requires is in the list under the name that pkg-config gets."""
    required = re.findall(r"^\w+ = dependency\('(\w+)'\)$", (repo / "meson.build").read_text(),
                          re.M)
    modules = [a[0] for profile, kind, a, _ in listed(repo) if (profile, kind) == ("build",
                                                                                  "module")]
    assert set(required) - {"threads"} <= set(modules) and len(required) >= 4


def link_programs(folder, but):
    """Make a folder for PATH with this machine's programs, except those that match @but."""
    folder.mkdir()
    for path in (p for d in os.environ["PATH"].split(":") for p in pathlib.Path(d).glob("*")):
        if not re.match(but, path.name) and not (folder / path.name).is_symlink():
            (folder / path.name).symlink_to(path)


def test_meson_says_that_python_is_too_old(repo, run, work):
    meson = pathlib.Path(shutil.which("meson"))
    interpreter = meson.read_text().split("\n")[0].removeprefix("#!").strip()
    link_programs(work / "bin", "python3")
    (work / "bin/python3").write_text("#!/bin/sh\necho Python 3.8.10\n")
    (work / "bin/python3").chmod(0o755)
    result = run([interpreter, meson, "setup", work / "build", repo], status=1,
                 env={"PATH": work / "bin"})
    assert "gputap needs Python 3.9 or later to build" in result.out
    assert "Traceback" not in result.out + result.err


def test_setup_is_silent_where_nothing_is_missing(repo, run, work):
    """Also without a package manager: PATH has only what the build itself needs."""
    link_programs(work / "bin", "apt|dpkg|dnf|zypper|pacman")
    result = run([repo / "tools/setup", "build"], env={"PATH": work / "bin"})
    assert result.out == "" and result.err == ""


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_setup_prints_a_command_that_a_shell_can_run(machine, work, run, distribution):
    """Without root and without sudo. All names are there, and no character is special."""
    manager, begin = DISTRIBUTIONS[distribution]
    result = machine(distribution, "build")
    assert "no sudo; as root, run:" in result.err and "libzstd (pkg-config)" in result.err
    command = result.out.strip()
    assert "\n" not in command and command.startswith(begin + " ")
    run(["sh", "-c", command], env={"PATH": work / "bin"})
    told = (work / "told").read_text()
    assert told.split() == shlex.split(command), "the shell changes no word"
    assert not set("|?*") & set(command)
    expected = {"apt": "libzstd-dev", "dnf": "pkgconfig(libzstd)", "zypper": "pkgconfig(libzstd)",
                "pacman": "zstd"}[manager]
    assert expected in told.split() and "make" in told.split()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_setup_as_root_installs_and_looks_again(machine, work, distribution):
    _, begin = DISTRIBUTIONS[distribution]
    result = machine(distribution, "build", root=True)
    told = (work / "told").read_text().splitlines()
    assert told[-1].startswith(begin + " ")
    assert (told[0] == "apt-get update -qq") == (distribution == "debian")
    # these managers install nothing
    assert "installed, but still missing:" in result.err and "libisal (pkg-config)" in result.err


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_setup_installs_with_sudo(machine, work, distribution):
    manager, begin = DISTRIBUTIONS[distribution]
    machine(distribution, "build", sudo=True)
    told = (work / "told").read_text().splitlines()
    assert told[-1].startswith(begin + " ")
    assert told.count("sudo") == (2 if manager == "apt" else 1)
    assert told[::2] == ["sudo"] * (len(told) // 2), "nothing is run without sudo"


def test_setup_asks_only_for_what_is_missing(machine):
    out = machine("debian", "build", tools=("make", "ninja"), modules="libzstd").out.split()
    assert "libisal-dev" in out
    assert not {"libzstd-dev", "make", "ninja-build"} & set(out)


def test_setup_takes_the_first_name_that_is_offered(machine):
    every = machine("debian", "build").out.split()
    assert "libdw1" in every and "libdw1t64" not in every
    newer = machine("debian", "build", offers="libdw1t64|make").out.split()
    assert "libdw1t64" in newer and "libdw1" not in newer


def test_setup_leaves_out_optional_packages_that_are_not_offered(machine):
    assert "libze-dev" in machine("debian", "build").out.split()
    result = machine("debian", "build", offers="make|libzstd-dev")
    assert "libze-dev" not in result.out and "ze_api.h" not in result.err
    # a required package remains, so that the manager's error names it
    assert "libisal-dev" in result.out.split()


def test_setup_uses_the_manager_of_the_distribution(machine):
    """Fedora packages apt, and Debian packages dnf and zypper."""
    for distribution, (_, begin) in DISTRIBUTIONS.items():
        assert machine(distribution, "-n", "build").out.startswith(begin)
    assert machine("unknown", "-n", "build", have=("zypper", )).out.startswith("zypper ")
    assert machine("arch", "-n", "build", have=("dnf", )).out.startswith("dnf ")


def test_setup_without_a_manager_names_what_is_missing(machine):
    result = machine("alpine", "build", have=())
    assert result.out == "" and "libzstd (pkg-config)" in result.err
    assert "no apt-get, dnf, zypper or pacman here" in result.err
    assert "a C compiler that links programs" in result.err


def test_setup_says_where_packages_are_when_the_manager_fails(machine, work, run, repo):
    machine("rocky", "build", root=True)
    (work / "bin/dnf").write_text('#!/bin/sh\ncase "$*" in *query*) echo yes;; *) exit 1;; esac')
    result = run([repo / "tools/setup", "build"], status=1,
                 env={"PATH": work / "bin", "GPUTAP_OS_RELEASE": work / "os-release"})
    assert "enable EPEL and CRB" in result.err


def test_setup_refuses_a_profile_it_does_not_know(repo, run):
    assert "usage" in run([repo / "tools/setup", "tests"], status=2).err


def test_setup_finds_nothing_missing_where_the_tests_run(repo, run):
    run([repo / "tools/setup", "-n", "build"])
    run([repo / "tools/setup", "-n", "demo"])
