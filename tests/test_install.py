# SPDX-License-Identifier: MIT
"""Test the installed copy: it is complete and relocatable, pkg-config finds it, and C and C++
compile against it. Also test the Debian package."""

import fcntl
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import conftest

API_PROGRAM = r"""
#include <gputap/gputap.h>
#include <stdio.h>
int main(void)
{
	printf("%u.%u\n", gputap_version() >> 16, gputap_version() & 0xffff);
	return (gputap_version() >> 16) != GPUTAP_VERSION_MAJOR;
}
"""


def once(tmp_path_factory, name, make):
    """Fill a folder once for all xdist workers of this run, and return its path."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / name
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = base / f"{name}.making"
            shutil.rmtree(making, ignore_errors=True)
            make(making)
            making.rename(folder)
    return folder


def shell(command, **keywords):
    done = subprocess.run(command,
                          text=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          **keywords)
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def moved(tmp_path_factory, build):
    """Install the build under test into a folder other than its prefix, and return the new
    prefix."""
    def make(folder):
        shell(["meson", "install", "-C", build, "--no-rebuild", "--destdir", folder])
    stage = once(tmp_path_factory, "moved", make)
    return next(stage.glob("**/bin/gputap")).parent.parent


@pytest.fixture(scope="module",
                params=["moved", pytest.param("configured", marks=pytest.mark.deep)])
def prefix(request, tmp_path_factory, repo):
    """Return the prefix of an installed copy: of the build under test, or of a separate build that
    was configured for this prefix."""
    def make(folder):
        target_build = folder.parent / "prefix-build"
        shell([
            "meson", "setup", target_build, repo, f"--prefix={folder.parent / 'prefix'}",
            "-Doptimization=0", "-Dtests=false"
        ])
        shell(["meson", "install", "-C", target_build, "--destdir", folder / "stage"])
        staged = folder / "stage" / str(folder.parent / "prefix").lstrip("/")
        for entry in staged.iterdir():
            entry.rename(folder / entry.name)
        shutil.rmtree(folder / "stage")
        shutil.rmtree(target_build)

    if request.param == "moved":
        return request.getfixturevalue("moved")
    return once(tmp_path_factory, "prefix", make)


@pytest.fixture(scope="module", params=["packed", pytest.param("built", marks=pytest.mark.deep)])
def make_package(request, repo, build):
    """Return a function: make_package(folder) makes the .deb there, of the build under test or of
    an optimised build."""
    options = ["--build", build] if request.param == "packed" else []

    def call(folder):
        shell([repo / "tools/deb", *options, folder])
    call.name = request.param
    return call


@pytest.fixture(scope="module")
def package(tmp_path_factory, make_package):
    """Return the path of the .deb. The folder `unpacked` is next to the .deb."""
    def make(folder):
        folder.mkdir()
        make_package(folder)
        shell(["dpkg-deb", "-x", next(folder.glob("*.deb")), folder / "unpacked"])
    return next(once(tmp_path_factory, f"package-{make_package.name}", make).glob("*.deb"))


def pkg_config(prefix, *arguments, name="gputap"):
    directory = next(prefix.glob("lib/**/pkgconfig"))
    return shell(["pkg-config", f"--define-variable=prefix={prefix}", *arguments, name],
                 env={**os.environ, "PKG_CONFIG_PATH": str(directory)}).split()


def compile_and_run(run, work, prefix, compiler, suffix):
    source = work / f"program{suffix}"
    source.write_text(API_PROGRAM)
    run([compiler, "-Wall", "-Wextra", "-Werror", "-pedantic", source, "-o", work / "program",
         *pkg_config(prefix, "--cflags", "--libs")])
    library = next(prefix.glob("lib/**/libgputap.so.0")).parent
    return run([work / "program"], env={"LD_LIBRARY_PATH": library}).out.strip()


def trace_demo(run, command, build, work):
    run([command, "run", "-q", "-o", work / "demo.gputap", build / "examples" / "demo"])
    report = run([command, "report", "--all", work / "demo.gputap"]).out
    assert "heat_step" in report and "clEnqueueNDRangeKernel" in report
    run([command, "export", work / "demo.gputap", "-o", work / "demo.rpd"])


def test_an_installed_copy_writes_parquet_with_its_own_package(run, moved, build, work):
    run([build / "tests/synth/synth", "--calls", "100", "-o", "a.gputap"])
    run([moved / "bin/gputap", "export", "a.gputap", "-o", "a.parquet"],
        env={"GPUTAP_PYTHON": sys.executable})
    assert list(work.glob("a.parquet/table=calls/host=*/part-0.parquet"))


MANUAL = sorted(f"share/man/man{page.suffix[1:]}/{page.name}"
                for page in (conftest.REPO / "docs/man").iterdir())
INSTALLED = ("bin/gputap", "include/gputap/gputap.h", "lib/**/libgputap.so",
             "lib/**/libgputap.so.0", "lib/**/libgputap-audit.so", "lib/**/pkgconfig/gputap.pc",
             "share/bash-completion/completions/gputap", "lib/**/gputap/soft/amdgpu/libhsakmt.so.1",
             "lib/**/gputap/soft/amdgpu/libdtif.so", "lib/**/gputap/soft/amdgpu/libsoft-kfd.so",
             "share/zsh/site-functions/_gputap", "share/doc/gputap/LICENSE",
             "share/gputap/sql/time_by_kernel.sql", "share/gputap/python/gputap/parquet.py",
             "share/doc/gputap/CHANGELOG.md", "include/gputap/PrivateUse1TracingApi.h",
             "include/gputap/plugin.h", "include/gputap/refdev/refdev.h",
             "lib/**/libgputap-plugin.so.0", "lib/**/pkgconfig/gputap-plugin.pc",
             "lib/**/gputap/librefdev.so.1", "lib/**/gputap/librefdev_pu1.so",
             "include/gputap/compat/pti/pti_callback.h", "lib/**/gputap/libpti_callback.so.1",
             "include/gputap/compat/pti/pti_driver_levelzero_api_ids.h",
             "include/gputap/compat/pti/pti_driver_opencl_api_ids.h",
             "include/gputap/compat/pti/pti_runtime_sycl_api_ids.h",
             "lib/**/gputap/librocprofiler-sdk.so.1", "lib/**/gputap/librocprofiler-sdk.so",
             "lib/**/gputap/librocprofiler-sdk-attach.so.1",
             "lib/**/gputap/librocprofiler-sdk-attach.so",
             "lib/**/gputap/librocprofiler-sdk-rocattach.so.1",
             "lib/**/gputap/librocprofiler-sdk-rocattach.so",
             "include/gputap/compat/rocprofiler-sdk-rocattach/rocattach.h",
             "lib/**/pkgconfig/gputap-pti.pc", "include/gputap/capture.h",
             "lib/**/libgputap-capture.so.0", "lib/**/pkgconfig/gputap-capture.pc",
             "share/gputap/python/gputap/__init__.py", "share/gputap/python/gputap/py.typed",
             *MANUAL)


@pytest.mark.parametrize("file", INSTALLED)
def test_install_into_an_empty_prefix_has(prefix, file):
    assert list(prefix.glob(file)), (
        f"{file} is not among"
        f" {[str(p.relative_to(prefix)) for p in prefix.rglob('*') if p.is_file()]}"
    )


def test_installed_reference_plugin_keeps_its_rules(prefix, run):
    command, plugin = prefix / "bin/gputap", next(prefix.glob("lib/**/librefdev_pu1.so"))
    assert "0 broken, 0 skipped" in run([command, "plugin", "check", plugin]).out


def test_installed_copy_serves_a_c_program(prefix, run, work):
    assert compile_and_run(run, work, prefix, "gcc", ".c") == pkg_config(prefix,
                                                                         "--modversion")[0].rsplit(
                                                                             ".", 1)[0]


def test_installed_copy_serves_a_cpp_program(prefix, run, work):
    assert compile_and_run(run, work, prefix, "g++", ".cc") == pkg_config(prefix,
                                                                          "--modversion")[0].rsplit(
                                                                              ".", 1)[0]


@pytest.mark.parametrize("flags", [[], ["-DPTI_CALLBACK_SHIPPED"]], ids=["proposed", "shipped"])
@pytest.mark.parametrize("compiler, suffix", [("gcc", ".c"), ("g++", ".cc")])
def test_installed_copy_serves_a_tool_of_ptis_callback_api(prefix, run, work, compiler, suffix,
                                                           flags):
    source = work / f"tool{suffix}"
    source.write_text("""
