# The second table of targets: single checks and long searches, measurements, and what writes generated files. `make help-all` lists
# them. Included by the Makefile, which has the targets that people type, and the settings.

CHECKS := $(lastword $(MAKEFILE_LIST))
.PHONY: help-all bench-evaluation bench-peers build cdk check-mutants check-nightly check-pages check-planted check-stores check-sweeps check-template clean compare-flows console-demo console-looks console-pictures contract cost golden-drafts measure-console packages profile properties-drafts simulate simulate-drafts simulate-kills simulate-senders simulate-sessions simulate-shards simulate-texts size sweep-test-runs terraform test-pythons

help-all: help ## list the targets of the Makefile, and then these
	@printf '\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(CHECKS)

# -- every night: .github/workflows/nightly.yml ------------------------------------------------------------------------

check-nightly: check-planted check-mutants check-pages check-sweeps golden-drafts simulate simulate-drafts simulate-sessions compare-flows ## do what takes too long for `make check`: planted bugs, mutants, every page with every rule, whole searches

check-planted: $(READY) $(CONSOLE) ## plant known bugs in the engine, and require that the searches find each of them
	$(BIN)/pytest $(SPREAD) -m nightly

MUTANTS ?= 60
check-mutants: $(READY) ## change the engine in random places, one at a time, and require that tests notice 85 % (MUTANTS=n, FROM=n)
	@$(BIN)/python tests/tools/mutation $(MUTANTS) --from $(FROM) --floor 85 --workers $(WORKERS)

# -- one part of `make check`, or more of it than it does ---------------------------------------------------------------

test-pythons: $(READY) ## do `make check` on every installed Python from 3.11 on
	@$(BIN)/python tests/tools/machine/interpreters.py $(UV) $(SPREAD) $(WHOLE)

SWEEPS := tests/simulation tests/drafts tests/flow tests/api/test_draft_attacks.py tests/unit/adapters/aws/dynamo tests/damage
check-sweeps: $(READY) ## do the whole of the long searches of which `make check` does a part
	STEPLESS_SWEEPS=whole $(BIN)/pytest $(SPREAD) $(WHOLE) $(SWEEPS)

check-pages: $(READY) $(CONSOLE) console ## look at every page of the console with every rule of axe, in both themes and narrow
	STEPLESS_PAGES=whole $(BIN)/pytest tests/browser/test_every_page.py

check-stores: $(READY) ## ask every store for what it promises, on every emulator
	$(BIN)/pytest $(SPREAD) tests/contracts

check-template: build/.checked ## check template.yaml before and after the transform, unless it is as it was at the last check

build/.checked: template.yaml tests/deploy/transform.py $(SAM)
	.tools/sam/bin/cfn-lint --template template.yaml --regions us-east-1
	@mkdir -p build
	AWS_DEFAULT_REGION=us-east-1 $(SAM_PYTHON) tests/deploy/transform.py template.yaml Deployment=Canary10Percent5Minutes > build/transformed.$$$$ && mv build/transformed.$$$$ build/transformed.json
	.tools/sam/bin/cfn-lint --template build/transformed.json --regions us-east-1 --ignore-checks W2001 W7001
	@touch $@

cdk: $(READY) ## synthesise the CDK construct, and compare it with template.yaml
	$(BIN)/python -m pytest tests/deploy/test_cdk.py

# The folders of tests/tools, as PYTHONPATH has them: tests import these helpers by name, as pyproject.toml lets them.
EMPTY :=
TEST_TOOLS := $(subst $(EMPTY) $(EMPTY),:,$(patsubst %/,%,$(wildcard tests/tools/[a-z]*/)))

SEEDS ?= 1000
FROM ?= 0
GROUND ?=
simulate: $(READY) ## run seeds of the simulated world (SEEDS=n, FROM=n, GROUND=name, ERASES=1, MESSAGES=1); a failing seed prints how to replay it
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/simulation $(SEEDS) --from $(FROM) --ground "$(GROUND)" $(if $(ERASES),--erases) $(if $(MESSAGES),--messages)

simulate-shards: $(READY) ## run seeds of `distributed` nodes in the simulated world (SEEDS=n, FROM=n, GROUND=name); a failing seed is printed
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/simulation/sharded.py $(SEEDS) --from $(FROM) --ground "$(GROUND)"

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

