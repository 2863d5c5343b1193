# The commands of this repository. 'make test' is what to run before a change is proposed, 'make check' what runs before
# it is merged.

# What fails in front of a pipe fails the rule.
SHELL = bash
.SHELLFLAGS = -o pipefail -c

GO ?= go
CORPUS ?= $(or $(HLOCB_CORPUS),../shared/corpus)
TOOLS ?= $(dir $(CORPUS))tools
SUMMARY = $(GO) run ./internal/testsummary

.PHONY: build plugin test check fmt vet staticcheck generated race nocgo corpus bench bench-callbacks bench-parse bench-hooks bench-engine clean

build:
	$(GO) build -o hlocb ./cmd/hlocb

# The real XLA CPU plugin, into the user's cache. Without pip or network the tests that need it are skipped, and the
# summary at the end of 'make test' names them.
plugin:
	@$(GO) run ./cmd/hlocb plugin install cpu || echo "no XLA CPU plugin: the tests that need it will be skipped"

test: plugin
	$(GO) test -timeout 20m -json ./... | $(SUMMARY)

check: fmt vet staticcheck generated test race nocgo

fmt:
	@out=$$(gofmt -l .); [ -z "$$out" ] || { echo "not formatted:"; echo "$$out"; exit 1; }

vet:
	$(GO) vet ./...
	CGO_ENABLED=0 $(GO) vet ./...

staticcheck:
	$(GO) tool staticcheck ./...

# Generated files must be what their generators write.
generated:
	@sums() { find . \( -name '*_gen.go' -o -name '*_amd64.s' -o -name '*stubs_amd64.go' -o -path './docs/dialects/*' \) -type f | sort | xargs sha256sum; }; \
	before=$$(sums); set -e; $(GO) generate ./...; $(GO) run ./internal/gen; \
	diff <(echo "$$before") <(sums) || { echo "generated files were not up to date"; exit 1; }
	$(GO) mod tidy -diff

# RACE says which packages; those that start threads are enough before a merge.
RACE ?= ./...
race: plugin
	$(GO) test -race -timeout 40m -json $(RACE) | $(SUMMARY)

nocgo:
	CGO_ENABLED=0 $(GO) test -timeout 20m -json ./... | $(SUMMARY)

# What the real systems delivered, on both backends. The corpus is no part of this repository: CORPUS says where it is.
corpus: build plugin
	@if [ -d "$(CORPUS)/events" ]; then \
	  set -e; for backend in interp cpu; do for suffix in .mlir .hlo; do \
	    if [ $$suffix = .hlo ] && ! ./hlocb translate --help 2>/dev/null | grep -qE '^ *hlo '; then continue; fi; \
	    echo "events on $$backend, $$suffix:"; \
	    python3 "$(TOOLS)/check_events.py" ./hlocb "$(CORPUS)/events" --suffix $$suffix --skip jax_pure_pair --backend $$backend --on '*=echo'; \
	  done; done; \
	HLOCB_CORPUS="$(abspath $(CORPUS))" $(GO) run ./internal/corpusreport; \
	else echo "skipped: corpus not found at $(CORPUS)"; fi

# Side by side with jaxlib where it is installed.
bench: build plugin
	$(GO) run ./internal/bench -corpus "$(CORPUS)"
	$(GO) run ./internal/bench/callbacks

# What a hook costs on the CPU plugin, beside a C handler that does nothing, JAX's callbacks, an optimization barrier, and the disk.
bench-callbacks: plugin
	$(GO) run ./internal/bench/callbacks

# How fast text is read and printed, beside MLIR itself.
bench-parse:
	$(GO) run ./internal/bench/parsing -corpus "$(CORPUS)"

# What a tap of a large value costs in each form that it can have, and JAX's callbacks beside the rewritten ones.
bench-hooks: plugin
	$(GO) run ./internal/bench/hooks

# The embedded engine beside StableHLO's reference interpreter and XLA's CPU backend, where jaxlib is installed.
bench-engine:
	$(GO) run ./internal/bench/engine -corpus "$(CORPUS)"

clean:
	rm -f hlocb
