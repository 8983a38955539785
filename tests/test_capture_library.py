# SPDX-License-Identifier: MIT
"""Test libgputap-capture from C: its symbols, its examples, its header in C and C++, and its
answers to wrong arguments and bad files. tests/test_python_reading.py compares the rows."""
import ctypes
import json
import os
import re
import subprocess
import threading

import pytest

from conftest import REPO

HEADERS = ["-std=c99"], ["-xc++", "-std=c++11"]


@pytest.fixture(scope="module")
def library(build):
    return build / "libgputap-capture.so.0"


@pytest.fixture(scope="module")
def capture(tmp_path_factory, build):
    path = tmp_path_factory.mktemp("capture") / "a.gputap"
    subprocess.run([
        build / "tests/synth/synth", "--calls", "30000", "--threads", "3", "--devices", "2",
        "--nested", "--failed", "--steps", "100", "-o", path
    ], check=True)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory, build):
    """Return a function that compiles a source file or text with the library."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name, text=None, *, options=()):
        source = REPO / f"examples/capture/{name}.c"
        if text is not None:
            source = folder / f"{name}.c"
            source.write_text(text)
        subprocess.run([
            "cc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", *options, f"-I{REPO}/include",
            source, "-o", folder / name, f"-L{build}", "-l:libgputap-capture.so.0",
            f"-Wl,-rpath,{build}"
        ], check=True)
        return folder / name
    return compiled


def report(tap, capture, *options):
    return json.loads(tap("report", "--json", *options, capture).out)


# The library ---------------------------------------------------------------

def test_the_symbols_are_those_of_the_list(run, library):
    text = (REPO / "docs/reference/symbols.txt").read_text().partition(
        "# libgputap-capture.so.0")[2]
    listed = {line.split()[0] for line in text.splitlines() if line.startswith("gputap_")}
    found = set(re.findall(r" T (\w+)@@GPUTAP_CAPTURE_0", run(
        ["nm", "-D", "--defined-only", library]).out))
    assert found == listed and len(found) >= 13
    assert " T " not in re.sub(r" T \w+@@GPUTAP_CAPTURE_0", "", run(
        ["nm", "-D", "--defined-only", library]).out)


def test_it_needs_neither_libgputap_nor_arrow(run, library):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-d", library]).out)
    assert {n.partition(".so")[0] for n in needed} <= {
        "libc", "libm", "libzstd", "libisal", "libdl", "libpthread", "ld-linux-x86-64",
        "ld-linux-aarch64"
    }


@pytest.mark.parametrize("standard", HEADERS)
def test_the_header_is_c_and_cpp(run, standard):
    run(["cc", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{REPO}/include",
         *(standard if "-xc++" in standard else ["-xc", *standard]), "-"],
        stdin="#include <gputap/capture.h>\n")


def test_the_header_takes_arrows_own_definitions(run):
    guards = ("#define ARROW_C_DATA_INTERFACE\n#define ARROW_C_STREAM_INTERFACE\n"
              "struct ArrowArrayStream;\n")
    run(["cc", "-fsyntax-only", "-Werror", f"-I{REPO}/include", "-xc", "-"],
        stdin=guards + "#include <gputap/capture.h>\n")


# Examples ------------------------------------------------------------------

def test_top_kernels_has_60_lines_and_prints_what_a_report_does(tap, program, run, capture):
    assert len((REPO / "examples/capture/top_kernels.c").read_text().splitlines()) <= 60
    lines = run([program("top_kernels"), capture]).out.splitlines()
    found = [re.match(r" *(\d+\.\d+) ms +(\d+) x (.*)", line).groups() for line in lines]
    kernels = report(tap, capture)["kernels"][:10]
    assert [(f"{k['total_ns'] / 1e6:.3f}", str(k["count"]), k["name"]) for k in kernels] == found


def test_arrow_rows_adds_up_all_calls(tap, program, run, capture):
    out = run([program("arrow_rows"), capture]).out
    whole = report(tap, capture)
    calls = whole["calls"] + whole["range_records"]
    assert out.startswith(f"{calls} calls, ")


def test_examples_name_the_cause(program, run, work):
    (work / "text").write_text("no capture")
    assert run([program("top_kernels"), work / "text"], status=1).err == \
        f"top_kernels: {work}/text is not a gputap capture\n"
    (work / "empty").mkdir()
    assert run([program("arrow_rows"), work / "empty"], status=1).err == \
        f"arrow_rows: {work}/empty contains no file *.gputap\n"


# Wrong arguments -----------------------------------------------------------

WRONG = r"""
#include <gputap/capture.h>
#include <errno.h>
#include <stdio.h>

static void told(const char *what, int status)
{
	printf("%s: %d [%s]\n", what, status, gputap_capture_error());
}

