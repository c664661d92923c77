# `make check` is everything that must hold before a change goes in; continuous integration calls it too.
#
# All of its parts use cargo's dev profile and the whole workspace, so that a dependency is built once for all of them.

CARGO ?= cargo
NEXTEST := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo yes)
DENY := $(shell $(CARGO) deny --version >/dev/null 2>&1 && echo yes)
BUILT := $(or $(CARGO_TARGET_DIR),target)/debug
EXAMPLES := $(basename $(notdir $(wildcard crates/*/examples/*.rs)))

.PHONY: help check fmt fmt-check lint test examples doc licences quality quality-own own-models race race-run demo
.NOTPARALLEL:

help:
	@echo 'make check      everything below that can fail: format, lints, tests, doctests, examples, documentation'
	@echo 'make fmt        format the code'
	@echo 'make lint       clippy, warnings are errors'
	@echo 'make test       the tests and the doctests'
	@echo 'make examples   run every example'
	@echo 'make doc        build the documentation, warnings are errors'
	@echo 'make licences   licences, vulnerabilities and sources of all dependencies (licences are also one of the tests)'
	@echo 'make quality    RUN=… POLICY=… [COUNT=200] [JUDGE=RUN2] clues of a table beside simple things, and before judges'
	@echo 'make quality-own FOLDER=… [COUNT=200] the same for three tables that are made on the spot'
	@echo 'make own-models [SECTIONS=…] the examples of docs/own-model.md, with the real libraries'
	@echo 'make race       RUN=… [DATA=…] clue bench of a run against PyTorch, which is installed below the build folder'
	@echo 'make demo       clue demo, optimised'

check: fmt-check lint test examples doc

fmt:
	$(CARGO) fmt --all

fmt-check:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets -- -D warnings

# cargo-nextest runs all tests side by side but no doctests; without it, one test binary runs after the other.
# A test that goes without the real data adds a line to a list, which is shown at the end.
test: export CLUE_SKIPPED := $(abspath $(or $(CARGO_TARGET_DIR),target))/skipped.txt
test:
	@rm -f "$(CLUE_SKIPPED)"
ifeq ($(NEXTEST),yes)
	$(CARGO) nextest run --workspace
else
	$(CARGO) test --workspace --lib --bins --tests
endif
	$(CARGO) test --workspace --doc
	@if [ -s "$(CLUE_SKIPPED)" ]; then echo 'skipped for want of data:'; sort "$(CLUE_SKIPPED)"; fi

examples:
ifneq ($(EXAMPLES),)
	$(CARGO) build --workspace --examples
	@for example in $(EXAMPLES); do echo "example $$example"; "$(BUILT)/examples/$$example" || exit 1; done
endif

doc:
	RUSTDOCFLAGS="$(RUSTDOCFLAGS) -D warnings" $(CARGO) doc --workspace --no-deps

# The licences alone need neither cargo-deny nor a network; the list of vulnerabilities is fetched.
licences:
	$(CARGO) test --workspace --test commands licences::
ifeq ($(DENY),yes)
	$(CARGO) deny check licenses bans sources
	@if $(CARGO) deny fetch db; then $(CARGO) deny --offline check advisories; \
	else echo 'vulnerabilities were not checked: their list could not be fetched'; fi
else
	@echo 'cargo-deny is not installed; vulnerabilities, duplicates and sources were not checked'
endif

quality:
	$(CARGO) build --release --workspace --bins
	$(or $(CARGO_TARGET_DIR),target)/release/quality $(RUN) $(POLICY) $(or $(COUNT),200) $(JUDGE)

quality-own:
	$(CARGO) build --release --workspace --bins
	$(or $(CARGO_TARGET_DIR),target)/release/quality own $(FOLDER) $(or $(COUNT),200)

own-models:
	scripts/own-models $(SECTIONS)

# Some gigabytes are downloaded the first time.
RACE := $(or $(CARGO_TARGET_DIR),target)/race

race: race-run $(RACE)/installed
	$(CARGO) build --release --package cluekit-cli
	$(or $(CARGO_TARGET_DIR),target)/release/clue bench "$(RUN)" $(if $(DATA),--data "$(DATA)") \
		--against "'$(RACE)/bin/python' bench/torch/search.py '$(RUN)'"

race-run:
	@test -n "$(RUN)" || { echo 'name a run folder: make race RUN=runs/mnist' >&2; exit 2; }

$(RACE)/installed: bench/torch/requirements.txt
	python3 -m venv "$(RACE)"
	"$(RACE)/bin/pip" install --quiet --disable-pip-version-check --requirement bench/torch/requirements.txt
	touch "$@"

demo:
	$(CARGO) run --release -- demo
