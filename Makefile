# `make` alone lists what there is. Needs Python 3.11 or later with pip; everything else comes from the package registries
# that the machine is configured for (pip's and uv's own settings are left alone).

PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
UV := .tools/bin/uv
READY := $(VENV)/.ready

# The interpreter is the machine's, and the environment this folder's, whatever is active around.
export UV_PROJECT_ENVIRONMENT := $(VENV)
export UV_PYTHON_DOWNLOADS := never
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test lint bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(READY) ## install the locked dependencies into .venv

demo: $(READY) ## run the refund example, from the webhook to the approval
	@$(BIN)/python examples/demo.py

test: $(READY) ## run the tests on two processes (WORKERS=n)
	$(BIN)/pytest -n $(WORKERS) --dist loadfile

lint: $(READY) ## check style, types and directions
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: $(READY) ## measure
	$(BIN)/python -m benchmarks

clean: ## remove what can be made again, the environment too
	rm -rf $(VENV) .tools build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find engine tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# uv lives beside the environment, not in it: a sync removes whatever the lock does not name.
# `--target` wants nothing of the interpreter but pip, and ignores a system's ban on installing into it.
$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Stepless needs Python 3.11 or later, this is " + sys.version.split()[0] + ": make PYTHON=python3.12 setup")'
	PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_ROOT_USER_ACTION=ignore \
		$(PYTHON) -m pip install --quiet --disable-pip-version-check --upgrade --target .tools 'uv>=0.13.8,<0.14'
	@touch $@

$(READY): uv.lock pyproject.toml | $(UV)
	$(UV) sync --frozen --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"
	@touch $@
