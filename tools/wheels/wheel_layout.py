# SPDX-License-Identifier: MIT
"""Pack an installed copy of gputap as a wheel:

    gputap/                          the package for Python, with the views in SQL
    gputap-V.data/scripts/gputap     the command: bin/ of the environment
    gputap-V.data/data/libexec/gputap    libraries, pkg-config and CMake files
    gputap-V.data/data/include, share    everything else, at its place below a prefix
    gputap-V.dist-info/              METADATA, WHEEL, RECORD, licenses/, sboms/, ...

The command and the package find the libraries relative to themselves, so that an environment can
be moved. A wheel cannot hold symbolic links: a library has the name that the linker records
(libx.so.0), and libx.so, which only compilers use, is a linker script that names it."""
import os
import pathlib
import re
import shutil
import sys
import tempfile

import wheel_elf
from wheel_sources import Wrong, run

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "python"))

import build_package  # noqa: E402  pylint: disable=wrong-import-position

NAME = "gputap"
# not lib: `pip install --target` omits a wheel's data/lib, because packages are in HOME/lib/python
LIBDIR = "libexec/gputap"
SUMMARY = "Shows where the time of a GPU program goes, and why the GPU was idle"
CLASSIFIERS = (
    "Development Status :: 4 - Beta",
    "Environment :: Console",
    "Environment :: GPU",
    "Intended Audience :: Developers",
    "Intended Audience :: Science/Research",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: C",
    "Programming Language :: Python :: 3",
    "Topic :: Software Development :: Debuggers",
    "Topic :: System :: Benchmark",
)
# what a wheel without it could not do: named by what checks find missing
LIBRARIES = ("libgputap.so.0", "libgputap-audit.so", "libgputap-capture.so.0",
             "libgputap-plugin.so.0", "pkgconfig/gputap.pc")
OTHERS = ("bin/gputap", "include/gputap/gputap.h", "share/man/man1/gputap.1", "share/gputap/sql")
# torch calls this at the end of `import torch`
TORCH_ENTRY = "[torch.backends]\ngputap = gputap._shim:autoload\n"


def soname(path):
    """Return the name that programs linked with the library @path ask for, or None."""
    data = path.read_bytes()[:4]
    if data != b"\x7fELF":
        return None
    return wheel_elf.read_dynamic(path).soname


def _copy_data(prefix, data):
    """Copy the installation's files to the folder @data, without symbolic links."""
    for folder, _, names in os.walk(prefix):
        for name in sorted(names):
            source = pathlib.Path(folder) / name
            relative = source.relative_to(prefix)
            target = data / relative
            if relative == pathlib.Path("bin/gputap") or "__pycache__" in relative.parts:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                if name.endswith(".so"):
                    wanted = soname(source.resolve())
                    target.write_text(f"/* for compilers: -l{name[3:-3]} */\nINPUT({wanted})\n")
                continue  # a library's other names
            wanted = soname(source) if ".so" in name else None
            if wanted and name.startswith(f"{wanted}."):  # libx.so.1.2.0, known as libx.so.1
                target = target.with_name(wanted)
            shutil.copy(source, target)
            target.chmod(0o755 if wanted or source.suffix == ".so" else 0o644)
    for package in data.glob("lib*/**/*.pc"):
        up = os.path.relpath(data, package.parent)
        package.write_text(re.sub(r"^prefix=.*", f"prefix=${{pcfiledir}}/{up}",
                                  package.read_text(), flags=re.M))


def _metadata(licences):
    """Return METADATA. @licences: {name of a part: (SPDX expression, text)}."""
    expressions = dict.fromkeys(["MIT", *(spdx for spdx, _ in licences.values())])
    lines = ["Metadata-Version: 2.4", f"Name: {NAME}", f"Version: {build_package.version()}",
             f"Summary: {SUMMARY}", f"License-Expression: {' AND '.join(expressions)}",
             *(f"License-File: {name}" for name in ("LICENSE", *(f"{n}.txt" for n in licences))),
             "Author: the gputap authors",
             "Keywords: cuda,hip,opencl,level-zero,profiler,tracing,torch",
             *(f"Classifier: {text}" for text in CLASSIFIERS),
             f"Requires-Python: >={build_package.PYTHON}",
             "Description-Content-Type: text/markdown"]
    return "\n".join(lines) + "\n\n" + (TREE / "README.md").read_text(encoding="utf-8")


def pack(prefix, output, tag, licences, overlay=None):
    """Write the wheel of the installation @prefix for the platform @tag to the folder @output.
    @overlay: folder whose files are added to those for Python, or None. Return the wheel's
    path."""
    library = next(iter(sorted(prefix.glob("lib*/**/libgputap.so.0"))), prefix / "lib/any")
    missing = [str(path) for path in (*(library.parent / name for name in LIBRARIES),
                                      *(prefix / name for name in OTHERS)) if not path.exists()]
    if missing:
        raise Wrong(f"{prefix} has no {', '.join(missing)}: run `meson install` again")
    release = f"{NAME}-{build_package.version()}"
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        data = tree / f"{release}.data"
        build_package.copy_package(folder)
        (tree / NAME / "built_from.py").unlink()
        (data / "scripts").mkdir(parents=True)
        shutil.copy(prefix / "bin/gputap", data / "scripts/gputap")
        (data / "scripts/gputap").chmod(0o755)
        _copy_data(prefix, data / "data")
        if overlay and overlay.is_dir():
            shutil.copytree(overlay, tree, dirs_exist_ok=True)
        files = {
            "METADATA": _metadata(licences),
            "WHEEL": f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\n"
                     f"Tag: py3-none-{tag}\n",
            "licenses/LICENSE": (TREE / "LICENSE").read_text(encoding="utf-8"),
            **{f"licenses/{name}.txt": text for name, (_, text) in licences.items()},
        }
        files["sboms/gputap.cdx.json"] = run([sys.executable, TREE / "tools/sbom"])
        if (tree / NAME / "_shim/__init__.py").exists():
            files["entry_points.txt"] = TORCH_ENTRY
        output.mkdir(parents=True, exist_ok=True)
        wheel = output / f"{release}-py3-none-{tag}.whl"
        build_package.write_wheel(tree, wheel, f"{release}.dist-info", files)
    return wheel
