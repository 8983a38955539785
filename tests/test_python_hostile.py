# SPDX-License-Identifier: MIT
"""Test what Python's tables do with bad captures and with streams that are used in unusual ways:
each gets a clear error, and nothing crashes or leaks."""
import errno
import gc
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import warnings

import polars
import pyarrow
import pytest

import gputap_file
from processes import wait_until
from python_tables import ENVIRONMENT, check_with_csv, gputap as package, rows_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def synth(run, build, work):
    """Return a function: synth("a", "--calls", 100) writes a.gputap and returns its name."""
    def write(name, *options):
        run([build / "tests/synth/synth", "--calls", 3000, *options, "-o", f"{name}.gputap"])
        return f"{name}.gputap"
    return write


@pytest.fixture
def python(run, work):
    """Return a function: python(script) runs the script in another Python, which must end with
    status 0 and print no error. Returns what the script printed."""
    def call(script, *arguments):
        result = run([sys.executable, "-X", "faulthandler", "-W", "ignore", "-c",
                      textwrap.dedent(script), *arguments], env=ENVIRONMENT)
        assert result.err == "", result
        return result.out
    return call


# Captures ------------------------------------------------------------------------------

def make_newer(path):
    """Give the capture a format version far above the current one."""
    data = bytearray(pathlib.Path(path).read_bytes())
    data[8:10] = struct.pack("<H", 77)
    data[60:64] = struct.pack("<I", gputap_file.crc32c(data[:60]))
    pathlib.Path(path).write_bytes(data)


@pytest.mark.parametrize("change, number, sentence", [
    (os.unlink, errno.ENOENT, "a.gputap: No such file"),
    (lambda path: os.truncate(path, 0), errno.ENODATA, "a.gputap is empty"),
    (lambda path: os.truncate(path, 40), errno.EBADMSG,
     "a.gputap is truncated within its first 64 bytes"),
    (lambda path: pathlib.Path(path).write_text("x" * 5000), errno.EBADMSG,
     "a.gputap is not a gputap capture"),
    (make_newer, errno.ENOTSUP, "use a newer gputap"),
], ids=["missing", "empty", "tiny", "text", "newer"])
def test_a_file_that_cannot_be_read_is_a_clear_error(synth, change, number, sentence):
    path = synth("a")
    change(path)
    with pytest.raises(package.Error, match=re.escape(sentence)) as raised:
        package.open(path)
    assert raised.value.errno == number
    assert isinstance(raised.value, OSError)


@pytest.mark.parametrize("paths, error, sentence", [
    ([], ValueError, "no capture is named"),
    ("", package.Error, "the name of a capture is empty"),
    ("a\0.gputap", ValueError, "the path of a capture contains a NUL character"),
    ("none*.gputap", package.Error, r"none\*.gputap: No such file"),
    (".", package.Error, r"\. contains no file \*\.gputap"),
    (3, TypeError, "int"),
])
def test_a_path_that_names_no_capture_is_a_clear_error(work, paths, error, sentence):
    with pytest.raises(error, match=sentence):
        package.open(paths)


