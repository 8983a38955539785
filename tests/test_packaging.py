# SPDX-License-Identifier: MIT
"""Test the files of packaging/ with the tools of their formats, and the packages that can be made
here, from the build under test."""

import os
import pathlib
import re
import shutil
import sys
import types

import pytest

from test_install import once, shell

CONTENTS = {  # of the RPM packages
    "gputap": ["/usr/bin/gputap", "/usr/lib/*/libgputap.so.0", "/usr/lib/*/libgputap-audit.so",
               "/usr/lib/*/libgputap-capture.so.0", "/usr/share/man/man1/gputap.1.gz",
               "/usr/share/man/man1/gputap-snapshot.1.gz", "/usr/share/gputap/sql/*.sql",
               "/usr/share/gputap/python/gputap/__init__.py", "/usr/share/doc/gputap/LICENSE"],
    "gputap-devel": ["/usr/include/gputap/gputap.h", "/usr/lib/*/pkgconfig/gputap.pc",
                     "/usr/lib/*/libgputap.so", "/usr/share/man/man3/libgputap-capture.3.gz"],
}


def project_version(repo):
    return re.search(r"^  version: '(.*)',$", (repo / "meson.build").read_text(), re.M)[1]


def tool(name):
    """Return the path of a program of .venv or of PATH, or skip the test."""
    beside = pathlib.Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        pytest.skip(f"needs {name}: tools/setup test")
    return found


@pytest.mark.parametrize("file, pattern", [
    ("packaging/gputap.spec", r"^Version: +(\S+)$"),
    ("packaging/gputap.spec", r"^\* .* - (\S+)-1$"),
    ("packaging/Dockerfile", r"gputap==(\S+)"),
    ("packaging/apptainer.def", r"gputap==(\S+)"),
    ("packaging/conda/recipe.yaml", r'^  version: "(\S+)"$'),
    ("packaging/spack/package.py", r'^    version\("(\S+)"\)$'),
    ("packaging/spack/package.py", r"gputap-(\S+)\.tar\.gz"),
])
def test_every_recipe_has_the_version_of_the_project(repo, file, pattern):
    found = re.findall(pattern, (repo / file).read_text(), re.M)
    assert found and set(found) == {project_version(repo)}


def test_every_recipe_has_the_oldest_meson_and_python_of_the_build(repo):
    build = (repo / "meson.build").read_text()
    meson = re.search(r"meson_version: '>= ([\d.]+)'", build)[1].removesuffix(".0")
    python = re.search(r"find_program\(name, version: '>=([\d.]+)'", build)[1]
    spack = (repo / "packaging/spack/package.py").read_text()
    conda = (repo / "packaging/conda/recipe.yaml").read_text()
    assert f"meson@{meson}:" in spack and f"python@{python}:" in spack
    assert f"meson >={meson}\n" in conda and f"python >={python}\n" in conda
    assert f"python3 >= {python}\n" in (repo / "packaging/gputap.spec").read_text()


# RPM ------------------------------------------------------------

@pytest.fixture(scope="module")
def rpms(tmp_path_factory, repo, build):
    """Return {name: path} of the RPM packages of the build under test."""
    if not shutil.which("rpmbuild"):
        pytest.skip("needs rpmbuild: apt install rpm")

    def make(folder):
        folder.mkdir()
        shell([repo / "tools/rpm", "--build", build, folder])
    folder = once(tmp_path_factory, "rpms", make)
    return {re.match(r"(.*?)-\d", p.name)[1]: p for p in folder.glob("*.rpm")}


def test_rpm_packages_have_what_is_installed(rpms, run):
    assert sorted(rpms) == sorted(CONTENTS)
    for name, wanted in CONTENTS.items():
        files = [pathlib.PurePath(f) for f in run(["rpm", "-qpl", rpms[name]]).out.splitlines()]
        for pattern in wanted:
            assert any(f.match(pattern) for f in files), f"{name} lacks {pattern}"


def test_rpm_offers_no_runtimes_library_and_needs_none(rpms, run):
    """soft/ and compat/ have libraries with the names of ROCm's, CUDA's and PTI's: rpm must not
    install gputap for a package that needs one of those."""
    provided = run(["rpm", "-qp", "--provides", rpms["gputap"]]).out
    assert re.findall(r"^(lib\S*)\.so", provided, re.M)
    assert set(re.findall(r"^(lib\S*?)\.so", provided, re.M)) == {
        "libgputap", "libgputap-audit", "libgputap-capture", "libgputap-plugin"}
    needed = run(["rpm", "-qp", "--requires", rpms["gputap"]]).out
    assert set(re.findall(r"^(lib\S*?)\.so", needed, re.M)) <= {
        "libc", "libm", "libdl", "libpthread", "librt", "libzstd", "libsqlite3", "libisal"}


def test_unpacked_rpm_runs(rpms, run, work, build):
    cpio = shutil.which("cpio") and shutil.which("rpm2cpio")
    unpack = f"rpm2cpio {rpms['gputap']} | cpio -idm --quiet" if cpio else (
        f"rpm2archive {rpms['gputap']} && tar -xf {rpms['gputap']}.tgz")
    run(["sh", "-c", unpack])
    command = work / "usr/bin/gputap"
    run([command, "run", "-q", "-o", "demo.gputap", build / "examples/demo"])
    assert "heat_step" in run([command, "report", "demo.gputap"]).out
    lines = run(["readelf", "-S", command]).out
    assert ".debug_info" not in lines