int main(int argc, char **argv)
{
	struct gputap_capture_health health = {.size = sizeof health};
	struct gputap_capture_column column = {.size = sizeof column};
	struct gputap_capture_table table = {.size = sizeof table};
	struct gputap_capture_call call = {.size = sizeof call};
	struct gputap_capture_activity activity = {.size = sizeof activity};
	struct gputap_capture_stream_options options = {.size = sizeof options};
	const char *const paths[] = {argv[1], NULL}, *const columns[] = {"duration"};
	struct gputap_capture_cursor *cursor;
	struct gputap_capture *capture, *some;
	struct ArrowArrayStream stream;
	size_t at = 99;

	(void)argc;
	told("no health", gputap_capture_open(paths, 1, NULL, &capture));
	told("no path", gputap_capture_open(paths, 0, &health, &capture));
	told("no result", gputap_capture_open(paths, 1, &health, NULL));
	health.size = 0;
	told("no size", gputap_capture_open(paths, 1, &health, &capture));
	health.size = sizeof health;
	told("good", gputap_capture_open(paths, 1, &health, &capture));
	told("where", gputap_capture_where(capture, "duration>nano", &at, &some));
	printf("at %zu\n", at);
	told("no table", gputap_capture_stream(capture, "call", NULL, &stream));
	told("table 99", gputap_capture_table_at(99, &table));
	told("column 99", gputap_capture_column_at("calls", 99, &column));
	options.columns = columns;
	options.column_count = 1;
	told("no column", gputap_capture_stream(capture, "calls", &options, &stream));
	options.column_count = 0;
	told("none", gputap_capture_stream(capture, "calls", &options, &stream));
	options.columns = NULL;
	options.partition = options.partitions = 2;
	told("part", gputap_capture_stream(capture, "calls", &options, &stream));
	options.partition = options.partitions = 0;
	options.first_session = options.session_count = 1;
	told("session", gputap_capture_stream(capture, "calls", &options, &stream));
	told("no cursor", gputap_capture_cursor(capture, "idle", &cursor));
	told("cursor", gputap_capture_cursor(capture, "calls", &cursor));
	told("other", gputap_capture_next_activity(cursor, &activity));
	told("next", gputap_capture_next_call(cursor, &call) - 1);
	call.size = 0;
	told("no size", gputap_capture_next_call(cursor, &call));
	gputap_capture_cursor_close(cursor);
	gputap_capture_cursor_close(NULL);
	gputap_capture_close(capture);
	gputap_capture_close(NULL);
	return 0;
}
"""


def test_wrong_arguments_get_an_error_with_a_cause(program, run, capture):
    out = run([program("wrong", WRONG), capture]).out
    assert out == f"""\
no health: -22 [gputap_capture_open: no health record]
no path: -22 [gputap_capture_open: no path]
no result: -22 [gputap_capture_open: no result]
no size: -22 [gputap_capture_open: no size in the health record]
good: 0 []
where: -22 [expected a time with a unit, such as 10us, 1.5ms, 2s]
at 9
no table: -2 [no table 'call': did you mean 'calls'?]
table 99: -2 [there are 19 tables]
column 99: -2 [table calls has 23 columns]
no column: -2 [table calls has no column 'duration': did you mean 'duration_ns'?]
none: -22 [no column of table calls is wanted]
part: -22 [part 2 of 2: parts are numbered from 0]
session: -22 [sessions 1 to 1 of 1: sessions are numbered from 0]
no cursor: -2 [no cursor for table 'idle': calls, activities or ranges]
cursor: 0 []
other: -22 [the cursor reads table calls, not activities]
next: 0 []
no size: -22 [no record with its size]
"""


def open_capture(library, path):
    """Return the library and (status, handle, error) of opening a path."""
    lib = ctypes.CDLL(str(library))
    lib.gputap_capture_error.restype = ctypes.c_char_p
    lib.gputap_capture_open.argtypes = [
        ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_void_p)
    ]
    health = (ctypes.c_size_t * 16)(ctypes.sizeof(ctypes.c_size_t) * 13)
    handle = ctypes.c_void_p()
    status = lib.gputap_capture_open((ctypes.c_char_p * 1)(os.fsencode(path)), 1, health,
                                     ctypes.byref(handle))
    return lib, status, handle, lib.gputap_capture_error().decode()


@pytest.mark.parametrize("make, status, text", [
    (lambda data: data[:64], 0, ""),
    (lambda data: b"", -61, "is empty"),
    (lambda data: data[:20], -61, ""),
    (lambda data: b"x" * 4096, -74, "is not a gputap capture"),
    (lambda data: data[:8] + b"\xff" + data[9:], None, ""),
])
def test_bad_files_get_an_error_that_names_them(library, capture, work, make, status, text):
    path = work / "bad.gputap"
    path.write_bytes(make(capture.read_bytes()))
    lib, found, handle, error = open_capture(library, path)
    if status is not None and (status == 0 or text):
        assert found == status
    if found:
        assert "bad.gputap" in error and text in error and not handle
    else:
        lib.gputap_capture_close(handle)


BUSY = r"""
#include <gputap/capture.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static struct gputap_capture_cursor *cursor;
static struct ArrowArrayStream stream;

