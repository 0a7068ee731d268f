# make setup   an environment in .venv with `proof-r1` in it
# make demo    setup, then the main job on examples/
# make check   a minute or two: lint, types, and the fast tests of what differs from the branch main
# make test    everything the tests need, then all checks and tests; environments are made anew only if their lists change
# make test-long    the exhaustive forms of tests of which `make test` has a shorter one (docs/testing.md)
# make test-loaded  all tests three times beside four busy loops: none may depend on the speed of the machine
# make tables DATA=FOLDER   docs/agreement.md anew, from the benchmark data in FOLDER
# make bench DATA=FOLDER    docs/performance.json anew: how fast verification is, against z3py and cvc5
# make bench-ray            docs/ray.json anew: 200,000 completions on a local Ray cluster, a worker of which is killed twice
# make audit DATA=FOLDER    docs/audit.md anew: the completions of the benchmark data on every solver that is here
# make generation DATA=FOLDER  docs/generation/ anew: generated problems beside ProverQA
# make compare              docs/generated-queries.json anew: the engine against Z3 on 100,000 generated queries
# make soundness            docs/soundness.json anew: 100,000 steps, 20,000 traces and 60,000 forged proofs that try to have something false accepted; 18,000 edits for a reward
# make mutants              docs/mutants.md anew: which faults planted in the trusted modules do the tests notice?
# make fuzz SECONDS=600     so long for each reader of text from outside: bytes that it should not survive
# make test-openrlhf        the engine openrlhf on CPUs, in .venv-openrlhf (make setup-openrlhf); `make test` does it, too
# make engines             docs/engines.md anew: ten steps by each of the two engines
# make experiment-tiny     docs/experiments anew: the methods compared on a model from scratch (resumes; JOBS=2 THREADS=1)
# make test-integrations   the adapters for other trainers, with those trainers, in .venv-integrations; `make test` does it, too
# make web     proof_r1_formal/web/report.html anew from its sources in web/ (needs node and npm)
# make docs    the documentation site in out/site; a link that leads nowhere is an error
# make wheel   the package as a wheel in dist/

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: setup demo check test test-here test-elsewhere test-long test-loaded programs tables bench bench-ray audit generation compare soundness mutants fuzz setup-openrlhf test-openrlhf test-integrations engines experiment-tiny web docs wheel clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install -e .
	touch $@

.venv/.tested: .venv/.ready
	$(PIP) install -e '.[test,solvers,kernel,lean,models,serve,train,docs]'
	touch $@

demo: setup
	$(BIN)/proof-r1 evaluate --problems examples/problems.jsonl --completions examples/completions.jsonl
	$(BIN)/proof-r1 show --problems examples/problems.jsonl --completions examples/completions.jsonl --id garden/2

PYTEST = env PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -q  # with the programs that pip installs on PATH

check: .venv/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@changed="$$($(BIN)/python -m bench.changed)" && { test -z "$$changed" || $(PYTEST) -x -m 'not slow' $$changed; }

# Both at once: one installs, or waits for processes to start, while the other computes.
test: .venv/.tested
	$(MAKE) --no-print-directory -j 3 test-here test-elsewhere

test-here: .venv/.tested programs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) -n 2 --dist worksteal

test-elsewhere: .venv-integrations/.ready .venv-openrlhf/.ready
	$(RUN_INTEGRATIONS)
	$(RUN_OPENRLHF)

test-long: .venv/.tested
	$(PYTEST) -n 2 --dist worksteal --long -m long

test-loaded: .venv/.tested programs .venv-integrations/.ready .venv-openrlhf/.ready
	@set -e; loops=; for loop in 1 2 3 4; do nice -n 19 $(BIN)/python -c 'while True: pass' & loops="$$loops $$!"; done; \
	trap 'kill $$loops' EXIT; \
	for run in 1 2 3; do nice -n 19 $(MAKE) --no-print-directory test-here test-elsewhere; done

# Of its own, as its pins are not those of everything else.
ORL := .venv-openrlhf/bin
ORL_PIP := env -u PIP_CONSTRAINT $(ORL)/python -m pip --disable-pip-version-check -q

setup-openrlhf: .venv-openrlhf/.ready