def test_rpm_is_the_same_when_it_is_made_again(rpms, repo, run, work, build):
    run([repo / "tools/rpm", "--build", build, work])
    for path in rpms.values():
        assert (work / path.name).read_bytes() == path.read_bytes()


# Containers ------------------------------------------------------------

def test_dockerfile_keeps_the_rules_of_its_linter(repo, run, work):
    lint = tool("hadolint")
    assert run([lint, repo / "packaging/Dockerfile"]).out == ""
    (work / "Dockerfile").write_text("FROM debian\nRUN cd /tmp && sudo apt-get install gputap\n")
    assert "DL3004" in run([lint, work / "Dockerfile"], status=1).out, "the linter finds nothing"


def test_apptainer_definition_can_be_read(repo, run):
    """Its parser writes it as a Dockerfile, which must do the same as ours."""
    out = run([tool("spython"), "recipe", "--parser", "singularity", "--writer", "docker",
               repo / "packaging/apptainer.def"]).out
    install = re.search(r"python3 -m pip install .*gputap==\S+",
                        (repo / "packaging/Dockerfile").read_text())[0]
    assert install in out and "ADD build-wheel/dist /wheels" in out and 'exec gputap "$@"' in out
    base = re.search(r"^ARG BASE=(.*)$", (repo / "packaging/Dockerfile").read_text(), re.M)[1]
    assert f"FROM {base}" in out


# conda, Spack ------------------------------------------------------------

def test_conda_recipe_is_rendered(repo):
    rattler = pytest.importorskip("rattler_build", reason="needs rattler-build: tools/setup test")
    recipe = rattler.Stage0Recipe.from_file(str(repo / "packaging/conda/recipe.yaml"))
    variants = rattler.VariantConfig({"c_compiler": ["gcc"], "c_stdlib": ["sysroot"],
                                      "c_stdlib_version": ["2.28"]})
    rendered, = recipe.render(variants)
    recipe = rendered.recipe.to_dict()
    assert recipe["package"] == {"name": "gputap", "version": project_version(repo)}
    build = (repo / "meson.build").read_text()
    modules = re.findall(r"^\w+ = dependency\('(\w+)'\)$", build, re.M)
    assert {"libzstd", "libisal", "sqlite3"} <= set(modules)
    assert {"zstd", "isa-l", "libsqlite"} <= set(recipe["requirements"]["host"])


def test_conda_recipe_builds_what_it_promises(repo, run, work):
    """Its commands are those of a build that the tests know: setup, ninja product, install."""
    recipe = (repo / "packaging/conda/recipe.yaml").read_text()
    commands = re.findall(r"^    - (meson [si].*|ninja -.*)$", recipe, re.M)
    assert len(commands) == 3
    (work / "bin").mkdir()
    for name in ("meson", "ninja"):
        (work / "bin" / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{work}/told\n')
        (work / "bin" / name).chmod(0o755)
    run(["sh", "-ec", "\n".join(commands)], env={"PATH": f"{work}/bin:/usr/bin:/bin",
                                                 "PREFIX": "/opt/env"})
    told = (work / "told").read_text().splitlines()
    assert told[0].startswith("meson setup build-conda --prefix=/opt/env --libdir=lib ")
    assert all(" build-conda" in line for line in told)
    options = run(["meson", "introspect", "--buildoptions", repo / "meson.build"]).out
    for name in re.findall(r"-D(\w+)=", recipe):
        assert f'"name": "{name}"' in options


class SpackPackage:
    """Base class of the recipe, in place of Spack's MesonPackage."""


def test_spack_package_declares_what_the_build_needs(repo, monkeypatch):
    """Spack is not on PyPI: stand-ins of its directives record what the recipe declares."""
    declared = []

    def directive(name):
        def record(*arguments, **keywords):
            declared.append((name, arguments, keywords))
            return types.SimpleNamespace(__enter__=None)
        return record

    class When:
        def __init__(self, *_):
            pass

        __enter__ = __exit__ = lambda *_: None

    spack = types.ModuleType("spack.package")
    for name in ("depends_on", "license", "variant", "version"):
        setattr(spack, name, directive(name))
    spack.when = When
    meson = types.ModuleType("spack_repo.builtin.build_systems.meson")
    meson.MesonPackage = SpackPackage
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "spack.package", spack)
    monkeypatch.setitem(sys.modules, meson.__name__, meson)
    names = {}
    path = repo / "packaging/spack/package.py"
    exec(compile(path.read_text(), path, "exec"), names)  # pylint: disable=exec-used
    package = names["Gputap"]
    needs = {re.split("@", a[0])[0] for name, a, _ in declared if name == "depends_on"}
    assert {"c", "meson", "ninja", "pkgconfig", "python", "isa-l", "sqlite", "zstd",
            "opencl-c-headers"} <= needs
    assert ("license", ("MIT", ), {}) in declared
    assert package.__doc__ and package.build_targets == ["product"]
    assert package.url == f"file://{os.getcwd()}/gputap-{project_version(repo)}.tar.gz"
    options = (repo / "meson_options.txt").read_text()
    for option in package().meson_args():
        name = re.match(r"-D(\w+)=|--libdir=", option)
        assert name and (not name[1] or f"option('{name[1]}'" in options), option
