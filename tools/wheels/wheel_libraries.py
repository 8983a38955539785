# SPDX-License-Identifier: MIT
"""Compile zstd, SQLite and isa-l as static libraries for one processor, from the unpacked sources
of the distribution."""
import os
import re
import shutil

from wheel_sources import need, run

PACKAGE = """prefix={prefix}
Name: {name}
Description: {name}, linked statically
Version: {version}
Libs: -L{prefix}/lib -l{library}
Cflags: -I{prefix}/include
"""
FLAGS = ["-O2", "-fPIC", "-DNDEBUG", "-fvisibility=hidden", "-ffunction-sections",
         "-fdata-sections"]


def compile_zstd(toolchain, tree, prefix):
    library = tree / "lib"
    sources = [s for part in ("common", "compress", "decompress")
               for s in sorted((library / part).iterdir()) if s.suffix in (".c", ".S")]
    objects = toolchain.compile(sources, prefix / "objects/zstd",
                                [*FLAGS, f"-I{library}", "-DZSTD_LEGACY_SUPPORT=0"])
    toolchain.archive(objects, prefix / "lib/libzstd.a")
    return [library / "zstd.h", library / "zstd_errors.h"]


def compile_sqlite(toolchain, tree, prefix):
    if not (tree / "sqlite3.c").is_file():  # SQLite's own tools join its sources
        need("tclsh", "tcl")
        run(["./configure", "--disable-tcl", "--disable-readline"], cwd=tree)
        run(["make", "sqlite3.c"], cwd=tree)
    objects = toolchain.compile([tree / "sqlite3.c"], prefix / "objects/sqlite3", [
        *FLAGS, "-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION"])
    toolchain.archive(objects, prefix / "lib/libsqlite3.a")
    return [tree / "sqlite3.h"]


def _isal_sources(tree, machine):
    """Return the files that isa-l's Makefile lists for compression and for checksums. Compression
    is in C on aarch64: clang refuses the assembly of this version."""
    found = []
    for part in ("igzip", "crc", "crc/aarch64"):
        fast = machine if part != "igzip" or machine == "x86_64" else "base_aliases"
        text = (tree / part / "Makefile.am").read_text()
        for name, files in re.findall(r"^(\w+)\s*\+=\s*((?:.*\\\n)*.*)", text, re.M):
            if name in ("lsrc", f"lsrc_{fast}"):
                found += [f for f in files.replace("\\", " ").split() if f not in found]
    return [tree / f for f in found]


def compile_isal(toolchain, tree, prefix):
    folders = ["include", "igzip", "crc", "crc/aarch64", "igzip/aarch64"]
    objects = toolchain.compile(
        _isal_sources(tree, toolchain.machine), prefix / "objects/isal",
        [*FLAGS, *(f"-I{tree / folder}/" for folder in folders), "-DAS_FEATURE_LEVEL=10",
         "-DHAVE_AS_KNOWS_AVX512"])
    toolchain.archive(objects, prefix / "lib/libisal.a")
    shutil.copytree(tree / "include", prefix / "include/isa-l", dirs_exist_ok=True)
    return []


LIBRARIES = {
    "libzstd": (compile_zstd, "libzstd", "zstd"),
    "sqlite3": (compile_sqlite, "sqlite3", "sqlite3"),
    "libisal": (compile_isal, "libisal", "isal"),
}


def compile_libraries(toolchain, sources, prefix):
    """Install all libraries into the folder @prefix. @sources: {Source: unpacked folder}."""
    if (prefix / "complete").exists():
        return
    shutil.rmtree(prefix, ignore_errors=True)
    os.makedirs(prefix / "include")
    os.makedirs(prefix / "lib/pkgconfig")
    for source, tree in sources.items():
        compile_one, package, library = LIBRARIES[source.name]
        for header in compile_one(toolchain, tree, prefix):
            shutil.copy(header, prefix / "include")
        (prefix / f"lib/pkgconfig/{package}.pc").write_text(PACKAGE.format(
            prefix=prefix, name=package, library=library,
            version=re.match(r"[\d.]+", source.version).group()))
    (prefix / "complete").touch()
