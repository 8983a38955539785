# SPDX-License-Identifier: MIT
"""Test the package gputap for Python: how it is installed and found, the versions of Python that
can use it, what it imports, and its declared types."""
import ast
import pathlib
import re
import shutil
import sys
import zipfile

import pytest

from python_tables import ENVIRONMENT, SOURCES, gputap as package

OLDEST, NEWEST = (3, 9), (3, 14)
SCRIPT = """\
import gputap, sys
with gputap.range('a'):
    pass
t = gputap.open(sys.argv[1], 'duration>1us')
capsules = [table.__arrow_c_stream__() for table in t.tables.values()]
del capsules
print(gputap.library.library._name, t.health.is_whole, len(t.calls.columns),
      'GPU' in str(t.summary()))
"""
FILES = {f"gputap/{path.relative_to(SOURCES / 'gputap')}"
         for path in (SOURCES / "gputap").rglob("*") if path.suffix in (".py", ".typed")}


@pytest.fixture
def capture(run, build, work):
    run([build / "tests/synth/synth", "--calls", 100, "-o", "a.gputap"])
    return "a.gputap"


def pip_install(run, folder, python=sys.executable, **environment):
    """Install the package of @folder into the folder `site` without network."""
    run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", "site",
         folder], env={"PIP_DISABLE_PIP_VERSION_CHECK": 1, **environment})


