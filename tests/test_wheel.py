# SPDX-License-Identifier: MIT
"""Wheels: packing, installing, and what is said about broken installations. The wheel is made of
the build under test; tools/make-wheel makes those for PyPI."""
import configparser
import email
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

import conftest
from processes import wait_until

TREE = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(TREE / "tools/wheels"), str(TREE / "python")]
import wheel_checks  # noqa: E402
import wheel_layout  # noqa: E402
import wheel_sources  # noqa: E402

LICENCES = {"libzstd": ("BSD-3-Clause", "zstd's licence"), "sqlite3": ("blessing", "a blessing")}
TAG = f"linux_{os.uname().machine}"
ENVIRONMENT = {"PYTHONPATH": "", "GPUTAP_LIBRARY_PATH": "", "GPUTAP_CAPTURE_LIBRARY": ""}


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    stage = tmp_path_factory.mktemp("stage")
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir",
                    stage], check=True)
    return stage / "usr/local"


def pack(prefix, folder, date="1700000000", overlay=None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", date)
        return wheel_layout.pack(prefix, folder, TAG, LICENCES, overlay)


@pytest.fixture(scope="module")
def wheel(prefix, tmp_path_factory):
    return pack(prefix, tmp_path_factory.mktemp("dist"))


def install(wheel, *options, python=sys.executable):
    conftest.run_command([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
                          "--disable-pip-version-check", *options, wheel])


@pytest.fixture(scope="module")
def target(wheel, tmp_path_factory):
    """Return a folder under a path with a space and a colon, with the wheel installed."""
    folder = tmp_path_factory.mktemp("a b:c") / "with space:colon"
    install(wheel, "--prefix", folder)
    return folder


@pytest.fixture(scope="module")
def site(target):
    return next(target.rglob("site-packages"))


# Packing -------------------------------------------------------------------------------

def test_the_metadata_has_name_version_python_and_licences(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (info,) = {n.partition("/")[0] for n in archive.namelist() if ".dist-info/" in n}
        metadata = email.message_from_bytes(archive.read(f"{info}/METADATA"))
        kind = email.message_from_bytes(archive.read(f"{info}/WHEEL"))
        texts = [archive.read(f"{info}/licenses/{name}") for name in
                 metadata.get_all("License-File")]
        bill = json.loads(archive.read(f"{info}/sboms/gputap.cdx.json"))
    [version] = re.findall(r"^  version: '([\d.]+)'", (TREE / "meson.build").read_text(), re.M)
    assert (metadata["Name"], metadata["Version"]) == ("gputap", version)
    assert metadata["Requires-Python"] == ">=3.9"
    assert metadata["License-Expression"] == "MIT AND BSD-3-Clause AND blessing"
    assert {"libzstd", "sqlite3", "libisal"} <= {part["name"] for part in bill["components"]}
    assert len(texts) == 3 and b"Permission is hereby granted" in texts[0]
    assert (kind["Root-Is-Purelib"], kind["Tag"]) == ("false", f"py3-none-{TAG}")
    assert metadata.get_payload().startswith("# gputap\n")


def test_the_record_lists_each_file_with_its_digest(wheel, tmp_path):
    files = wheel_checks.read_files(wheel)
    other = tmp_path / wheel.name
    shutil.copy(wheel, other)
    with zipfile.ZipFile(other, "a") as archive:
        archive.writestr("gputap/added.py", "")
    with pytest.raises(wheel_sources.Wrong, match="RECORD lists other files"):
        wheel_checks.read_files(other)
    assert {"gputap/__init__.py", "gputap/py.typed"} <= set(files)


def test_a_wheel_has_the_whole_product(wheel):
    names = [re.sub(r"^gputap-[\d.]+\.data/(data/)?", "", n) for n in
             wheel_checks.read_files(wheel)]
    library = [n for n in names if n.endswith("/libgputap.so.0")][0].rpartition("/")[0]
    for name in ("scripts/gputap", f"{library}/libgputap-audit.so", "include/gputap/tool.h",
                 f"{library}/gputap/libroctx64.so.4", f"{library}/gputap/librefdev_pu1.so",
                 f"{library}/gputap/soft/cuda/libcuda.so.1", f"{library}/pkgconfig/gputap.pc",
                 "share/man/man1/gputap-run.1", "share/zsh/site-functions/_gputap",
                 "share/bash-completion/completions/gputap", "share/gputap/sql/steps.sql",
                 "gputap/share/gputap/sql/steps.sql", "gputap/capture.py"):
        assert name in names, name
    assert not [n for n in names if "__pycache__" in n or n.endswith("built_from.py")]


def test_the_same_files_make_the_same_bytes(prefix, wheel, tmp_path):
    assert pack(prefix, tmp_path / "again").read_bytes() == wheel.read_bytes()
    assert pack(prefix, tmp_path / "later", "1800000000").read_bytes() != wheel.read_bytes()


def test_libraries_for_torch_are_added_with_their_entry_point(prefix, tmp_path):
    shim = tmp_path / "overlay/gputap/_shim"
    (shim / "torch-2.13").mkdir(parents=True)
    (shim / "__init__.py").touch()
    (shim / "torch-2.13/observer.so").write_bytes(b"library")
    files = wheel_checks.read_files(pack(prefix, tmp_path, overlay=tmp_path / "overlay"))
    assert files["gputap/_shim/torch-2.13/observer.so"] == b"library"
    (entry,) = (data for name, data in files.items() if name.endswith("entry_points.txt"))
    parser = configparser.ConfigParser()
    parser.read_string(entry.decode())
    assert parser["torch.backends"]["gputap"] == "gputap._shim:autoload"


def test_an_incomplete_installation_is_not_packed(prefix, tmp_path):
    copy = tmp_path / "prefix"
    shutil.copytree(prefix, copy, symlinks=True)
    (copy / "share/man/man1/gputap.1").unlink()
    with pytest.raises(wheel_sources.Wrong, match="has no .*gputap.1: run `meson install` again"):
        pack(copy, tmp_path)


# Checks --------------------------------------------------------------------------------

def test_the_checks_name_a_path_of_the_machine(wheel):
    files = wheel_checks.read_files(wheel)
    name = next(n for n in files if n.endswith("scripts/gputap"))
    assert not wheel_checks.check_paths(files, ["/no/such/folder"])
    files[name] += b"/no/such/folder/main.c"
    assert wheel_checks.check_paths(files, ["/no/such/folder"]) == [f"{name} names /no/such/folder"]


def test_the_checks_name_a_library_of_another_processor_and_one_of_a_distribution(wheel, tmp_path):
    files = {n: d for n, d in wheel_checks.read_files(wheel).items() if n.endswith("/gputap")}
    other = next(m for m in wheel_checks.MACHINES if m != os.uname().machine)
    assert "scripts/gputap is for" in "\n".join(wheel_checks.check_libraries(files, other,
                                                                             tmp_path))
    needs = wheel_checks.check_libraries(files, os.uname().machine, tmp_path)
    assert any("needs libzstd.so.1" in text for text in needs)  # this build is for one machine


# Installed -----------------------------------------------------------------------------

def test_command_and_package_find_their_libraries_under_a_path_with_space_and_colon(
        run, target, site, work):
    program = work / "program.py"
    find = f"import sys; sys.path.insert(0, {str(site)!r})\n"  # PYTHONPATH allows no colon
    program.write_text(find + "import gputap, os\nwith gputap.range('step'): pass\n"
                       "print(os.environ['LD_PRELOAD'])\n")
    out = run([target / "bin/gputap", "run", "-o", "c.gputap", sys.executable, program],
              env=ENVIRONMENT).out
    preloaded = out.splitlines()[0]
    assert preloaded.endswith("/lib/libgputap.so.0") and not set(preloaded) & set(" :")
    assert not os.path.exists(preloaded)  # the link has gone with the session
    script = (find + "from gputap import library, command; print(library.library._name);"
              "print(command.find()); print(command.run('report', 'c.gputap'))")
    out = run([sys.executable, "-c", script], env=ENVIRONMENT).out
    library, command, listed = out.split("\n", 2)
    assert library.startswith(str(target)) and library.endswith("/libgputap-capture.so.0")
    assert command == str(target / "bin/gputap")
    assert listed.startswith("c.gputap: ")


def test_a_process_that_outlives_the_session_does_not_pass_its_link_on(run, target, work):
    os.mkfifo(work / "ended")
    (work / "outlive").write_text("read line <ended; export line\n"
                                  "/bin/sh -c 'echo $line $LD_PRELOAD $LD_AUDIT.' >seen 2>&1\n"
                                  "echo done >left\n")
    run([target / "bin/gputap", "run", "-o", "c.gputap", "sh", "-c",
         "setsid sh outlive >/dev/null 2>&1 &"], env=ENVIRONMENT)
    (work / "ended").write_text("yes\n")
    wait_until((work / "left").exists, "the program that outlives the session")
    assert (work / "seen").read_text() == "yes .\n"  # and nothing from ld.so


def test_the_command_works_through_a_symbolic_link(run, target, work):
    (work / "bin").mkdir()
    (work / "bin/gputap").symlink_to(target / "bin/gputap")
    run(["gputap", "run", "-o", "c.gputap", "true"],
        env={**ENVIRONMENT, "PATH": f"{work}/bin:/usr/bin:/bin"})


def test_doctor_tests_injection_under_such_a_path(run, target):
    found = run([target / "bin/gputap", "doctor"], env=ENVIRONMENT, status=None).out
    assert "LD_PRELOAD and LD_AUDIT load both libraries" in found


def test_software_accelerators_get_a_link_without_separators(run, target):
    out = run([target / "bin/gputap", "soft", "cuda", "--", "sh", "-c", "echo $LD_LIBRARY_PATH"],
              env={**ENVIRONMENT, "LD_LIBRARY_PATH": ""}).out.strip()
    for folder in out.split(":"):
        assert os.path.exists(folder), folder
        os.unlink(folder)
    assert "libcuda.so.1" in os.listdir(next(target.rglob("soft/cuda")))


def test_compilers_find_headers_and_library(run, target, work):
    (work / "p.c").write_text("#include <stdio.h>\n#include <gputap/gputap.h>\n"
                              "int main(void) { printf(\"%u\\n\", gputap_version()); }\n")
    folder = next(target.rglob("libgputap.so.0")).parent
    shutil.copytree(target, work / "moved")  # pkg-config cannot print a path with a space
    moved = work / "moved" / folder.relative_to(target)
    flags = run(["pkg-config", "--cflags", "--libs", "gputap"],
                env={"PKG_CONFIG_PATH": moved / "pkgconfig"}).out.split()
    run(["cc", "p.c", "-o", "p", *flags, f"-Wl,-rpath,{moved}"])
    assert run(["./p"]).out.strip().isdigit()


# Bad installations ---------------------------------------------------------------------

def test_a_half_installed_wheel_says_what_is_missing(run, target, site, work):
    shutil.copytree(target, work / "half")
    next((work / "half").rglob("libgputap-audit.so")).unlink()
    err = " ".join(run([work / "half/bin/gputap", "run", "true"], env=ENVIRONMENT, status=1)
                   .err.split())
    assert "not installed completely" in err and "libgputap-audit.so must be in" in err
    next((work / "half").rglob("libgputap-capture.so.0")).unlink()
    err = run([sys.executable, "-c", "import gputap; gputap.open"],
              env={**ENVIRONMENT, "PYTHONPATH": work / "half" / site.relative_to(target),
                   "PATH": "/usr/bin:/bin"},
              status=1).err
    assert "Install gputap, put its command into PATH" in err


def test_a_library_of_the_other_processor_is_named(run, target, site, work):
    shutil.copytree(target, work / "other")
    library = next((work / "other").rglob("libgputap-capture.so.0"))
    data = bytearray(library.read_bytes())
    other, name = (183, "aarch64") if os.uname().machine == "x86_64" else (62, "x86_64")
    data[18:20] = other.to_bytes(2, "little")
    library.write_bytes(data)
    err = run([sys.executable, "-c", "import gputap; gputap.open"],
              env={**ENVIRONMENT, "PYTHONPATH": work / "other" / site.relative_to(target)},
              status=1).err
    assert f"{library} is for {name}, and this machine is {os.uname().machine}" in err


def test_another_gputap_in_ld_preload_is_not_loaded_and_named(run, target, work, build):
    other = work / "other"
    other.mkdir()
    shutil.copy(build / "libgputap.so.0", other)
    result = run([target / "bin/gputap", "run", "-o", "c.gputap", "sh", "-c", "echo $LD_PRELOAD"],
                 env={**ENVIRONMENT, "LD_PRELOAD": other / "libgputap.so.0"})
    assert f"LD_PRELOAD names another gputap, {other}" in " ".join(result.err.split())
    assert str(other) not in result.out


def test_another_gputap_in_ld_library_path_is_named_and_its_library_not_loaded(
        run, target, work, build):
    (work / "p.c").write_text("int gputap_version(void);\n"
                              "int main(void) { return !gputap_version(); }\n")
    run(["cc", "p.c", "-o", "p", build / "libgputap.so.0"])
    other = work / "other"
    other.mkdir()
    (other / "libgputap.so.0").write_text("an incompatible version\n")
    run(["./p"], env={**ENVIRONMENT, "LD_LIBRARY_PATH": other}, status=127)
    result = run([target / "bin/gputap", "run", "-o", "c.gputap", "./p"],
                 env={**ENVIRONMENT, "LD_LIBRARY_PATH": other})
    assert f"LD_LIBRARY_PATH has another gputap, {other}" in " ".join(result.err.split())


def test_an_old_python_is_refused_with_a_sentence(run, site):
    old = (f"import sys; sys.version_info = (3, 8, 18, 'final', 0); "
           f"sys.path.insert(0, {str(site)!r}); ")
    sentence = "gputap: reading captures needs Python 3.9 or later, and this is Python 3.8"
    command = "import runpy; runpy.run_module('gputap', run_name='__main__')"
    for script in ("sys.argv[1:] = ['sql']; " + command,
                   "import gputap; gputap.open"):
        err = run([sys.executable, "-c", old + script], env=ENVIRONMENT, status=1).err
        assert err.rstrip().endswith(sentence), err
