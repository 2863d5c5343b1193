# The commands of this repository. Run 'make test' before you propose a change. 'make check' runs everything, as CI does.

# Fail a rule if any command in a pipeline fails.
SHELL = bash
.SHELLFLAGS = -o pipefail -c

GO ?= go
SUMMARY = $(GO) run ./internal/testsummary

# A file to which 'make test' and 'make slow' append their results. 'make corpus' reports on them instead of running the
# tests again.
RESULTS ?= /dev/null

# The directory of stablehlo.tar.xz, StableHLO's own test files. Tests that read them are skipped if it is missing.
CORPUS ?= $(or $(HLOCB_CORPUS),../shared/corpus)

# hlocb's cache directory, as Go finds it.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/$(if $(filter Darwin,$(shell uname)),Library/Caches,.cache))/hlocb
VENV = $(CACHE)/venv
VENV_TODAY = $(CACHE)/venv-today

.PHONY: build interposer plugin jaxlib jaxlib-today tools chromium peers test slow check fmt vet staticcheck generated golden race nocgo corpus corpus-fetch corpus-bytecode corpus-reads corpus-long bench soak test-real test-jax test-jax-sample jax-tests-of mutants zig wheels release python test-frameworks clean

build:
	$(GO) build -o hlocb ./cmd/hlocb

# The libraries with which 'hlocb exec' starts programs. The command builds them itself if they are not beside it.
interposer:
	$(GO) run ./internal/launch/build .

# Tests compare hlocb with XLA's CPU plugin and with two versions of jaxlib, which go into hlocb's cache. If there is no
# pip or no network, the tests that need them are skipped, and the summary of 'make test' names these tests.
peers:
	@$(MAKE) -s -j5 plugin jaxlib jaxlib-today tools chromium

plugin:
	@for name in cpu@0.0.1 cpu@0.11.2; do $(GO) run ./cmd/hlocb plugin install $$name || echo "no XLA CPU plugin $$name: the tests that need it are skipped"; done
	@$(GO) run ./cmd/hlocb plugin install lapack || echo "no LAPACK: the tests that need it are skipped"

jaxlib:
	@[ -n "$$HLOCB_PYTHON" ] || "$(VENV)/bin/python" -c 'import flatbuffers, jax, mpmath; assert jax.__version__ == "0.10.2"' 2>/dev/null || \
	{ python3 -m venv "$(VENV)" && "$(VENV)/bin/python" -m pip install -q --disable-pip-version-check --retries 1 'jax==0.10.2' 'jaxlib==0.10.2' flatbuffers mpmath; } || \
	echo "no jaxlib 0.10.2: the tests that need it are skipped"

# The pages of 'hlocb view' are tested in Chromium, which a package manager installs (Debian: apt-get install chromium),
# and with axe-core, which goes into hlocb's cache.
chromium:
	@[ -f "$(CACHE)/axe/axe_core_python/axe.min.js" ] || python3 -m pip install -q --disable-pip-version-check --retries 1 --no-deps --target "$(CACHE)/axe" axe-core-python==0.1.0 || \
	echo "no axe-core: the test that needs it is skipped"

