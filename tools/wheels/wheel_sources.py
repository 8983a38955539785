# SPDX-License-Identifier: MIT
"""Fetch the sources and headers that wheel_pins.py lists, with apt from the mirror that this
machine uses, and check them. A private apt configuration serves for that: the machine's lists and
sources stay as they are."""
import hashlib
import os
import re
import shutil
import subprocess

import wheel_pins

CONFIGURATION = """
Dir::Etc::SourceList "{folder}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "{folder}/lists";
Dir::State::status "/dev/null";
Dir::Cache "{folder}/cache";
APT::Sandbox::User "root";
APT::Architecture "{architecture}";
APT::Architectures "{architecture}";
"""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Wrong(SystemExit):
    """The reason why a wheel cannot be made, with the solution."""

    def __init__(self, text):
        super().__init__(f"make-wheel: {text}")


def run(command, **options):
    """Run @command quietly. If it fails, raise Wrong with the end of its output."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if done.returncode:
        said = "\n".join(done.stdout.strip().splitlines()[-15:])
        raise Wrong(f"{' '.join(map(str, command))[:300]} failed:\n{said}")
    return done.stdout


def need(program, package):
    """Return the path of @program."""
    found = shutil.which(program)
    if not found:
        raise Wrong(f"no program {program}: apt-get install {package}")
    return found


def _mirrors():
    """Return the URI of each Debian archive that apt uses on this machine."""
    need("apt-get", "apt (wheels are built on Debian or a derivative)")
    found = run(["apt-get", "indextargets", "--format", "$(REPO_URI)",
                 "Created-By: Packages"]).split()
    return [uri for uri in dict.fromkeys(found) if re.search(r"/debian/?$", uri)]


class Archive:
    """The distribution's archive, for packages of one architecture."""

    def __init__(self, folder, architecture="amd64"):
        self.folder = folder
        mirrors = _mirrors()
        if not mirrors:
            raise Wrong("apt's configuration names no Debian mirror (a URI that ends in /debian); "
                        f"add one for {wheel_pins.SUITE} to /etc/apt/sources.list.d")
        for part in ("lists/partial", "cache/archives/partial"):
            os.makedirs(folder / part, exist_ok=True)
        with open(folder / "sources.list", "w", encoding="utf-8") as f:
            option = f" [signed-by={KEYRING}]" if os.path.exists(KEYRING) else ""
            for kind in ("deb", "deb-src"):
                f.write(f"{kind}{option} {mirrors[0]} {wheel_pins.SUITE} main\n")
        path = folder / "apt.conf"
        path.write_text(CONFIGURATION.format(folder=folder, architecture=architecture))
        self.environment = {**os.environ, "APT_CONFIG": str(path)}
        self.is_fresh = False

    def apt(self, *arguments, folder=None):
        if not self.is_fresh:
            run(["apt-get", "-q", "update"], env=self.environment)
            self.is_fresh = True
        return run(["apt-get", "-q", *arguments], cwd=folder, env=self.environment)


def _check(path, expected, what):
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise Wrong(f"{path.name} of {what} has the hash {found}, but tools/wheels/wheel_pins.py "
                    f"expects {expected}: the archive has changed, or the pin is out of date")


def fetch_source(archive, source, folder):
    """Fetch and unpack @source, with the distribution's patches. Return its folder."""
    place = folder / f"{source.name}_{source.version}"
    tree = place / "tree"
    if tree.is_dir():
        return tree
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    need("dpkg-source", "dpkg-dev")
    archive.apt("source", "--download-only", f"{source.name}={source.version}", folder=place)
    (dsc,) = place.glob("*.dsc")
    _check(dsc, source.sha256, source.name)
    # compares the hashes of the other files with those in the .dsc
    run(["dpkg-source", "--no-check", "-x", dsc, place / "part"])
    (place / "part").rename(tree)
    return tree


def fetch_headers(archive, headers, folder):
    """Unpack the headers of the package @headers below @folder/include."""
    place = folder / f"{headers.name}_{headers.version}"
    if not place.is_dir():
        part = folder / f"{headers.name}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        archive.apt("download", f"{headers.name}={headers.version}", folder=part)
        (package,) = part.glob("*.deb")
        _check(package, headers.sha256, headers.name)
        run(["dpkg-deb", "-x", package, part])
        part.rename(place)
    shutil.copytree(place / "usr/include", folder / "include", dirs_exist_ok=True)
