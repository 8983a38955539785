# SPDX-License-Identifier: MIT
# A package for Spack 1.0 and later. Put this file into packages/gputap of a repository of your own
# (spack repo create), go to a folder with gputap-0.1.0.tar.gz (make release), then:
#   spack install --no-checksum gputap
# or, in the source tree: spack dev-build gputap@0.1.0
import os

from spack.package import depends_on, license, variant, version, when
from spack_repo.builtin.build_systems.meson import MesonPackage


class Gputap(MesonPackage):
    """Tracer for programs that use GPUs and other accelerators. It records every host call and
    every kernel, copy and allocation on the device, each linked to the call that caused it, on one
    clock, of CUDA, HIP, HSA, Level Zero, SYCL, OpenCL, MPI and PyTorch."""

    manual_download = True
    url = f"file://{os.getcwd()}/gputap-0.1.0.tar.gz"

    license("MIT")

    version("0.1.0")

    variant("soft", default=False,
            description="AMD and Level Zero devices in software, for tests without a GPU")

    depends_on("c", type="build")
    depends_on("meson@0.56:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("opencl-c-headers", type="build")
    depends_on("isa-l")
    depends_on("sqlite@3.24:")
    depends_on("zstd@1.4:")
    with when("+soft"):
        depends_on("hsa-rocr-dev", type="build")
        depends_on("oneapi-level-zero", type="build")

    build_targets = ["product"]

    def meson_args(self):
        return ["-Dtests=false", "--libdir=lib"]