# Today's JAX needs Python 3.12 or newer. The first one that works makes its environment: 3.13 on the PATH or of pyenv,
# then any other. A name on the PATH may be a shim of pyenv without a Python.
jaxlib-today:
	@[ -n "$$HLOCB_PYTHON_TODAY" ] || "$(VENV_TODAY)/bin/python" -c 'import flatbuffers, jax, mpmath; assert jax.__version__ == "0.12.0.1"' 2>/dev/null || { \
	pyenv="$${PYENV_ROOT:-$$HOME/.pyenv}/versions"; \
	for python in python3.13 "$$pyenv"/3.13*/bin/python3 python3 python3.14 python3.12 "$$pyenv"/3.*/bin/python3; do \
		"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break; python=; \
	done; \
	[ -n "$$python" ] && "$$python" -m venv --clear "$(VENV_TODAY)" && "$(VENV_TODAY)/bin/python" -m pip install -q --disable-pip-version-check --retries 1 'jax==0.12.0.1' 'jaxlib==0.12.0.1' flatbuffers mpmath; } || \
	echo "no jaxlib 0.12.0.1 (it needs Python 3.12 or newer): the tests that need it are skipped"

# The tools that read files of events.
VENV_EVENTS = $(CACHE)/venv-events
tools:
	@[ -n "$$HLOCB_PYTHON_EVENTS" ] || "$(VENV_EVENTS)/bin/python" -c 'import duckdb, pandas, pyarrow, tensorboard' 2>/dev/null || \
	{ python3 -m venv "$(VENV_EVENTS)" && "$(VENV_EVENTS)/bin/python" -m pip install -q --disable-pip-version-check --retries 1 duckdb pandas pyarrow 'tensorboard==2.21.0'; } || \
	echo "no duckdb, pandas, pyarrow and TensorBoard: the tests that need them are skipped"

# 'make vet' type-checks the tests for all rules. Without DWARF a test links in half the time.
TEST = test -vet=off -ldflags=-w
TEST_GOXLA = test -C runtime/goxla -vet=off -ldflags=-w

# The tests that a change needs, in a few minutes: all but slow tests. Packages with most tests start first, so that no
# core waits for one of them at the end.
test: peers
	{ $(GO) $(TEST) -short -timeout 20m -json $$($(GO) run ./internal/testlist) ./...; status=$$?; \
	$(GO) $(TEST_GOXLA) -short -json ./... && exit $$status; } | tee -a "$(RESULTS)" | $(SUMMARY)

# The tests that 'make test' leaves out, or runs in part: package internal/label labels them.
slow: peers
	{ HLOCB_REST=1 $(GO) $(TEST) -timeout 30m -json $$($(GO) run ./internal/testlist -slow); status=$$?; \
	$(GO) $(TEST_GOXLA) -run TestOwnTests -json ./... && exit $$status; } | tee -a "$(RESULTS)" | $(SUMMARY)

check:
	@results=$$(mktemp); trap 'rm -f "$$results"' EXIT; \
	$(MAKE) test fmt vet staticcheck generated slow race nocgo python corpus corpus-bytecode test-jax-sample RESULTS="$$results"

fmt:
	@out=$$(gofmt -l .); [ -z "$$out" ] || { echo "not formatted:"; echo "$$out"; exit 1; }

# Without cgo, vet needs only the packages that have other files then.
vet:
	$(GO) vet ./...
	$(GO) vet -C runtime/goxla ./...
	CGO_ENABLED=0 $(GO) vet $$(grep -rlE --include='*.go' '^//go:build .*!cgo' . | xargs -n 1 dirname | sort -u)

staticcheck:
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

# Check that generated files are up to date.
generated:
	@sums() { find . \( -name '*_gen.go' -o -name '*_gen_test.go' -o -name '*_gen_amd64.go' -o -name '*_amd64.s' -o -name '*stubs_amd64.go' -o -path './docs/dialects/*' -o -path './docs/pass-reference.md' \) -type f | sort | xargs sha256sum; }; \
	before=$$(sums); set -e; $(GO) generate ./...; $(GO) run ./internal/gen; \
	diff <(echo "$$before") <(sums) || { echo "generated files were not up to date"; exit 1; }
	$(GO) mod tidy -diff
	for dir in tools runtime/goxla; do $(GO) mod -C $$dir tidy -diff || exit 1; done

# Write the texts that tests compare with, for all ops, passes and handlers: golden cases, samples, fingerprints and
# docs/cli.md. The review of the diff is the test.
golden:
	$(GO) test -short -run '^Test(Golden|Fingerprints|Samples|Oldest|Help|Modules|Broken|UpdateTexts|UpdateRandom)$$' ./internal/cli ./hook/format ./internal/hook/order \
	./internal/legalize ./bytecode ./dialect/vhlo ./hlo ./interp/internal/ops ./pass -update

# Tests run again with the race detector, and without cgo. Tests with the label Once need no second run.

# RACE lists the packages that start threads, or whose tests do. RACEFLAGS adds flags.
RACE ?= ./internal/endtoend ./runtime/pjrt ./runtime ./runtime/handlers ./runtime/interpose ./runtime/plugins ./interp ./interp/internal/exec ./interp/internal/kernel ./interp/internal/ops ./internal/engineplugin
race: peers
	export HLOCB_AGAIN=1; { $(GO) $(TEST) -race -short -timeout 30m $(RACEFLAGS) -json $(RACE); status=$$?; \
	$(GO) $(TEST_GOXLA) -race -short -json ./... && exit $$status; } | $(SUMMARY)

# Without cgo, build everything, and test the packages that open a backend by its name: only their code differs.
NOCGO ?= . ./cmd/... ./examples/... ./internal/cli ./internal/plugincheck ./internal/docs ./runtime/backends ./runtime/interpose
nocgo:
	CGO_ENABLED=0 $(GO) build ./...
	HLOCB_AGAIN=1 CGO_ENABLED=0 $(GO) $(TEST) -short -timeout 20m -json $(NOCGO) | $(SUMMARY)

# The comparisons with other systems, part by part: what passed, what failed, what was skipped.
corpus: peers
	HLOCB_CORPUS="$(abspath $(CORPUS))" $(GO) run ./internal/corpusreport $(filter-out /dev/null,$(RESULTS))

# Make the archives of StableHLO's, Shardy's and XLA's tests and of jaxlib's bytecode in $(CORPUS), from their public
# repositories.
corpus-fetch: jaxlib
	internal/corpus/fetch.sh "$(CORPUS)" "$(or $(HLOCB_PYTHON),$(wildcard $(VENV)/bin/python))"

# The bytecode corpus with jaxlib as the judge: some of the modules, or all of them, byte for byte, and many damaged files.
# Without the corpus the rule does nothing. MLIR refuses the text of one module, in which a value has two types, so the
# files written from it are ignored.
BYTECODE ?= --cases 150 --corrupt 500
corpus-bytecode: build jaxlib
	@[ -f "$(CORPUS)/bytecode.tar.xz" ] || { echo "no bytecode corpus ('make corpus-fetch'): nothing is compared"; exit 0; }; \
	set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; tar -xJf "$(CORPUS)/bytecode.tar.xz" -C "$$dir"; \
	"$(or $(HLOCB_PYTHON),$(VENV)/bin/python)" -m pip install -q --disable-pip-version-check flatbuffers || true; \
	"$(or $(HLOCB_PYTHON),$(VENV)/bin/python)" internal/corpus/judge.py "$(abspath hlocb)" "$$(dirname "$$(find "$$dir" -name case.json | head -1)")/.." $(BYTECODE) > "$$dir/log" || true; \
	tail -n 2 "$$dir/log"; grep -q 'artifact:' "$$dir/log" && ! grep '^FAIL' "$$dir/log" | grep -v 'tests_ops_stablehlo_quantized_025 '

# What jaxlib and hlocb read below DIRECTORIES: counts, what only jaxlib reads, what differs.
corpus-reads: build jaxlib
	"$(or $(HLOCB_PYTHON),$(VENV)/bin/python)" internal/corpus/reads.py "$(abspath hlocb)" $(DIRECTORIES)

corpus-long:
	$(MAKE) corpus-bytecode BYTECODE="--cases 0 --bytes --corrupt 20000"

# The measurements that have goals. BENCH adds flags; 'go run ./internal/bench' lists the measurements.
bench: bench-parse bench-callbacks

bench-%: peers
	$(GO) run ./internal/bench $* $(BENCH)

bench-interposer: interposer
bench-jax: interposer
bench-jax: BENCH += $(if $(wildcard $(REAL_VENV)/bin/python),-frameworks "$(REAL_VENV)/bin/python") \
	$(if $(wildcard $(JAX_SOURCE)/tests),-source "$(abspath $(JAX_SOURCE))" -packages "$(abspath $(JAX_PACKAGES))")
bench-parse: BENCH += -corpus "$(CORPUS)"
bench-passes: BENCH += -large 270

# Random programs through random passes, 10,000 of them, on the engine and on XLA.
soak: peers
	HLOCB_LONG=1 $(GO) test -timeout 60m -run 'TestPassesKeepPrograms|TestHLOThroughPasses' -v ./internal/endtoend
	HLOCB_LONG=1 $(GO) test -timeout 60m -run TestPassesKeepResults -v ./internal/transforms # without some rules, at random

# Programs of JAX's libraries on both backends: texts, results and callbacks are JAX's. The libraries go into an
# environment of their own, the programs beside it; making them takes some minutes.
REAL_VENV = $(CACHE)/venv-real
REAL_PACKAGES = 'jax==0.10.2' 'jaxlib==0.10.2' flax optax equinox lineax optimistix diffrax numpyro blackjax distrax dm-haiku jaxopt
REAL = $(CACHE)/realprograms/$(firstword $(shell sha256sum internal/realprograms/programs.py))
test-real: plugin
	"$(REAL_VENV)/bin/python" -c 'import flax, diffrax, numpyro, jaxopt, distrax' 2>/dev/null || \
	{ python3 -m venv "$(REAL_VENV)" && "$(REAL_VENV)/bin/python" -m pip install -q --disable-pip-version-check $(REAL_PACKAGES); }
	"$(REAL_VENV)/bin/python" internal/realprograms/programs.py "$(REAL)"
	"$(REAL_VENV)/bin/python" internal/realprograms/programs.py "$(REAL)" gpt_40_layers
	HLOCB_REAL="$(REAL)" HLOCB_REAL_PYTHON="$(REAL_VENV)/bin/python" $(GO) test -timeout 60m -count 1 -v ./internal/realprograms

# What users install. Zig's C compiler links against an old glibc, which newer systems have, too.
zig:
	@"$(CACHE)/zig/bin/python" -m ziglang version >/dev/null 2>&1 || { python3 -m venv --clear "$(CACHE)/zig" && "$(CACHE)/zig/bin/python" -m pip install -q --disable-pip-version-check ziglang==0.17.1; }

# Python wheels in dist/, of all platforms or of PLATFORM.
wheels: zig
	$(GO) run ./internal/release -o dist -zig "$(CACHE)/zig/bin/python -m ziglang" wheels $(PLATFORM)

# Archives in dist/ with checksums and notes.
release: zig
	$(GO) run ./internal/release -o dist -zig "$(CACHE)/zig/bin/python -m ziglang" archives $(PLATFORM)

# The Python package: a wheel for this machine, installed and tested on each Python from 3.10 on.
python:
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; $(GO) run ./internal/release -o "$$dir" wheels native && python/test.sh "$$dir"/*.whl "$(CACHE)"

# The pages of PyTorch and GoMLX, word for word, with the packages that they name, 8 GB. By hand, before a release.
FRAMEWORKS ?= $(CACHE)/frameworks
FRAMEWORKS_PYTHON ?= python3
test-frameworks:
	@[ -x "$(FRAMEWORKS)/bin/python" ] || "$(FRAMEWORKS_PYTHON)" -m venv "$(FRAMEWORKS)"
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; $(GO) run ./internal/release -o "$$dir" wheels native; \
	"$(FRAMEWORKS)/bin/python" -m pip uninstall -q -y hlocb; \
	PATH="$(FRAMEWORKS)/bin:$$PATH" PIP_FIND_LINKS="$$dir" HLOCB_FRAMEWORKS=1 $(GO) test -timeout 60m -count 1 -v -run TestFrameworks ./internal/docs

# JAX's own tests on the engine as a plugin, compared with JAX's own CPU client. JAX_SOURCE is a checkout of JAX at the
# version of JAX_PYTHON. The results stay in JAX_RESULTS, and the rule continues after the last one. JAX_TESTS adds flags:
# --devices 8, --sample 20, --files nn,lax. 'make test-jax-sample' runs some on one device and on eight, in 3 minutes. It
# is skipped if there are no sources.
JAX_SOURCE ?= $(CACHE)/jax-0.10.2
JAX_PYTHON ?= $(VENV)/bin/python
JAX_RESULTS ?= $(CACHE)/jaxtests
JAX_PACKAGES ?= $(CACHE)/jaxtests-packages
RUN_JAX_TESTS = "$(JAX_PYTHON)" internal/corpus/jaxtests.py --engine "$(abspath libhlocb_engine.so)" --source "$(abspath $(JAX_SOURCE))" --packages "$(JAX_PACKAGES)"
test-jax: jax-tests-of
	$(RUN_JAX_TESTS) --results "$(abspath $(JAX_RESULTS))" $(JAX_TESTS)

test-jax-sample: jax-tests-of
	@if [ ! -d "$(JAX_SOURCE)/tests" ]; then echo "no sources of JAX 0.10.2: the sample of its tests is skipped"; exit 0; fi; \
	dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(RUN_JAX_TESTS) --results "$$dir" --sample 15 --limit 25 --files nn,jax_jit,python_callback,lax_control_flow && \
	$(RUN_JAX_TESTS) --results "$$dir" --sample 15 --limit 40 --devices 8 --files pjit,shard_map

jax-tests-of: jaxlib interposer
	@[ -d "$(JAX_SOURCE)/tests" ] || git clone -q --depth 1 --branch jax-v0.10.2 https://github.com/jax-ml/jax "$(JAX_SOURCE)" || true
	@[ ! -d "$(JAX_SOURCE)/tests" ] || [ -d "$(JAX_PACKAGES)/pytest" ] || "$(JAX_PYTHON)" -m pip install -q --disable-pip-version-check --target "$(JAX_PACKAGES)" \
		"numpy==$$("$(JAX_PYTHON)" -c 'import numpy; print(numpy.__version__)')" pytest pytest-timeout absl-py hypothesis portpicker cloudpickle matplotlib

# Change the code of PACKAGE in SAMPLE places, one at a time, and list the changes that the package's own tests do not
# notice. 'go doc ./internal/mutants' describes the changes; MUTANTS adds flags, such as -json or -seed 2.
PACKAGE ?= ./internal/hook/alias
SAMPLE ?= 100
mutants:
	$(GO) run ./internal/mutants -sample $(SAMPLE) $(MUTANTS) $(PACKAGE)

clean:
	rm -f hlocb libhlocb_*.so libhlocb_*.h