def test_a_truncated_capture_is_read_up_to_its_end_with_a_warning(synth, tap):
    path = synth("a", "--calls", 20000, "--flush-bytes", 20000)
    os.truncate(path, os.path.getsize(path) * 2 // 3)
    with pytest.warns(package.IncompleteWarning, match="1 sessions unfinished"):
        capture = package.open(path)
    with capture:
        tables = check_with_csv(capture, tap, path)
        assert 1000 < len(tables.calls) < 20000
        assert not capture.health.is_whole and capture.health.unfinished == 1
        assert rows_of(capture.sessions)[0]["end"] == "unfinished"


def test_damage_is_skipped_counted_and_warned_of(synth, tap):
    path = synth("a", "--calls", 20000, "--flush-bytes", 20000)
    data = bytearray(pathlib.Path(path).read_bytes())
    stream = [b for b in gputap_file.blocks_of(data) if b.type == gputap_file.STREAM][2]
    data[stream.payload_at + 5] ^= 0xff
    pathlib.Path(path).write_bytes(data)
    with package.open(path) as capture:
        tables = check_with_csv(capture, tap, path)
        assert 1000 < len(tables.calls) < 20000
        assert capture.health.bad_bytes > 0 and not capture.health.is_whole
        assert any("damaged" in text for text in capture.health.problems())
    with package.open(path) as capture:
        with pytest.warns(package.IncompleteWarning, match="bytes damaged") as warned:
            capture.calls.to_pandas()
        assert warned[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            capture.calls.to_arrow()  # the user knows already


def test_damaged_captures_never_crash(synth, python):
    """Read each of 150 captures with random changes in another process."""
    small = synth("small", "--calls", 60, "--nested", "--failed", "--steps", 10, "--graphs")
    python("""
        import gputap, pathlib, random, sys
        whole, chance = pathlib.Path(sys.argv[1]).read_bytes(), random.Random(7)
        rows = errors = 0
        for i in range(150):
            data = bytearray(whole)
            for _ in range(chance.randint(1, 20)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            if i % 3 == 0:
                del data[chance.randrange(len(data)):]
            pathlib.Path('b.gputap').write_bytes(data)
            try:
                with gputap.open('b.gputap', None if i % 2 else 'duration>1us') as t:
                    for table in t.tables.values():
                        for batch in table.select(*(c.name for c in table.all_columns)).reader():
                            batch.validate(full=True)
                            rows += batch.num_rows
            except (gputap.Error, OSError) as e:
                assert str(e)
                errors += 1
        assert rows > 1000, (rows, errors)
        """, small)


def test_a_running_session_is_read_as_far_as_it_was_written(gputap, build, tap, work):
    program = build / "examples/steps"
    if not program.exists():
        pytest.skip("needs the examples, which are built where OpenCL's loader is")
    session = subprocess.Popen([gputap, "run", "-q", "-o", "live.gputap", program, "0"],
                               stdout=subprocess.DEVNULL)
    try:
        def steps():
            with package.open("live.gputap") as capture:
                return capture.where("range=step").ranges.to_arrow().num_rows
        wait_until(lambda: os.path.exists("live.gputap") and steps() > 3, "some steps")
        with pytest.warns(package.IncompleteWarning, match="still running"):
            capture = package.open("live.gputap")
        with capture:
            first = capture.calls.to_arrow()
            assert first.num_rows > 20 and not capture.health.is_whole
            wait_until(lambda: steps() > first.num_rows, "more steps")
            again = capture.calls.to_arrow()  # the capture as it was when it was opened
            assert again.column("id") == first.column("id")
    finally:
        session.send_signal(signal.SIGTERM)
        session.wait()
    with package.open("live.gputap") as capture:
        check_with_csv(capture, tap, "live.gputap")
        later = capture.calls.to_arrow()
        assert later.num_rows > first.num_rows
        assert set(first.column("id").to_pylist()) <= set(later.column("id").to_pylist())


def test_a_flight_recorders_capture_states_what_was_evicted(gputap, build, run, tap, work):
    program = build / "examples/steps"
    if not program.exists():
        pytest.skip("needs the examples, which are built where OpenCL's loader is")
    run([gputap, "run", "-q", "--keep", "100ms", "-o", "k.gputap", program, "100"])
    with pytest.warns(package.IncompleteWarning, match="records evicted"):
        capture = package.open("k.gputap")
    with capture:
        check_with_csv(capture, tap, "k.gputap")
        health = capture.health
        assert health.evicted > 0
        assert health.seen == health.recorded + health.lost + health.evicted + health.open_ranges
        assert rows_of(capture.sessions)[0]["is_part"]


def test_a_cut_has_its_records_and_those_to_which_they_refer(synth, tap):
    path = synth("a", "--steps", 100, "--nested")
    tap("export", path, "-o", "cut.gputap", "-w", "at=5ms..6ms")
    with package.open("cut.gputap") as cut, package.open(path) as whole:
        few = {c["id"]: c for c in rows_of(cut.calls)}
        assert 0 < len(few) < 3000
        known = {c["start_ns"]: c for c in rows_of(whole.calls)}
        for call in few.values():
            assert known[call["start_ns"]]["duration_ns"] == call["duration_ns"]
            assert call["parent"] is None or call["parent"] in few
        assert rows_of(cut.sessions)[0]["is_part"]


TEXTS = [b"\xff\xfe not UTF-8 \xc3", "\u202egnp.exe \u2066\u2028 \u200f".encode(), b"\x1b[2J\x07",
         b"'; drop table calls; --", "\U0001f600\ufeff".encode(), b"%s%n{} <script>\"&"]


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts_are_valid_text(run, build, work, text):
    run([build / "tests/synth/synth", "--calls", "50", "--text", text.decode(
        errors="surrogateescape"), "-o", "a.gputap"])
    wanted = text.decode(errors="replace")
    with package.open("a.gputap") as capture:
        kernels = [a["name"] for a in rows_of(capture.activities) if a["kind"] == "kernel"]
        found = {re.sub("\ufffd+", "?", re.sub(r" \d$", "", name)) for name in kernels}
        assert found == {re.sub("\ufffd+", "?", wanted)}  # also numbered
        for table in capture.tables.values():
            table.to_arrow().validate(full=True)
            assert "<script>" not in table._repr_html_()
        summary = capture.summary()
    assert "\x1b" not in str(summary) and "<script>" not in summary._repr_html_()
    assert "\u202e" not in str(summary)


# Arguments -----------------------------------------------------------------------------

@pytest.mark.parametrize("use, error, sentence", [
    (lambda t: t.calls.select("duration"), ValueError,
     "table calls has no column 'duration': did you mean 'duration_ns'?"),
    (lambda t: t.calls.select(), ValueError, "select() needs names of columns of table calls"),
    (lambda t: t.calls.select("id\0"), ValueError, "the name of a column contains a NUL"),
    (lambda t: t.cals, AttributeError, "no table or method 'cals'; tables: sessions, processes"),
    (lambda t: t.calls.batches_of(0), ValueError, "batches of 0 rows: at least 1"),
    (lambda t: t.calls.partitions(0), ValueError, "0 partitions: at least 1"),
    (lambda t: t.calls.partitions(2)[0].partitions(2), ValueError, "cannot be divided"),
    (lambda t: t.calls.of_sessions(-1), ValueError, "sessions are numbered from 0"),
    (lambda t: t.calls.of_sessions(0, 2), ValueError, "sessions 0 to 1 of 1"),
    (lambda t: t.where("rnge=step"), ValueError, "unknown field 'rnge'; did you mean 'range'?"),
    (lambda t: t.where("range=step\0#7"), ValueError, "the expression contains a NUL"),
    (lambda t: t.where("range=é andd x"), ValueError, "\n  range=é andd x\n          ^"),
    (lambda t: t.where(""), ValueError, ""),
])
def test_a_wrong_argument_is_a_clear_error(synth, use, error, sentence):
    with package.open(synth("a")) as capture:
        with pytest.raises(error, match=re.escape(sentence)):
            use(capture)
        assert capture.calls.to_arrow().num_rows == 3000  # still usable


def test_a_closed_capture_is_a_clear_error(synth):
    capture = package.open(synth("a"))
    table = capture.calls
    capture.close()
    capture.close()
    for use in (lambda: table.to_arrow(), lambda: capture.where("duration>1us"),
                lambda: capture.health, lambda: polars.DataFrame(table)):
        with pytest.raises(ValueError, match="the capture is closed"):
            use()


@pytest.mark.parametrize("module, use", [
    ("pyarrow", "to_arrow"), ("pandas", "to_pandas"), ("polars", "to_polars"),
    ("pyarrow", "reader"),
])
def test_a_missing_reader_is_named_with_the_command_that_installs_it(synth, monkeypatch, module,
                                                                     use):
    monkeypatch.setitem(sys.modules, module, None)
    with package.open(synth("a")) as capture:
        with pytest.raises(ImportError, match=f"needs {module}: pip install {module}"):
            getattr(capture.calls, use)()


def test_without_the_command_the_summary_names_what_is_missing(synth, monkeypatch):
    from gputap import command
    monkeypatch.setattr(command.library, "_name", "libgputap-capture.so.0")
    monkeypatch.setenv("PATH", "/nonexistent")
    with package.open(synth("a")) as capture:
        with pytest.raises(FileNotFoundError, match="no command `gputap` in PATH"):
            capture.summary()


def test_without_the_library_the_error_names_the_ways_out(run, work):
    script = "import gputap; gputap.range('a'); gputap.open('a')"
    for library, sentence in (("/nonexistent.so", "cannot load /nonexistent.so: .*"
                               "name the library in GPUTAP_CAPTURE_LIBRARY"),
                              ("libc.so.6", "libc.so.6 belongs to another version of gputap")):
        result = run([sys.executable, "-c", script], status=1,
                     env={**ENVIRONMENT, "GPUTAP_CAPTURE_LIBRARY": library})
        assert re.search(f"ImportError: gputap: {sentence}", result.err)


# Lifetime ------------------------------------------------------------------------------

def test_a_stream_and_its_batches_outlive_the_capture(synth):
    path = synth("a", "--nested")
    capture = package.open(path)
    want = capture.calls.to_arrow()
    reader, unread = capture.calls.batches_of(500).reader(), capture.activities.reader()
    first = reader.read_next_batch()
    capture.close()
    del capture
    os.unlink(path)
    gc.collect()
    rest = reader.read_all()
    assert pyarrow.Table.from_batches([first, *rest.to_batches()]).to_pylist() == want.to_pylist()
    assert unread.read_all().num_rows > 0


def test_columns_and_dictionaries_outlive_their_batch_and_stream(synth):
    with package.open(synth("a", "--kernels", 50)) as capture:
        reader = capture.activities.batches_of(100).reader()
        batches = [reader.read_next_batch() for _ in range(3)]
        names = [batch.column("name") for batch in batches]
        want = [column.to_pylist() for column in names]
        dictionary = names[2].dictionary
        texts = dictionary.to_pylist()
        del batches, reader
    gc.collect()
    assert [column.to_pylist() for column in names] == want
    del names
    gc.collect()
    assert dictionary.to_pylist() == texts and len(texts) > 10
    with package.open("a.gputap") as capture:
        children = capture.stacks.to_arrow().column("frames")
    assert children.to_pylist() == []


def test_a_stream_is_consumed_in_another_thread(synth):
    found = []
    with package.open(synth("a")) as capture:
        readers = [capture.calls.reader(), capture.activities.reader(), capture.idle.reader(),
                   capture.calls.reader()]
        threads = [threading.Thread(target=lambda r=r: found.append(r.read_all().num_rows))
                   for r in readers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        want = [t.to_arrow().num_rows for t in (capture.calls, capture.activities, capture.idle)]
    assert sorted(found) == sorted([*want, 3000])


def test_a_capture_is_closed_when_its_last_reference_goes(synth):
    path = os.path.realpath(synth("a"))

    def open_files():
        links = (f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd"))
        return sum(os.path.realpath(link) == path for link in links if os.path.exists(link))
    gc.disable()  # references only
    try:
        table = package.open(path).calls
        assert open_files() == 1 and table.to_arrow().num_rows == 3000
        selected = table.select("id").partitions(2)
        del table
        assert open_files() == 1
        del selected
        assert open_files() == 0
    finally:
        gc.enable()


def test_two_threads_on_one_stream_get_an_error_and_no_row_twice(python, synth):
    """Call get_next() of one stream from two threads, as a careless consumer would."""
    out = python("""
        import ctypes, gputap, sys, threading
        from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_void_p

        class Array(ctypes.Structure):
            _fields_ = [('length', ctypes.c_int64), ('rest', ctypes.c_int64 * 4),
                        ('pointers', c_void_p * 3), ('release', CFUNCTYPE(None, c_void_p)),
                        ('private', c_void_p)]

        class Stream(ctypes.Structure):
            _fields_ = [('schema', c_void_p), ('next', CFUNCTYPE(c_int, c_void_p, c_void_p)),
                        ('error', CFUNCTYPE(c_char_p, c_void_p)), ('release', c_void_p),
                        ('private', c_void_p)]

        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = c_void_p, (ctypes.py_object, c_char_p)
        busy = rows = 0
        lock = threading.Lock()
        for _ in range(50):
            capsule = gputap.open(sys.argv[1]).calls.batches_of(200).__arrow_c_stream__()
            stream = Stream.from_address(get(capsule, b'arrow_array_stream'))
            said, total = [], []

            def read():
                array = Array()
                while True:
                    status = stream.next(ctypes.addressof(stream), ctypes.addressof(array))
                    if status:
                        assert status == 16, status  # EBUSY
                        said.append(stream.error(ctypes.addressof(stream)))
                        continue
                    if not array.release:
                        return
                    total.append(array.length)
                    array.release(ctypes.addressof(array))

            threads = [threading.Thread(target=read) for _ in range(2)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            busy += len(said)
            assert set(said) <= {b'another thread is reading this stream'}
            assert sum(total) == 20000, total
        print(busy)
        """, synth("a", "--calls", 20000))
    assert int(out) > 0


def test_capsules_that_nobody_consumes_are_released(python, synth):
    out = python("""
        import gputap, os, sys

        def files():
            return sum('gputap' in os.readlink(f'/proc/self/fd/{n}')
                       for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}'))
        t = gputap.open(sys.argv[1])
        capsules = [table.__arrow_c_stream__() for table in t.tables.values()]
        t.close()
        del t
        print(files())
        del capsules
        print(files())
        """, synth("a"))
    assert out == "1\n0\n"


def test_a_consumer_that_refuses_a_stream_raises_its_own_error(synth):
    """The capsule is destroyed while the consumer's exception is propagated."""
    with package.open(synth("a")) as capture:
        for _ in range(3):
            with pytest.raises(TypeError, match="not iterable"):
                pyarrow.Table.from_batches(capture.calls.__arrow_c_stream__())


def test_a_stream_can_be_consumed_once(synth):
    with package.open(synth("a")) as capture:
        capsule = capture.calls.__arrow_c_stream__()
        import_ = pyarrow.RecordBatchReader._import_from_c_capsule
        assert import_(capsule).read_all().num_rows == 3000
        with pytest.raises((ValueError, pyarrow.ArrowInvalid)):
            import_(capsule)


@pytest.mark.parametrize("state", [
    "stream = t.calls.reader(); stream.read_next_batch()",
    "capsules = [x.__arrow_c_stream__() for x in t.tables.values()]",
    "frame = __import__('polars').DataFrame(t.calls)",
    "calls = t.calls; relation = __import__('duckdb').sql('select * from calls')",
    "import threading; threading.Thread(target=lambda: [t.calls.to_arrow() for _ in range(30)],"
    " daemon=True).start()",
    "import os; pid = os.fork(); t.calls.to_arrow(); pid and os.waitpid(pid, 0)",
])
def test_the_interpreter_ends_while_streams_are_open(python, synth, state):
    python(f"import gputap, sys\nt = gputap.open(sys.argv[1])\n{state}\n", synth("a"))


def test_a_thousand_captures_leak_neither_memory_nor_descriptors(python, synth):
    out = python("""
        import gputap, os, sys
        import pyarrow

        def rss():
            return int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

        def use():
            t = gputap.open(sys.argv[1])
            pyarrow.table(t.calls.select('operation'))
            t.where('duration>1us').activities.reader().read_next_batch()
            t.ranges.__arrow_c_stream__()
            try:
                t.where('nonsense')
            except ValueError:
                pass
        for _ in range(200):
            use()
        before = rss(), len(os.listdir('/proc/self/fd'))
        for _ in range(1000):
            use()
        after = rss(), len(os.listdir('/proc/self/fd'))
        print(after[0] - before[0], after[1] - before[1])
        """, synth("a", "--calls", 200))
    grown, descriptors = map(int, out.split())
    assert grown < 4 << 20 and descriptors == 0
