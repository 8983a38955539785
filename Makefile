# SPDX-License-Identifier: MIT
# Entry points for users; meson does the work. `make` builds the product; `ninja -C build` also
# builds the programs of tests and bench.
BUILD ?= build

PYTHON ?= python3

.PHONY: all demo docs test test-deep test-gpu bench deb check clean setup generate
all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) product

$(BUILD)/build.ninja:
	@meson setup $(BUILD)

setup:            # install what a build needs (Debian, Ubuntu; root or sudo)
	@tools/setup build
# install what is missing, build, trace real OpenCL and HIP programs, print the report
demo:
	@tools/setup demo && $(MAKE) --no-print-directory all && tools/demo
test:             # install what tests need, run them all
	@tools/setup test && $(MAKE) --no-print-directory $(BUILD)/build.ninja && tools/test
test-deep:        # fuzz for GPUTAP_FUZZ seconds (3000), as before a release
	@tools/setup test && $(MAKE) --no-print-directory $(BUILD)/build.ninja && tools/test-deep
# run the checks that need an NVIDIA GPU; ARGS='-k torch' selects some of them.
# GPUTAP_BUILD: folder that tools/pack-gpu made on another machine; nothing is built here then
test-gpu:
	@[ -n "$(GPUTAP_BUILD)" ] || $(MAKE) --no-print-directory all
	@GPUTAP_BUILD="$(or $(GPUTAP_BUILD),$(BUILD))" $(PYTHON) tests/gpu/check_gpu.py $(ARGS)
bench:            # measure, print a table, write docs/internals/performance.md's figures
	@tools/setup bench && $(MAKE) --no-print-directory all && ninja -C $(BUILD) && tools/bench
docs:             # build/site: the documents with search, for a browser; fails if a link is broken
	@tools/setup docs && NO_MKDOCS_2_WARNING=1 build/docs-venv/bin/mkdocs build --strict
generate:         # make the public headers and the golden files of tests/gen from api/
	@tools/generate && tools/generate --output tests/gen/golden tests/gen/tiny.api
deb:              # build/gputap_*.deb
	@tools/setup deb && tools/deb
clean:
	@rm -rf $(BUILD)
