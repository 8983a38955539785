# SPDX-License-Identifier: MIT
"""Test tools/sbom: its bills are valid CycloneDX, name the contents of each file of a release, and
are the same each time."""
import hashlib
import json
import os
import subprocess

import pytest

from conftest import REPO

PINS = '''from collections import namedtuple
Source = namedtuple("Source", "name version sha256 licence texts")
SOURCES = (Source("libzstd", "1.5.4+dfsg2-5", "a" * 64, "BSD-3-Clause", "LICENSE"),
           Source("sqlite3", "3.40.1-2", "b" * 64, "blessing", "LICENSE.md"))
'''
CONTROL = """Package: gputap
Version: 0.1.0
Architecture: amd64
Maintainer: the gputap authors <maintainers@localhost>
Depends: libc6 (>= 2.34), libzstd1 (>= 1.5.2), libdw1 | libdw1t64, libstdc++6
Description: tracer
"""


@pytest.fixture
def pins(work):
    (work / "pins.py").write_text(PINS)
    return work / "pins.py"


@pytest.fixture
def wheel(work):
    path = work / "gputap-0.1.0-py3-none-manylinux_2_28_x86_64.whl"
    path.write_bytes(b"a wheel")
    return path


@pytest.fixture
def package(work):
    (work / "tree/DEBIAN").mkdir(parents=True)
    (work / "tree/DEBIAN/control").write_text(CONTROL)
    subprocess.run(["dpkg-deb", "--build", "tree", "gputap_0.1.0_amd64.deb"], check=True,
                   stdout=subprocess.DEVNULL)
    return work / "gputap_0.1.0_amd64.deb"


def make(*arguments, epoch="1700000000"):
    """Return the text of a bill. Fail if it is not valid."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
    done = subprocess.run([REPO / "tools/sbom", *arguments], capture_output=True, text=True,
                          env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    assert done.returncode == 0, done.stderr
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(done.stdout) is None
    return done.stdout


def components(bill):
    return {one["name"]: one for one in bill["components"]}


def edges(bill):
    return {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}


def test_the_bill_of_a_wheels_contents_names_the_linked_libraries(pins):
    bill = json.loads(make("--pins", pins))
    assert set(components(bill)) == {"libzstd", "sqlite3"}
    zstd = components(bill)["libzstd"]
    assert zstd["version"] == "1.5.4+dfsg2-5"
    assert zstd["hashes"] == [{"alg": "SHA-256", "content": "a" * 64}]
    assert zstd["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]
    assert bill["metadata"]["component"]["name"] == "gputap"
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"


def test_the_bill_of_a_release_names_its_files_and_what_each_needs(pins, wheel, package):
    bill = json.loads(make("--pins", pins, wheel, package))
    named = components(bill)
    for path in (wheel, package):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert named[path.name]["hashes"] == [{"alg": "SHA-256", "content": digest}]
    assert edges(bill)[wheel.name] == ["pkg:deb/debian/libzstd@1.5.4+dfsg2-5",
                                       "pkg:deb/debian/sqlite3@3.40.1-2"]
    assert edges(bill)[package.name] == [f"pkg:deb/debian/{name}" for name in
                                         ("libc6", "libdw1", "libstdc++6", "libzstd1")]
    assert named["libc6"]["properties"] == [{"name": "gputap:needed-version", "value": ">= 2.34"}]


def test_a_bill_without_a_wheel_needs_no_list_of_libraries(work, package):
    assert "libzstd1" in components(json.loads(make("--pins", work / "nothing", package)))


def test_the_same_files_have_the_same_bill(pins, wheel):
    first = make("--pins", pins, wheel)
    assert make("--pins", pins, wheel) == first
    wheel.write_bytes(b"another wheel")
    assert json.loads(make("--pins", pins, wheel))["serialNumber"] != json.loads(
        first)["serialNumber"]


def test_the_list_of_libraries_of_this_tree_has_a_valid_bill():
    listed = REPO / "tools/wheels/wheel_pins.py"
    if listed.exists():
        assert {"libzstd", "sqlite3", "libisal"} <= set(components(json.loads(make())))


@pytest.mark.parametrize("arguments, epoch, said", [
    (["missing.whl", "--pins", "pins.py"], "1", "missing.whl: No such file or directory"),
    (["--pins", "nothing"], "1", "nothing does not exist: it lists the libraries that a wheel"),
    (["pins.deb"], "1", "pins.deb is not a Debian package"),
    (["--pins", "pins.py"], "now", "SOURCE_DATE_EPOCH is 'now', not a number of seconds"),
])
def test_bad_input_is_a_sentence(work, pins, arguments, epoch, said):
    (work / "pins.deb").write_text("no package")
    done = subprocess.run([REPO / "tools/sbom", *arguments], capture_output=True, text=True,
                          env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