compare-flows: $(READY) ## compare random flows with their documents (SEEDS=n, FROM=n, KILLED=1, SIMULATED=1, WIDE=1, RACING=1); a failing seed is printed, and replays
	@PYTHONPATH=engine:tests/flow $(BIN)/python tests/flow $(SEEDS) --from $(FROM) $(if $(KILLED),--kills) $(if $(SIMULATED),--simulated) $(if $(WIDE),--wide) $(if $(RACING),--racing)

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

ROUNDS ?= 200
simulate-senders: KILLS = 5
simulate-senders: $(READY) ## kill servers while three processes send to them, and account for each message (KILLS=n of one server, ROUNDS=n of two, on one machine and on emulated AWS)
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/simulation/killed_servers.py dev $(KILLS)
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/simulation/killed_servers.py pair $(ROUNDS)
	@PYTHONPATH=$(TEST_TOOLS) $(BIN)/python tests/simulation/killed_servers.py cloud $(ROUNDS)

# -- measurements ------------------------------------------------------------------------------------------------------

profile: $(READY) ## divide the time of a node and of a run by layer: docs/understand/measurements/performance.md
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks.profile

bench-evaluation: $(READY) ## search for the slowest expression, and compare it with the limit
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks.evaluation

bench-peers: $(READY) ## measure other engines too, each in its own environment; PEERS=all adds those with large servers
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks peers $(if $(PEERS),--peers "$(PEERS)")

measure-console: $(READY) ## measure the console with two browsers, and write build/console-figures.md
	@PYTHONPATH=engine:.:$(TEST_TOOLS) $(BIN)/python -m benchmarks.console

cost: $(READY) ## compute what runs cost on AWS, and on other services
	@PYTHONPATH=engine:. $(BIN)/python -m benchmarks cost

size: build $(RUNTIME) ## show the size and the import time of the functions
	LAMBDA_PYTHON=$$($(RUNTIME) -c 'import sys; print("%d.%d" % sys.version_info[:2])') LAMBDA_PLATFORM=$$(uname -m)-manylinux_2_28 \
		$(SAM) build --build-dir build/local > build/local.log 2>&1
	@$(BIN)/python -m benchmarks.artifacts .aws-sam/build build/local $(RUNTIME)

# -- what is generated -------------------------------------------------------------------------------------------------

console-demo: $(READY) $(CONSOLE) console ## build the refund example in the console with two browsers; writes docs/images/console
	@PYTHONPATH=engine $(BIN)/python tests/browser/demo_refund.py

console-looks: $(READY) $(CONSOLE) console ## take pictures of every page of the console into build/looks, over an empty, a usual and a huge server
	@PYTHONPATH=engine $(BIN)/python tests/browser/looks.py build/looks

console-pictures: $(READY) $(CONSOLE) console ## take the pictures of the pages of the console; writes docs/images/pages
	@PYTHONPATH=engine $(BIN)/python tests/browser/looks.py docs/images/pages --kept

PACKAGES ?= engine/stepless/cli/project/packages.txt
packages: | $(UV) ## write the packages that `stepless init` projects install, with their hashes, after a change of uv.lock
	@$(UV) export --quiet --frozen --no-dev --extra aws --no-emit-project --no-annotate --no-header > $(PACKAGES)

contract: $(READY) ## write what is generated: contract/*.json, the types and tables of the console, and the types of stepless.client
	@PYTHONPATH=engine $(BIN)/python contract/openapi.py
	@$(BIN)/python contract/typescript.py
	@$(BIN)/python contract/python.py
	@PYTHONPATH=engine $(BIN)/python contract/draft_tables.py
	@PYTHONPATH=engine $(BIN)/python contract/tables.py

terraform: $(SAM) ## write the Terraform module from template.yaml
	@AWS_DEFAULT_REGION=us-east-1 $(SAM_PYTHON) infrastructure/terraform/generate.py

build: $(READY) $(SAM) ## build the functions and layers for AWS into .aws-sam/build
	@mkdir -p build
	COMPILER="$(COMPILER)" $(SAM) build > build/build.log 2>&1 || (cat build/build.log; exit 1)

clean: ## remove everything that can be rebuilt, including the environment
	rm -rf $(VENV) .tools .aws-sam build dist console/build console/node_modules .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find engine tests examples -name __pycache__ -type d -prune -exec rm -rf {} +