.venv-openrlhf/.ready: $(wildcard training/openrlhf/requirements-*.txt)
	test -x $(ORL)/python || $(PYTHON) -m venv .venv-openrlhf
	$(ORL_PIP) install -r training/openrlhf/requirements-cpu.txt
	$(ORL_PIP) install --no-deps -r training/openrlhf/requirements-cpu-without-dependencies.txt
	$(ORL_PIP) install --no-deps -e .
	touch $@

RUN_OPENRLHF = $(ORL)/python -m pytest -q -W default tests/training/openrlhf  # libraries of this size warn

test-openrlhf: .venv-openrlhf/.ready
	$(RUN_OPENRLHF)

tables: .venv/.tested
	$(BIN)/python tests/evaluate/test_agreement.py $(DATA) > docs/agreement.md

bench: .venv/.tested
	$(BIN)/python -m bench.verification $(DATA)

bench-ray: .venv/.tested
	$(BIN)/python -m bench.cluster

audit: .venv/.tested
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m bench.audit $(DATA)
	rm -rf out/audit  # what an interrupted run goes on with; a whole one asks anew, as the code may have changed

generation: .venv/.tested
	$(BIN)/python -m bench.generation $(DATA)

compare: .venv/.tested
	$(BIN)/python -m bench.generated_queries

soundness: .venv/.tested
	$(BIN)/proof-r1 soundness --examples 100000 --answers 20000 --proofs 60000 --workers 2 --kernel-sample 0.02 --out docs/soundness.json
	$(BIN)/python -m training.reward_search --pairs 3000

mutants: .venv/.tested
	$(BIN)/python -m bench.mutation

fuzz: .venv/.tested
	$(PIP) install atheris==3.0.0
	$(BIN)/python -m bench.fuzz $(or $(SECONDS),600)

# The frameworks that adapters are for: of their own, as their pins are not those of everything else.
INT := .venv-integrations/bin
INT_PIP := env -u PIP_CONSTRAINT $(INT)/python -m pip --disable-pip-version-check -q

.venv-integrations/.ready: $(wildcard tests/integrations/requirements*.txt)
	test -x $(INT)/python || $(PYTHON) -m venv .venv-integrations
	$(INT_PIP) install -r tests/integrations/requirements.txt
	$(INT_PIP) install --no-deps -r tests/integrations/requirements-without-dependencies.txt
	$(INT_PIP) install --no-deps -e .
	touch $@

RUN_INTEGRATIONS = $(INT)/python -m pytest -q -W default -m integration tests/integrations tests/serve/test_openrlhf.py

test-integrations: .venv-integrations/.ready
	$(RUN_INTEGRATIONS)

engines: .venv/.tested .venv-openrlhf/.ready
	$(BIN)/python -m training.experiments.engines --openrlhf $(ORL)/proof-r1

experiment-tiny: .venv/.tested
	$(BIN)/python -m training.experiments.tiny --jobs $(or $(JOBS),2) --threads $(or $(THREADS),1)

web: web/node_modules/.ready
	cd web && npm run --silent check && npm run --silent build

web/node_modules/.ready: web/package-lock.json
	cd web && npm ci --silent --no-audit --no-fund
	touch $@

# Programs that tests need and pip cannot install. The tests of a program that cannot be installed are skipped and name it.
CHROMIUM := command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable
INSTALL := DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y -q --no-install-recommends

programs:
	@missing=; { $(CHROMIUM); } > /dev/null || missing=chromium; \
	for name in cvc4 cvc5 eprover; do command -v $$name > /dev/null || missing="$$missing $$name"; done; \
	test -z "$$missing" || test "$$(id -u)" != 0 || ! command -v apt-get > /dev/null || { \
		timeout 300 apt-get update -q > /dev/null 2>&1; \
		for name in $$missing; do $(INSTALL) $$name > /dev/null 2>&1 || echo "cannot install $$name"; done; }
	@! command -v npm > /dev/null || $(MAKE) --silent web/node_modules/.ready || echo 'npm could install nothing'

docs: .venv/.tested
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

wheel: .venv/.tested
	$(PIP) wheel --no-deps -w dist .

clean:
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
