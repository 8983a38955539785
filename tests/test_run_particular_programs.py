# SPDX-License-Identifier: MIT
"""Test programs that constrain the libraries in their process: sanitizers must be loaded first,
some libraries need much static thread-local storage, and threads may have the smallest stack."""

import shutil

import pytest

SOURCE = """
#include <pthread.h>
#include <stdio.h>
static void *f(void *p) { return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, f, 0);
	pthread_join(t, 0);
	puts("hello");
	return 3;
}
"""


@pytest.mark.parametrize("kind", ["address", "leak", "thread", "undefined"])
def test_a_program_with_a_sanitizer_runs_traced(run, tap, work, kind):
    (work / "program.c").write_text(SOURCE)
    run(["gcc", f"-fsanitize={kind}", "-o", "program", "program.c"])
    assert run(["./program"], status=3).out == "hello\n"
    result = tap("run", "-q", "-o", "c.gputap", "--", "./program", status=3)
    assert result.out == "hello\n"
    assert "Sanitizer" not in result.err and "ASan" not in result.err, result


CALLS = """
#include <CL/cl.h>
int main(void)
{
	cl_platform_id platform;
	cl_device_id device;

	return clGetPlatformIDs(1, &platform, 0) ||
	       clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0);
}
"""


@pytest.mark.parametrize("way", ["run", "a child with a cleaned environment"])
def test_leaks_are_looked_for_in_a_program_that_uses_a_runtime(run, tap, work, way):
    """The program's libraries have thread-local storage that the dynamic linker allocates on first
    use."""
    (work / "program.c").write_text(CALLS)
    run(["gcc", "-w", "-DCL_TARGET_OPENCL_VERSION=300", "-fsanitize=address", "-o", "program",
         "program.c", "-lOpenCL"])
    bare = run(["./program"], status=None)  # the sanitizer may find leaks, or fail in a container
    command = ["./program"] if way == "run" else ["env", "-i", "./program"]
    result = tap("run", "-q", "-o", "c.gputap", "--", *command, status=bare.status)
    assert ("Sanitizer" in result.err) == ("Sanitizer" in bare.err), result


def test_the_users_sanitizer_options_stay(run, tap, work):
    (work / "program.c").write_text(
        SOURCE.replace('puts("hello")', 'puts(getenv("ASAN_OPTIONS"))').replace(
            "<stdio.h>", "<stdio.h>\n#include <stdlib.h>"))
    run(["gcc", "-o", "program", "program.c"])
    result = tap("run",
                 "-q",
                 "-o",
                 "c.gputap",
                 "--",
                 "./program",
                 status=3,
                 env={"ASAN_OPTIONS": "detect_leaks=0:color=never"})
    assert result.out == ("detect_leaks=0:color=never:"
                          "verify_asan_link_order=0,intercept_tls_get_addr=0\n")


LIBRARY = """
static __thread char big[%d] __attribute__((tls_model("initial-exec")));
char *storage(void);
char *storage(void) { return big; }
"""
USER = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
char *storage(void);
static void *f(void *p) { storage()[1] = 1; return p; }
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_attr_t a;
    if (argc > 1) { char *clean[] = {0}; execve(argv[0], (char *[]){argv[0], 0}, clean); return 8; }
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 16384);
    storage()[0] = 1;
    if (pthread_create(&t, &a, f, 0)) return 9;
    pthread_join(t, 0);
    puts("hello");
    return 3;
}
"""


@pytest.mark.parametrize("arguments", [[], ["clean"]], ids=["", "in_a_cleaned_environment"])
def test_a_library_with_much_static_thread_local_storage_loads(run, tap, work, arguments):
    (work / "library.c").write_text(LIBRARY % 3000)
    (work / "user.c").write_text(USER)
    run(["gcc", "-shared", "-fPIC", "-o", "libmuch.so", "library.c"])
    run(["gcc", "-o", "user", "user.c", "-L.", "-lmuch", f"-Wl,-rpath,{work}"])
    assert run(["./user", *arguments], status=3).out == "hello\n"
    result = tap("run", "-q", "-o", "c.gputap", "--", "./user", *arguments, status=3)
    assert (result.out, result.err) == ("hello\n", "")


def test_the_users_own_tunables_stay(tap, work):
    shown = tap("run",
                "-q",
                "-o",
                "c.gputap",
                "--",
                "env",
                env={"GLIBC_TUNABLES": "glibc.malloc.check=0"}).out.splitlines()
    assert "GLIBC_TUNABLES=glibc.malloc.check=0:glibc.rtld.optional_static_tls=6144" in shown
    own = "glibc.rtld.optional_static_tls=9000"
    (line, ) = [
        x
        for x in tap("run", "-q", "-f", "-o", "c.gputap", "--", "env", env={"GLIBC_TUNABLES": own
                                                                            }).out.splitlines()
        if x.startswith("GLIBC_TUNABLES=")
    ]
    # plus the storage that the program's libraries need
    assert 9000 < int(line.partition("optional_static_tls=")[2]) < 9000 + 2048
    shown = tap("run",
                "-q",
                "-f",
                "-o",
                "c.gputap",
                "--",
                "sh",
                "-c",
                f"GLIBC_TUNABLES={own} env",
                env={"GLIBC_TUNABLES": own})
    assert line in shown.out.splitlines()


STORM_LIBRARY = """
static __thread char big[%d] __attribute__((aligned(%d), tls_model("%s")));
char *storage(void);
char *storage(void) { return big; }
"""
STORM_USER = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static __thread char own[%d];
static char *(*get)(void);
#ifdef LINKED
char *linked_storage(void) __asm__("storage");
#endif
static void *f(void *p) { get()[%d - 1] = 1; own[sizeof own - 1] = 1; return p; }
int main(int argc, char **argv)
{
    pthread_attr_t a;
    pthread_t t;
    void *l;
#ifdef LINKED
    get = linked_storage;
#else
    if (!(l = dlopen("libmuch.so", RTLD_NOW))) return 8;
    get = (char *(*)(void))dlsym(l, "storage");
#endif
    (void)l;
    pthread_attr_init(&a);
    if (argc > 1) pthread_attr_setstacksize(&a, strtoul(argv[1], 0, 0));
    f(0);
    if (pthread_create(&t, &a, f, 0)) return 9;
    pthread_join(t, 0);
    puts("hello");
    return 3;
}
"""