#include <pti/pti_callback.h>
#include <pti/pti_driver_levelzero_api_ids.h>
#include <pti/pti_driver_opencl_api_ids.h>
#include <pti/pti_runtime_sycl_api_ids.h>

int main(void)
{
	return ptiCallbackUnsubscribe(0) == PTI_ERROR_BAD_ARGUMENT ? 0 : 1;
}
""")
    run([compiler, "-Wall", "-Wextra", "-Werror", *flags, source, "-o", work / "tool",
         *pkg_config(prefix, "--cflags", "--libs", name="gputap-pti")])
    library = next(prefix.glob("lib/**/libpti_callback.so.1")).parent
    run([work / "tool"], env={"LD_LIBRARY_PATH": library})


def test_installed_copy_traces_a_program(prefix, build, run, work):
    trace_demo(run, prefix / "bin" / "gputap", build, work)


def test_copy_that_was_moved_traces_a_program(moved, build, run, work):
    trace_demo(run, moved / "bin" / "gputap", build, work)


@pytest.mark.parametrize("option", [[], ["--define-prefix"], ["--dont-define-prefix"]],
                         ids=["plain", "define-prefix", "dont-define-prefix"])
def test_pkg_config_finds_the_folders_of_a_copy_that_was_moved(moved, option):
    """--define-prefix takes the prefix to be two folders above, which is wrong under
    lib/x86_64-linux-gnu: the files must not use it."""
    names = sorted(p.stem for p in moved.glob("lib/**/pkgconfig/*.pc"))
    assert names == ["gputap", "gputap-capture", "gputap-plugin", "gputap-pti",
                     "gputap-rocprofiler-sdk", "gputap-roctx"]
    for name in names:
        words = pkg_config(moved, *option, "--cflags", "--libs", name=name)
        folders = [re.sub("^-[IL]|^-Wl,-rpath-link,", "", w) for w in words if "/" in w]
        assert len(folders) >= 2, words
        for folder in folders:
            assert pathlib.Path(folder).resolve().is_relative_to(moved.resolve()), name
            assert os.path.isdir(folder), f"{name}: {folder}"
        library = next(w[2:] for w in words if w.startswith("-l"))
        assert any(list(pathlib.Path(f).glob(f"lib{library}.so*")) for f in folders), words


def test_copy_that_was_moved_has_its_software_gpu(moved, run):
    out = run([moved / "bin" / "gputap", "soft", "amdgpu", "--", "rocminfo"]).out
    assert "Software GPU gfx906" in out
    assert str(moved) in run([moved / "bin" / "gputap", "soft"]).out


def test_package_unpacks_to_a_copy_that_traces_a_program(package, build, run, work):
    trace_demo(run, package.parent / "unpacked" / "usr" / "bin" / "gputap", build, work)


def test_package_needs_the_libraries_that_its_command_links_and_loads(package):
    depends = shell(["dpkg-deb", "-f", package, "Depends"])
    for library in ("libc6", "libsqlite3-0", "libzstd1", "libisal2", "libstdc++6"):
        assert library in depends


def test_package_has_the_package_of_debians_python(package, build, run, work):
    """In an installation, the dynamic linker finds the library."""
    usr = package.parent / "unpacked/usr"
    run([usr / "bin/gputap", "run", "-q", "-o", "a.gputap", build / "examples/demo"])
    script = "import gputap; t = gputap.open('a.gputap'); print(len(t.tables), t.health.is_whole)"
    [library] = usr.glob("lib/*/libgputap-capture.so.0")
    out = run(["python3", "-B", "-c", script],
              env={"PYTHONPATH": usr / "lib/python3/dist-packages",
                   "LD_LIBRARY_PATH": library.parent}).out
    assert out == "19 True\n"


def test_package_has_what_an_accelerators_vendor_needs(package, run):
    usr = package.parent / "unpacked/usr"
    for file in ("include/gputap/PrivateUse1TracingApi.h", "include/gputap/plugin.h",
                 "include/gputap/refdev/refdev.h", "lib/*/libgputap-plugin.so",
                 "lib/*/pkgconfig/gputap-plugin.pc", "share/man/man1/gputap-plugin.1.gz"):
        assert list(usr.glob(file)), file
    plugin = next(usr.glob("lib/*/gputap/librefdev_pu1.so"))
    assert "0 broken, 0 skipped" in run([usr / "bin/gputap", "plugin", "check", plugin]).out


def test_package_keeps_the_rules_of_the_distribution(package):
    """Check some of the rules whose violation lintian reports as an error."""
    fields = shell(["dpkg-deb", "-f", package])
    for field in ("Package", "Version", "Architecture", "Maintainer", "Depends", "Description",
                  "Installed-Size", "Section"):
        assert f"{field}: " in fields
    unpacked = package.parent / "unpacked"
    files = [p for p in unpacked.rglob("*") if p.is_file() and not p.is_symlink()]
    for path in files:
        name = path.relative_to(unpacked).as_posix()
        assert name.startswith("usr/")
        assert path.stat().st_mode & 0o022 == 0, f"{name} can be written by others"
        if path.read_bytes()[:4] == b"\x7fELF":
            dynamic = shell(["readelf", "-d", "-S", path])
            paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
            # Libraries in the package's own folder, which the linker does not search, have a
            # RUNPATH. They find their neighbours in this folder, and libgputap in the parent
            # folder, which is in no search path under another prefix.
            assert not paths or "/gputap/" in name and paths[0] in ("$ORIGIN", "$ORIGIN/.."), name
            assert ".debug_info" not in dynamic, f"{name} is not stripped"
            assert (path.stat().st_mode & 0o111
                    != 0) == name.startswith("usr/bin/"), f"mode of {name}"
        if "/man/" in name:
            assert gzip.decompress(path.read_bytes()), name
    assert (unpacked / "usr/share/doc/gputap/copyright").exists()
    # Debian's zsh searches this folder
    assert (unpacked / "usr/share/zsh/vendor-completions/_gputap").exists()
    assert gzip.decompress((unpacked / "usr/share/doc/gputap/changelog.gz").read_bytes())
    listed = shell(["dpkg-deb", "-I", package, "md5sums"])
    assert sorted(line.split("  ", 1)[1] for line in listed.splitlines()) == sorted(
        p.relative_to(unpacked).as_posix() for p in files)
    owners = {line.split()[1] for line in shell(["dpkg-deb", "-c", package]).splitlines()}
    assert owners == {"root/root"}


def test_package_keeps_the_rules_of_lintian(package, run):
    """packaging/lintian-overrides gives a reason for each rule that does not fit."""
    if not shutil.which("lintian"):
        pytest.skip("needs lintian: apt install lintian")
    out = run(["lintian", "--no-cfg", "--allow-root", "--tag-display-limit", "0", package]).out
    assert not re.findall("^[EW]: .*", out, re.M)


def test_package_describes_what_is_traced(package):
    fields = shell(["dpkg-deb", "-f", package])
    for word in ("CUDA", "HIP", "HSA", "Level Zero", "SYCL", "OpenCL", "MPI", "PyTorch"):
        assert re.search(rf"^ .*\b{word}\b", fields, re.M), word
    manual = {p.name for p in (package.parent / "unpacked/usr/share/man").rglob("*.gz")}
    assert manual == {f"{p.name}.gz" for p in (conftest.REPO / "docs/man").iterdir()}
    # of Debian's libraries only: soft/ has libraries with the names of others
    depends = re.search("^Depends: (.*)$", fields, re.M)[1]
    assert {d.split()[0] for d in depends.split(", ")} <= {
        "libc6", "libisal2", "libsqlite3-0", "libzstd1", "libzstd1t64", "libstdc++6"}


def test_package_is_the_same_when_it_is_made_again(package, make_package, work):
    make_package(work)
    again = next(pathlib.Path(work).glob("*.deb"))
    assert again.read_bytes() == package.read_bytes()


def test_binaries_need_no_symbol_of_a_glibc_after_2_34(build):
    """RHEL 9 has glibc 2.34, so binaries built with glibc 2.35 to 2.37 must not need newer symbols.
    From 2.38 on, glibc's headers redirect strtol() and scanf() to functions of version 2.38."""
    built_on = tuple(map(int, re.findall(r"(\d+)\.(\d+)$", os.confstr("CS_GNU_LIBC_VERSION"))[0]))
    newest = (2, 34) if built_on < (2, 38) else (2, 38)
    needed = {}
    for name in ("gputap", "libgputap.so.0", "libgputap-audit.so",
                 "src/compat/roctx/libroctx64.so.4",
                 "src/compat/roctx/librocprofiler-sdk-roctx.so.1",
                 "src/compat/rocprofiler/librocprofiler-sdk.so.1",
                 "src/compat/rocprofiler/librocprofiler-sdk-attach.so.1",
                 "src/compat/rocprofiler/librocprofiler-sdk-rocattach.so.1",
                 "src/compat/pti/libpti_callback.so.1", "soft/amdgpu/libhsakmt.so.1",
                 "soft/amdgpu/libdtif.so", "soft/amdgpu/libsoft-kfd.so"):
        if (build / name).exists():
            versions = re.findall(r"GLIBC_(\d+)\.(\d+)", shell(["objdump", "-T", build / name]))
            needed[name] = max((tuple(map(int, v)) for v in versions), default=(0, 0))
    assert "libgputap.so.0" in needed
    assert {name: v for name, v in needed.items() if v > newest} == {}
