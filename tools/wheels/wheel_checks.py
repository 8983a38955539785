# SPDX-License-Identifier: MIT
"""Check a wheel without installing it: its list of files, its size, the symbols it needs, and that
no file names a folder of the machine that built it. Other checks run it: tools/check-wheel."""
import base64
import csv
import hashlib
import io
import pathlib
import re
import sys
import tempfile
import zipfile

import wheel_elf
import wheel_pins
from wheel_sources import Wrong, run

# the C library's parts; all that a library of the wheel may need from outside
LIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
        "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# what the libraries for torch need too; torch has them in the process already
TORCH = {"libtorch_cpu.so", "libc10.so", "libstdc++.so.6", "libgcc_s.so.1"}
TORCH_PART = re.compile(r"/_shim/torch-[^/]*/")
MACHINES = {"x86_64": "X86-64", "aarch64": "AArch64"}
MOST_BYTES = 8 << 20


def read_files(wheel):
    """Return {name: bytes} of the files in @wheel, compared with its RECORD."""
    with zipfile.ZipFile(wheel) as z:
        files = {name: z.read(name) for name in z.namelist()}
    (record,) = (name for name in files if name.endswith(".dist-info/RECORD"))
    listed = list(csv.reader(io.StringIO(files[record].decode())))
    if sorted(row[0] for row in listed) != sorted(files):
        raise Wrong(f"{wheel.name}: RECORD lists other files than the wheel has")
    for name, digest, size in listed:
        real = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        if name != record and (digest, size) != (f"sha256={real}", str(len(files[name]))):
            raise Wrong(f"{wheel.name}: RECORD has another digest for {name}")
    return files


def _version(text):
    return tuple(map(int, re.findall(r"\d+", text)))


def check_libraries(files, machine, folder):
    """Return complaints about programs and libraries in @files."""
    own = {pathlib.PurePath(name).name for name in files}
    found = []
    for name, data in files.items():
        if data[:4] != b"\x7fELF":
            continue
        path = folder / name.replace("/", "_")
        path.write_bytes(data)
        elf = wheel_elf.read_dynamic(path)
        if MACHINES[machine] not in elf.machine:
            found.append(f"{name} is for {elf.machine}")
        allowed = LIBC | own | (TORCH if TORCH_PART.search(name) else set())
        found += [f"{name} needs {library}" for library in elf.needed if library not in allowed]
        if name.endswith("/libgputap-audit.so") and elf.needed:
            found.append(f"{name} needs {elf.needed[0]}: it must need no library")
        newest = [v for versions in elf.versions.values() for v in versions
                  if v.startswith("GLIBC_") and _version(v) > _version(wheel_pins.GLIBC)]
        for version in newest:
            symbols = [s for s, v in elf.symbols.items() if v == version]
            found.append(f"{name} needs {version} ({', '.join(symbols)})")
    return found


def check_paths(files, folders):
    """Return complaints about files that name one of @folders."""
    return [f"{name} names {folder}" for name, data in files.items() for folder in folders
            if str(folder).encode() in data]


def compare(one, other):
    """Raise Wrong that names the files in which two wheels differ."""
    if one.read_bytes() == other.read_bytes():
        return
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        names = sorted({*a.namelist(), *b.namelist()})
        differ = [n for n in names if not ({n} <= {*a.namelist()} & {*b.namelist()}
                                           and a.read(n) == b.read(n))]
    raise Wrong(f"{one} and {other} differ: {', '.join(differ[:10]) or 'order or dates'}")


def check(wheel, folders, tools=None):
    """Check @wheel. Raise Wrong with all complaints; return sentences about what was checked.
    @folders: that no file may name. @tools: folder of a venv for auditwheel, or None."""
    machine = re.search(r"_(x86_64|aarch64)\.whl$", wheel.name).group(1)
    files = read_files(wheel)
    with tempfile.TemporaryDirectory() as folder:
        found = check_libraries(files, machine, pathlib.Path(folder))
    found += check_paths(files, folders)
    if found:
        raise Wrong(f"{wheel.name}:\n  " + "\n  ".join(found))
    said = [f"{len(files)} files, RECORD right, no symbol newer than GLIBC_{wheel_pins.GLIBC}, "
            "no path of this machine"]
    if tools:
        said.append(_ask_auditwheel(wheel, tools))
    size = wheel.stat().st_size
    large = "" if size <= MOST_BYTES else f", more than {MOST_BYTES >> 20} MiB"
    said.append(f"{size / 2**20:.2f} MiB{large}")
    return said


def _ask_auditwheel(wheel, tools):
    if not (tools / "complete").exists():
        run([sys.executable, "-m", "venv", "--clear", tools])
        run([tools / "bin/python", "-m", "pip", "install", "-q",
             f"auditwheel=={wheel_pins.AUDITWHEEL}"])
        (tools / "complete").touch()
    # the libraries for torch need torch's own, which auditwheel does not know
    with tempfile.TemporaryDirectory() as folder:
        rest = pathlib.Path(folder) / wheel.name
        with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(rest, "w") as part:
            for info in whole.infolist():
                data = whole.read(info)
                if info.filename.endswith(".dist-info/RECORD"):
                    data = b"".join(row for row in data.splitlines(True)
                                    if not TORCH_PART.search(row.decode()))
                if not TORCH_PART.search(info.filename):
                    part.writestr(info, data)
        text = run([tools / "bin/auditwheel", "show", rest])
    platform = re.search(r'"(manylinux_\w+)"', text)
    wanted = re.search(r"(manylinux_\w+)\.whl", wheel.name).group(1)
    glibc = re.compile(r"manylinux_(\d+)_(\d+)")
    if not platform or (_version("_".join(glibc.search(platform.group(1)).groups()))
                        > _version("_".join(glibc.search(wanted).groups()))):
        raise Wrong(f"auditwheel says of {wheel.name}:\n{text}")
    return f"auditwheel: {platform.group(1)}"
