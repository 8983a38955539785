# SPDX-License-Identifier: MIT
"""Find gputap's files in a build folder, an installed prefix, or a folder that pack() made for a
machine without a compiler."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

LIBRARIES = ("libgputap.so.0", "libgputap-plugin.so.0", "librefdev.so.1")


def run(command):
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def find(folder, name):
    """Return the topmost file with this name in @folder, or None."""
    found = [p for p in folder.rglob(name) if p.is_file() and os.access(p, os.R_OK)]
    return min(found, key=lambda p: len(p.parts)).absolute() if found else None


class Product:
    """gputap's command and libraries. Raises LookupError with a sentence if a file is missing."""

    def __init__(self, folder, libraries=LIBRARIES):
        self.folder = folder
        self.command = self.get("gputap")
        self.files = {name: self.get(name) for name in libraries}
        self.environment = {}
        missing = re.findall(r"(\S+) => not found", run(["ldd", self.command]))
        if missing:  # pack() puts each file into a separate folder
            self.environment["LD_LIBRARY_PATH"] = ":".join(
                str((folder / "carried" / name).absolute()) for name in missing)

    def get(self, name):
        found = find(self.folder, name)
        if not found:
            raise LookupError(f"no {name} in {self.folder}: build gputap (make), or name another "
                              "folder")
        return found


def pack(build, folder):
    """Install @build with `meson install`, stripped, with the libraries that the command needs.
    Return the total bytes."""
    with tempfile.TemporaryDirectory() as staged:
        run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", staged, "--strip"])
        [command] = pathlib.Path(staged).rglob("bin/gputap")
        for link in filter(pathlib.Path.is_symlink, command.parent.parent.rglob("*")):
            (folder / link.relative_to(command.parent.parent)).unlink(missing_ok=True)
        shutil.copytree(command.parent.parent, folder, dirs_exist_ok=True, symlinks=True,
                        ignore=shutil.ignore_patterns("share", "include"))
    for name, path in re.findall(r"(\S+) => (/\S+)", run(["ldd", folder / "bin/gputap"])):
        if not re.match(r"lib(c|m|dl|pthread|rt)\.so", name):
            (folder / "carried" / name).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / "carried" / name / name)
    return sum(p.stat().st_size for p in folder.rglob("*") if not p.is_symlink())
