# SPDX-License-Identifier: MIT
"""Run the fuzzers for GPUTAP_FUZZ seconds, with seeds that synth writes. tools/test-deep builds the
fuzzers in build-fuzz."""

import os
import re

import pytest

SECONDS = int(os.environ.get("GPUTAP_FUZZ", "0"))
SHARE = SECONDS // 7
OPTIONS = [
    "-entropic=0", "-max_len=16384", "-timeout=20", "-rss_limit_mb=1024",
    f"-max_total_time={SHARE}"
]
ENVIRONMENT = {
    "ASAN_OPTIONS": "quarantine_size_mb=4", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"
}

pytestmark = [pytest.mark.deep, pytest.mark.timeout(SECONDS + 600),
              pytest.mark.skipif(not SECONDS, reason="GPUTAP_FUZZ is 0 or unset")]


@pytest.fixture
def corpus(work, run, repo, build):
    run([repo / "tests/fuzz/corpus", build / "tests/synth/synth", "reader", "writer", "merge"])
    return work


def fuzz(run, repo, target, **more):
    program = repo / "build-fuzz/tests/fuzz" / f"fuzz_{target}"
    run([program, *OPTIONS, f"-artifact_prefix=found-{target}-", target],
        env=ENVIRONMENT | more,
        timeout=SECONDS + 100)


def test_any_bytes_as_a_capture_are_read_or_refused(corpus, run, repo):
    fuzz(run, repo, "reader")


def test_any_bytes_as_two_captures_are_merged_into_what_both_say_or_refused(corpus, run, repo):
    fuzz(run, repo, "merge")


def test_any_bytes_as_records_are_taken_or_refused(corpus, run, repo):
    fuzz(run, repo, "writer")


def test_any_bytes_as_a_stored_summary_are_restored_or_ignored(corpus, run, repo):
    fuzz(run, repo, "summary", FUZZ_CAPTURE=corpus / "summary.gputap")


def run_mutants(run, repo, work, **more):
    out = run([repo / "tests/fuzz/hostile", 1000000, work],
              env={
                  "HOSTILE_SECONDS": SHARE,
                  "HOSTILE_JOBS": 1
              } | more,
              timeout=SECONDS + 300).out
    assert " 0 findings" in out and not out.startswith("0 mutants")
    return out


def test_no_command_crashes_or_is_silently_wrong_on_a_capture_with_right_checksums(run, repo, work):
    run_mutants(run, repo, work)


def test_plausible_mutants_are_compared_not_refused(run, repo, work):
    out = run_mutants(run, repo, work, HOSTILE_PLAUSIBLE="1")
    good, failed, refused = map(
        int,
        re.search(r"^  diff  +status 0: (\d+), 1: (\d+), other: (\d+)$", out, re.M).groups())
    assert good > 2 * (failed + refused)


def test_random_command_lines_end_in_order_and_print_what_a_terminal_or_a_parser_takes(
        run, repo, work):
    out = run([repo / "tests/fuzz/lines", SHARE, work],
              env={
                  "LINES_JOBS": 1
              },
              timeout=SECONDS + 300).out
    assert " 0 findings" in out and not out.startswith("0 command lines")