# exit status; bytes for opened libraries that glibc leaves, and that gputap reserves
NOT_LOADED, LEFT_BY_GLIBC, GIVEN = 8, 1200, 6144


def make_storm(run,
               work,
               library,
               program,
               alignment=1,
               model="initial-exec",
               linked=True,
               flags=()):
    (work / "lib").mkdir(exist_ok=True)
    (work / "library.c").write_text(STORM_LIBRARY % (library, alignment, model))
    (work / "user.c").write_text(STORM_USER % (program, library))
    run(["gcc", "-shared", "-fPIC", "-o", "lib/libmuch.so", "library.c"])
    run([
        "gcc", "-o", "user", "user.c", *(["-DLINKED", "-Llib", "-lmuch"] if linked else []), *flags
    ])


@pytest.mark.parametrize("linked", [True, False], ids=["linked", "opened"])
@pytest.mark.parametrize("model", ["initial-exec", "global-dynamic"])
@pytest.mark.parametrize("library, program", [(1, 1), (900, 3000), (3000, 1), (4000, 9000),
                                              (24000, 2600), (65536, 65536), (262144, 1)])
def test_any_static_thread_local_storage_works_as_it_does_bare(run, tap, work, library, program,
                                                               model, linked):
    make_storm(run, work, library, program, model=model, linked=linked)
    env = {"LD_LIBRARY_PATH": work / "lib"}
    for arguments in [], ["0x100000"], ["0x8000"], ["0x4000"]:
        bare = run(["./user", *arguments], status=None, env=env)
        if bare.status == NOT_LOADED and GIVEN > library > LEFT_BY_GLIBC and not linked:
            continue  # glibc refuses this storage, but gputap reserves room for it in all programs
        traced = tap("run",
                     "-q",
                     "-f",
                     "-o",
                     "c.gputap",
                     "--",
                     "./user",
                     *arguments,
                     status=None,
                     env=env)
        child = tap("run",
                    "-q",
                    "-f",
                    "-o",
                    "c.gputap",
                    "--",
                    "sh",
                    "-c",
                    f"env ./user {' '.join(arguments)}; exit $?",
                    status=None,
                    env=env)
        assert (traced.status, traced.out) == (child.status,
                                               child.out) == (bare.status, bare.out), (arguments,
                                                                                       bare, traced,
                                                                                       child)


@pytest.mark.parametrize("flags", [["-Wl,-rpath,$ORIGIN/lib,--disable-new-dtags"],
                                   ["-Wl,-rpath,${ORIGIN}/lib"], ["-Wl,-rpath,lib"]],
                         ids=["rpath", "runpath", "relative"])
def test_libraries_of_libraries_are_found_where_the_linker_finds_them(run, tap, work, flags):
    make_storm(run, work, 40000, 1)
    (work / "user.c"
     ).write_text("char *storage(void); int through(void); int main(void) { return through(); }")
    (work / "middle.c").write_text(
        "char *storage(void); int through(void); int through(void) { return storage()[0] + 5; }")
    # an old-style RPATH also applies to the libraries that the library needs
    folders = ["-Wl,-rpath,$ORIGIN"] if "--disable-new-dtags" not in flags[0] else []
    run([
        "gcc", "-shared", "-fPIC", "-o", "lib/libmiddle.so", "middle.c", "-Llib", "-lmuch", *folders
    ])
    run(["gcc", "-o", "user", "user.c", "-Llib", "-lmiddle", *flags, "-Wl,--allow-shlib-undefined"])
    run(["./user"], status=5)
    assert tap("run", "-q", "-o", "c.gputap", "--", "./user", status=5).err == ""


def test_a_library_that_no_auditor_can_stand_beside_is_said_and_runs(run, tap, work):
    make_storm(run, work, 4096, 1, alignment=4096, flags=[f"-Wl,-rpath,{work}/lib"])
    run(["./user"], status=3)
    result = tap("run", "-o", "c.gputap", "--", "./user", status=3)
    assert "cannot be traced because its libraries' thread-local storage is aligned" in result.err
    result = tap("run", "-f", "-o", "c.gputap", "--", "sh", "-c", "env ./user; exit $?", status=3)
    assert result.out == "hello\n"
    assert "glibc refuses an auditor because of the alignment of its thread-local storage" in tap(
        "info", "c.gputap").out


def test_the_rust_compiler_runs_traced(run, tap, work):
    if not shutil.which("rustc"):
        pytest.skip("rustc is not installed")
    assert tap("run", "-q", "-o", "c.gputap", "rustc", "--version").out == run(
        ["rustc", "--version"]).out