def sources_in(tmp_path, repo):
    """Copy the source tree as far as the package needs it, so that nothing is written there."""
    tree = tmp_path / "tree"
    for name in ("python", "torch", "include"):
        shutil.copytree(repo / name, tree / name,
                        ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(repo / "meson.build", tree)
    return tree


# Installation --------------------------------------------------------------------------

def test_pip_installs_the_package_which_finds_its_source_trees_build(run, repo, build, tmp_path,
                                                                     capture):
    tree = sources_in(tmp_path, repo)
    (tree / "build").symlink_to(build)
    pip_install(run, tree / "python")
    script = f"import gputap.library; {SCRIPT}"
    out = run([sys.executable, "-c", script, capture],
              env={"PYTHONPATH": "site", "PATH": "/usr/bin:/bin"}).out
    assert out == f"{tree}/build/libgputap-capture.so.0 True 22 True\n"


def test_the_library_beside_the_command_in_path_is_found(run, repo, build, tmp_path, capture):
    """As after `pip install` from a source tree that was removed since."""
    tree = sources_in(tmp_path, repo)
    pip_install(run, tree / "python")
    shutil.rmtree(tree)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gputap").symlink_to(build / "gputap")
    script = f"import gputap.library; {SCRIPT}"
    out = run([sys.executable, "-c", script, capture],
              env={"PYTHONPATH": "site", "PATH": f"{tmp_path}/bin:/usr/bin:/bin"}).out
    assert out == f"{build}/libgputap-capture.so.0 True 22 True\n"


def test_an_installed_copy_finds_the_library_of_its_prefix(run, repo, build, tmp_path, capture):
    """Debian's package has a link from the folder of Python's packages to this copy."""
    prefix = tmp_path / "usr"
    for folder in ("lib/python3/dist-packages", "bin", "share/gputap/python"):
        (prefix / folder).mkdir(parents=True)
    shutil.copytree(SOURCES / "gputap", prefix / "share/gputap/python/gputap")
    shutil.copy(build / "libgputap-capture.so.0", prefix / "lib")
    shutil.copy(build / "gputap", prefix / "bin")
    (prefix / "lib/python3/dist-packages/gputap").symlink_to(
        "../../../share/gputap/python/gputap")
    script = f"import gputap.library; {SCRIPT}"
    for path in ("share/gputap/python", "lib/python3/dist-packages"):
        out = run([sys.executable, "-c", script, capture],
                  env={"PYTHONPATH": prefix / path, "PATH": "/usr/bin:/bin"}).out
        assert out == f"{prefix}/lib/libgputap-capture.so.0 True 22 True\n"


def test_an_editable_installation_refers_to_the_source_tree(run, repo, tmp_path):
    tree = sources_in(tmp_path, repo)
    run([sys.executable, "-c", "import build_package; build_package.build_editable('..')"],
        cwd=tree / "python")
    [wheel] = tmp_path.glob("tree/gputap-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("gputap.pth").decode() == f"{tree}/python/src\n"


def test_the_torch_package_contains_the_whole_package(run, repo, tmp_path, work):
    """Use empty headers instead of torch's, and a compiler that writes empty libraries."""
    tree, torch = sources_in(tmp_path, repo), tmp_path / "torch"
    header = torch / "include/torch/headeronly/version.h"
    header.parent.mkdir(parents=True)
    header.write_text("".join(f"#define TORCH_VERSION_{part} {number}\n"
                              for part, number in (("MAJOR", 2), ("MINOR", 13), ("PATCH", 0))))
    (torch / "include/ATen").mkdir()
    (torch / "include/ATen/record_function.h").touch()
    (torch / "version.py").write_text("__version__ = '2.13.0'\n")
    compiler = tmp_path / "c++"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: >"$2"\n')
    compiler.chmod(0o755)
    pip_install(run, tree / "torch", GPUTAP_TORCH=torch, CXX=compiler)
    site = work / "site"
    assert FILES <= {str(path.relative_to(site)) for path in site.rglob("*")}
    for name in ("torch/__init__.py", "_shim/__init__.py", "_shim/observer.so", "built_from.py"):
        assert (site / "gputap" / name).exists(), name
    [entry_points] = site.glob("gputap-*.dist-info/entry_points.txt")
    assert "gputap = gputap._shim:autoload" in entry_points.read_text()


def test_package_and_product_have_one_version(repo):
    [version] = re.findall(r"^  version: '([\d.]+)'", (repo / "meson.build").read_text(), re.M)
    assert package.__version__ == version


# Imports -------------------------------------------------------------------------------

def imported(run, script):
    result = run([sys.executable, "-X", "importtime", "-c", script], env=ENVIRONMENT)
    return {line.rpartition("|")[2].strip() for line in result.err.splitlines()}


def test_a_program_that_annotates_imports_nothing_that_reads(run, work):
    names = imported(run, "import gputap\nwith gputap.range('a'): pass\ngputap.pause()")
    assert "gputap.annotate" in names
    assert not {n.split(".")[0] for n in names} & {
        "torch", "numpy", "pyarrow", "pandas", "polars", "duckdb", "json", "subprocess", "typing"}
    assert not {n for n in names if n.startswith("gputap.")} - {"gputap.annotate"}


def test_readers_are_imported_when_they_are_used(run, capture):
    names = imported(run, f"import gputap\nt = gputap.open('{capture}')\n"
                     "t.calls.select('id').columns, t.health, t.where('duration>1us'), repr(t)")
    assert "gputap.capture" in names
    assert not {n.split(".")[0] for n in names} & {
        "torch", "numpy", "pyarrow", "pandas", "polars", "duckdb"}


# Versions of Python --------------------------------------------------------------------

def python_files(repo):
    return [*(repo / "python").rglob("*.py")]


def test_the_sources_use_only_the_syntax_of_the_oldest_python(repo):
    files = python_files(repo)
    assert len(files) >= 6
    for path in files:
        ast.parse(path.read_text(), path, feature_version=OLDEST)


def all_pythons():
    """Return the interpreters of this machine that the package supports, by version."""
    found = {"%d.%d" % sys.version_info[:2]: pathlib.Path(sys.executable)}
    folders = [pathlib.Path(folder) for folder in ("/usr/bin", "/usr/local/bin")]
    folders += (pathlib.Path.home() / ".pyenv/versions").glob("*/bin")
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        for folder in folders:
            path = folder / f"python3.{minor}"
            if path.exists():
                found.setdefault(f"3.{minor}", path)
    return found


@pytest.mark.parametrize("version", all_pythons())
def test_each_python_of_this_machine_can_use_the_package(run, capture, build, version):
    result = run([all_pythons()[version], "-B", "-W", "error", "-c",
                  f"import gputap.library; {SCRIPT}", capture], env=ENVIRONMENT)
    assert result.out == f"{build}/libgputap-capture.so.0 True 22 True\n" and result.err == ""


# Types ---------------------------------------------------------------------------------

def test_the_package_declares_the_types_of_all_functions():
    for path in (SOURCES / "gputap").glob("*.py"):
        if path.name not in ("__init__.py", "annotate.py", "capture.py", "command.py",
                             "library.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name != "__getattr__":
                arguments = [a for a in node.args.args if a.arg != "self"]
                assert node.returns and all(a.annotation for a in arguments), (path, node.name)
    assert (SOURCES / "gputap/py.typed").exists()


def test_all_tables_are_declared_as_attributes(capture):
    with package.open(capture) as opened:
        declared = package.Capture.__annotations__
        assert [n for n, type_ in declared.items() if type_ == "Table"] == list(opened.tables)