static void *use(void *counts)
{
	struct gputap_capture_call call = {.size = sizeof call};
	struct ArrowArray batch;
	long *n = counts;
	int status;

	while ((status = gputap_capture_next_call(cursor, &call)) == 1 || status == -EBUSY)
		n[status == 1]++;
	while (!(status = stream.get_next(&stream, &batch)) ? batch.release != NULL
							    : status == EBUSY) {
		n[status ? 2 : 3] += status ? 1 : batch.length;
		if (!status)
			batch.release(&batch);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct gputap_capture_stream_options options = {.size = sizeof options, .batch_rows = 100};
	struct gputap_capture_health health = {.size = sizeof health};
	struct gputap_capture *capture;
	long counts[2][4] = {{0}};
	pthread_t thread;

	if (argc < 2 || gputap_capture_open((const char *const *)argv + 1, 1, &health, &capture) ||
	    gputap_capture_cursor(capture, "calls", &cursor) ||
	    gputap_capture_stream(capture, "calls", &options, &stream))
		return 1;
	gputap_capture_close(capture); /* the cursor and the stream outlive it */
	pthread_create(&thread, NULL, use, counts[0]);
	use(counts[1]);
	pthread_join(thread, NULL);
	printf("%ld %ld\n", counts[0][1] + counts[1][1], counts[0][3] + counts[1][3]);
	stream.release(&stream);
	gputap_capture_cursor_close(cursor);
	return 0;
}
"""


def test_two_threads_on_one_cursor_lose_and_repeat_nothing(tap, program, run, capture):
    whole = report(tap, capture)
    calls = whole["calls"] + whole["range_records"]
    for _ in range(3):
        assert run([program("busy", BUSY), capture]).out == f"{calls} {calls}\n"


PARALLEL = r"""
#include <gputap/capture.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct gputap_capture *capture;
static char tables[32][32];
static long rows[32][4];

static void read_all(long *to, size_t part)
{
	struct gputap_capture_stream_options options = {
		.size = sizeof options, .partition = part, .partitions = 4};
	struct ArrowArrayStream stream;
	struct ArrowArray batch;

	for (size_t i = 0; *tables[i]; i++) {
		if (gputap_capture_stream(capture, tables[i], &options, &stream))
			continue;
		while (!stream.get_next(&stream, &batch) && batch.release) {
			__atomic_add_fetch(&to[4 * i], batch.length, __ATOMIC_RELAXED);
			batch.release(&batch);
		}
		stream.release(&stream);
	}
}

static void *use(void *part)
{
	read_all(&rows[0][0], (size_t)part);
	return NULL;
}

int main(int argc, char **argv)
{
	struct gputap_capture_health health = {.size = sizeof health};
	struct gputap_capture_table table = {.size = sizeof table};
	pthread_t threads[4];

	if (gputap_capture_open((const char *const *)argv + 1, (size_t)argc - 1, &health, &capture))
		return fprintf(stderr, "%s\n", gputap_capture_error()), 1;
	for (size_t i = 0; !gputap_capture_table_at(i, &table); i++)
		strcpy(tables[i], table.name);
	for (size_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, use, (void *)i);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; *tables[i]; i++)
		printf("%s %ld\n", tables[i], rows[i][0]);
	gputap_capture_close(capture);
	return 0;
}
"""


def test_parts_that_threads_read_at_once_are_the_whole_table(tap, program, run, capture):
    rows = dict(line.split() for line in run([program("parallel", PARALLEL), capture]).out
                .splitlines())
    whole = report(tap, capture)
    assert int(rows["calls"]) == whole["calls"] + whole["range_records"]
    assert int(rows["activities"]) == whole["activities"]
    assert int(rows["threads"]) >= 3 and int(rows["devices"]) == 2 and int(rows["idle"]) > 0


def test_several_captures_are_open_in_several_threads(library, capture, work):
    def use():
        for _ in range(20):
            lib, status, handle, error = open_capture(library, capture)
            assert status == 0 and error == ""
            lib.gputap_capture_close(handle)
            lib, status, handle, error = open_capture(library, work / "nothing")
            failed.append(status == -2 and "nothing" in error)

    failed = []
    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failed) == 80 and all(failed)
