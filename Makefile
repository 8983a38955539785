# SPDX-License-Identifier: MIT
# Entry points for users; meson does the work. `make` builds the product; `ninja -C build` also
# builds the programs of tests and bench. `make help` lists the targets.
# BUILD: the build folder, for each target
BUILD ?= build

PYTHON ?= python3

.PHONY: all help demo docs test test-deep fuzz test-gpu bench deb rpm wheel clean setup generate \
	release
all: $(BUILD)/build.ninja # build the installed files and the demo
	@ninja -C $(BUILD) product

$(BUILD)/build.ninja:
	@command -v meson >/dev/null && command -v ninja >/dev/null || \
		{ echo "make: no meson or no ninja here: run 'make setup' first" >&2; exit 1; }
	@meson setup $(BUILD)

help:             # list these targets
	@sed -n 's/^\([a-z-]*\):[^#]*# \(.*\)/  make \1\t\2/p' Makefile | expand -t 19
setup:            # install what a build needs and this machine lacks (root or sudo)
	@tools/setup build
demo:             # install what is missing, build, trace OpenCL and HIP programs, print the report
	@tools/setup demo && $(MAKE) --no-print-directory all && GPUTAP_BUILD=$(BUILD) tools/demo
test:             # install what tests need, run the tests
	@tools/setup test && $(MAKE) --no-print-directory $(BUILD)/build.ninja && \
		GPUTAP_BUILD=$(BUILD) tools/test
test-deep:        # run the tests that make test leaves out: sanitizers, fuzzing, long tests
	@tools/setup test && $(MAKE) --no-print-directory $(BUILD)/build.ninja && \
		GPUTAP_BUILD=$(BUILD) tools/test-deep
fuzz:             # fuzz for GPUTAP_FUZZ seconds (3000), as before a release
	@tools/setup test && $(MAKE) --no-print-directory $(BUILD)/build.ninja && \
		GPUTAP_BUILD=$(BUILD) tools/fuzz
# ARGS='-k torch' selects some of the checks. GPUTAP_BUILD: folder that tools/pack-gpu made on
# another machine; nothing is built here then
test-gpu:         # run the checks that need an NVIDIA GPU
	@[ -n "$(GPUTAP_BUILD)" ] || $(MAKE) --no-print-directory all
	@GPUTAP_BUILD="$(or $(GPUTAP_BUILD),$(BUILD))" $(PYTHON) tests/gpu/check_gpu.py $(ARGS)
bench:            # measure, print a table, write the figures of docs/internals/performance.md
	@tools/setup bench && $(MAKE) --no-print-directory all && ninja -C $(BUILD) && \
		GPUTAP_BUILD=$(BUILD) tools/bench
docs:             # make build/site: the documents with search; fails if a link is broken
	@tools/setup docs && NO_MKDOCS_2_WARNING=1 build/docs-venv/bin/mkdocs build --strict
generate:         # make the public headers and the golden files of tests/gen from api/
	@tools/generate && tools/generate --output tests/gen/golden tests/gen/tiny.api
wheel:            # make wheels for PyPI in build-wheel/dist, each built twice and checked
	@tools/setup wheel && tools/torch-observers && tools/make-wheel --twice $(ARGS)
deb:              # make a Debian package in the build folder; ARCH=arm64: a cross build
	@tools/setup $(if $(ARCH),cross,deb) && \
		GPUTAP_BUILD=$(BUILD) tools/deb $(if $(ARCH),--arch $(ARCH))
rpm:              # make RPM packages in the build folder
	@tools/setup rpm && GPUTAP_BUILD=$(BUILD) tools/rpm
# RELEASE_TESTS=0 omits the tests. ARGS=--draft accepts a version without a date in CHANGELOG.md
release:          # make build/release: the files of a release, with checksums
	@tools/setup cross && tools/setup wheel && $(MAKE) --no-print-directory all && \
		GPUTAP_BUILD=$(BUILD) tools/release $(ARGS)
clean:            # delete the build folder
	@rm -rf $(BUILD)
