# One command each: `make run` serves the demo, `make test` checks everything. Both set up what they need, and
# both can be run again. Wanted beforehand: Python 3.11 or newer, git, make.

.DEFAULT_GOAL := help
.PHONY: help run test test-neo4j check setup browser java neo4j demo bench eval constraints clean

BIN := .venv/bin
STAMP := .venv/.set-up

# Where `make run` keeps its store: in the checkout, unless the environment or .env names another place.
ATTEST_HOME ?= $(if $(shell grep -sE '^ *(export +)?ATTEST_HOME=' .env),,$(CURDIR)/.attest)
WITH_HOME := $(if $(ATTEST_HOME),ATTEST_HOME='$(ATTEST_HOME)')

help:
	@echo 'make run          load the demo graph and serve it (PORT=8600 for another port, ATTEST_HOME=DIR for another store)'
	@echo 'make test         format, lint, types, then all tests (ARGS="-k walk" to choose)'
	@echo 'make test-neo4j   only the tests that need a Neo4j server, which they start'
	@echo 'make neo4j        start that server for development, until Ctrl-C (PORT=..., LINE=2026 for a newer one)'
	@echo 'make check        only format, lint and types'
	@echo 'make bench        measure, and print the tables (ARGS are passed on)'
	@echo 'make eval        how well each strategy finds what answers the questions of public sets'
	@echo 'make demo         make the demo graph again from its script'
	@echo 'make setup        only the environment, in .venv; PYTHON=... to choose the interpreter'
	@echo 'make constraints  resolve the pinned versions again (needs a network)'
	@echo 'make clean        remove the environment and the caches; a store in .attest stays'

run: $(STAMP)
	@# This entity is in the demo's second part only. Loading the parts again would make new versions of what differs.
	@$(WITH_HOME) $(BIN)/attest show --dataset demo oarlock >/dev/null 2>&1 || { \
	  echo 'Loading the demo graph ...'; \
	  $(WITH_HOME) $(BIN)/attest load demo/first demo/second --dataset demo --communities; \
	}
	@$(WITH_HOME) $(BIN)/attest serve $(if $(PORT),--port '$(PORT)')

# A server that the environment names has one database, which two workers cannot share. Files are taken in their order:
# by their number of tests those in the browser, few and long, would all come last, and one worker would wait. Workers
# wait for servers and browsers half of the time, so that three keep two cores busy.
WORKERS := $(if $(ATTEST_TEST_NEO4J),-n 0,-n 3 --dist loadfile --no-loadscope-reorder)

test: check browser java
	$(BIN)/python -m pytest $(WORKERS) $(ARGS)

test-neo4j: $(STAMP) java
	$(BIN)/python -m pytest $(WORKERS) -m neo4j $(ARGS)

neo4j: $(STAMP) java
	@PORT='$(PORT)' $(BIN)/python -m tests.servers.neo4j $(LINE)

check: $(STAMP)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

eval: $(STAMP)
	$(BIN)/python -m benchmarks.evaluation

demo: $(STAMP)
	$(BIN)/python demo/build.py

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

constraints: $(STAMP)
	$$(command -v uv || echo $(BIN)/uv) pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
	  --fork-strategy fewest --upgrade --no-header --quiet --output-file constraints.txt

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup: $(STAMP)
	@echo 'The environment in .venv is ready.'

# The interpreter is the first that is new enough and can make an environment. (A name on the PATH may be a shim that
# runs nothing, so each is tried.) The installer is uv where there is one or pip can bring it, else pip.
$(STAMP): pyproject.toml constraints.txt
	@set -eu; \
	found=; bare=; uv=; \
	if uv --version >/dev/null 2>&1; then uv=uv; fi; \
	for name in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
	  path=$$($$name -c 'import sys; print(sys.executable if sys.version_info >= (3, 11) else "")' 2>/dev/null) || continue; \
	  [ -n "$$path" ] || continue; \
	  if [ -n "$$uv" ] || "$$path" -c 'import ensurepip, venv' 2>/dev/null; then found=$$path; break; fi; \
	  bare=$${bare:-$$path}; \
	done; \
	if [ -z "$$found" ] && [ -n "$$bare" ]; then \
	  package=$$("$$bare" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	  echo "The venv module is missing, so $$bare cannot make an environment." >&2; \
	  echo "On Debian and Ubuntu: apt-get install $$package. Then run make again." >&2; \
	  exit 1; \
	fi; \
	if [ -z "$$found" ]; then \
	  echo 'Python 3.11 or newer is missing: none of python3.13, python3.12, python3.11 and python3 is one.' >&2; \
	  echo 'Install it (Debian 12 and later: apt-get install python3 python3-venv) or name one: make PYTHON=...' >&2; \
	  exit 1; \
	fi; \
	echo "Setting up .venv with $$("$$found" --version)."; \
	echo 'The first time this fetches a few gigabytes, most of it PyTorch, and takes some minutes ...'; \
	if ! $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  rm -rf .venv; \
	  if [ -n "$$uv" ]; then uv venv --quiet --python "$$found" .venv; else "$$found" -m venv .venv; fi; \
	fi; \
	wanted="--editable .[dev] --constraint constraints.txt"; \
	UV_HTTP_TIMEOUT=$${UV_HTTP_TIMEOUT:-300}; export UV_HTTP_TIMEOUT; \
	if [ -n "$$uv" ]; then \
	  uv pip install --quiet --python $(BIN)/python $$wanted; \
	else \
	  $(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null; \
	  if ! $(BIN)/python -m pip install --quiet --constraint constraints.txt uv \
	    || ! $(BIN)/uv pip install --quiet --python $(BIN)/python $$wanted; then \
	    echo 'Installing with pip ...'; \
	    $(BIN)/python -m pip install --quiet $$wanted; \
	  fi; \
	fi; \
	touch $@

# The browser tests drive a Chromium that is already there. As root on Debian it is installed; elsewhere this says
# what to install and goes on, and those tests are skipped by name (with CI=true they fail).
browser:
	@for name in chromium chromium-browser google-chrome; do \
	  if command -v $$name >/dev/null; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && grep -qs '^ID=debian$$' /etc/os-release; then \
	  echo 'Chromium is missing: installing chromium and fonts-noto-cjk (a minute or two) ...'; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  if apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk; then exit 0; fi; \
	fi; \
	echo 'Chromium is missing, so the browser tests cannot run. Install it to run them:'; \
	echo '  Debian: apt-get install chromium fonts-noto-cjk'; \
	echo '  elsewhere: Chromium or Google Chrome, as chromium, chromium-browser or google-chrome on the PATH'

# The Neo4j of the tests comes from Maven Central and runs on a local Java, unless the environment names another. As root
# on Debian both are installed; elsewhere this says what to install and goes on, and those tests are skipped by name.
java:
	@if [ -n "$$ATTEST_TEST_NEO4J" ]; then exit 0; fi; \
	if command -v java >/dev/null && { [ -n "$$NEO4J_HOME" ] || command -v mvn >/dev/null; }; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && grep -qs '^ID=debian$$' /etc/os-release; then \
	  echo 'Java or Maven is missing: installing maven and default-jdk-headless (a minute) ...'; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  if apt-get update -qq && apt-get install -y -qq --no-install-recommends maven default-jdk-headless; then exit 0; fi; \
	fi; \
	echo 'Java or Maven is missing, so the Neo4j tests cannot run. Install them to run them:'; \
	echo '  Debian: apt-get install maven default-jdk-headless'; \
	echo '  elsewhere: Java 17 or newer and Maven, on the PATH'
