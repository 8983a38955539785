# SPDX-License-Identifier: MIT
"""Versions and hashes of everything that is fetched to build wheels; git contains none of it.

After a change of the distribution: `apt-get source --print-uris NAME` prints the versions that it
offers, and tools/make-wheel prints the hash that it found beside the one that it expected."""
from collections import namedtuple

ZIG = "0.17.1"  # PyPI's ziglang: clang, a linker, and the C library's symbols of any version
AUDITWHEEL = "6.8.2"
GLIBC = "2.28"  # RHEL 8, SLES 15 SP3, Debian 10, Ubuntu 18.10, and everything later
SUITE = "bookworm"

# Libraries that are linked statically. @sha256: of the .dsc, which lists the hashes of the archive
# and of the distribution's patches. @texts: the licence, a file of the source.
Source = namedtuple("Source", "name version sha256 licence texts")
SOURCES = (
    Source("libzstd", "1.5.4+dfsg2-5",
           "8f602f92b575aa8b5e979196fb6ee82d78f233521dc9636526d3ecba1f63c1b1", "BSD-3-Clause",
           "LICENSE"),
    Source("sqlite3", "3.40.1-2+deb12u2",
           "ee3459ae9d00939741c7708fc1b8ce1bde12d8c3fb1dfa005bbbc8651d884e23", "blessing",
           "LICENSE.md"),
    Source("libisal", "2.30.0-5",
           "f0376ddb24f0126641161054002a251ba48b52c2e28fe29cc7b5106e9f0938a8", "BSD-3-Clause",
           "LICENSE"),
)

# Headers of runtimes, from packages: declarations only. @architecture is the package's.
Headers = namedtuple("Headers", "name version architecture sha256")
HEADERS = (
    Headers("opencl-c-headers", "3.0~2023.02.06-1", "all",
            "81fedfd0a14a0694c4f6097faea417e1d9afc0c80cb41aa9e7b65e2c51f5fc4b"),
    Headers("libhsa-runtime-dev", "5.2.3-3", "amd64",
            "7b5d021c2718818d597cd9439581757931ecdc8e346c1f5e7aab664793b53fb0"),
    Headers("libze-dev", "1.8.12-1", "amd64",
            "04982092f99d0815fad8352c785ae5e0a91501aab358745b4cd9a7ce78b54606"),
)
