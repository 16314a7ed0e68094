# Every target sets up what it needs on first use; `requirements.lock` holds the exact versions.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
# Every kernel runs in one of these; they also run with Numba off.
KERNEL_TESTS := control geometry kernels/test_randomness.py learning/test_q_learning.py \
	learning/test_q_net.py learning/test_replay.py models/test_dense.py models/test_nets.py mapping/matching physics places \
	robots/test_round_robot.py sensing surrogates/terrain/test_contact.py surrogates/terrain/test_feet.py \
	surrogates/terrain/test_imprint.py surrogates/terrain/test_motors.py surrogates/terrain/test_springs.py surrogates/test_centring.py surrogates/test_lines.py surrogates/test_mapped.py \
	surrogates/test_orthogonal.py surrogates/test_rolling.py surrogates/test_sensor_models.py surrogates/test_terms.py \
	studies/terrain/test_bullet_rays.py studies/terrain/test_plain_wheel.py worlds/avoid/test_moves.py worlds/indoor/test_floor.py \
	worlds/terrain/test_grid.py worlds/terrain/test_scene.py worlds/terrain/test_windows.py worlds/test_raster.py

.PHONY: help demo test test-all lint bench docs docs-results docs-pages docs-pictures lock clean

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | while IFS="$$(printf '\t')" read -r name what; do \
		printf '  make %-14s %s\n' "$$name" "$$what"; done

demo: $(VENV)/ready-demo  ## run the tour
	@$(BIN)/sandlot tour

test: $(VENV)/ready-test  ## every test but the slow ones, then the kernels' tests with Numba off
	@$(BIN)/python tests/chromium.py
	$(PYTEST) -n auto -m "not slow"
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n auto -m "not slow" $(KERNEL_TESTS:%=tests/%)

test-all: $(VENV)/ready-test  ## every test, and new examples of properties
	$(PYTEST) -n auto --hypothesis-profile=search

lint: $(VENV)/ready-lint  ## format, lint, types, and who may import whom
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/ready-bench  ## every benchmark, side by side with its peers; OPTIONS=--keep keeps the lines for the docs
	@status=0; for file in benchmarks/[!_]*.py; do $(BIN)/python $$file $(OPTIONS) || status=1; done; exit $$status

docs: $(VENV)/ready-docs  ## the site, in site/
	@NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --strict --quiet
	@echo "The site: site/index.html"

docs-results: $(VENV)/ready-demo  ## run studies at full size, all or STUDIES="a b", and keep their results for the docs
	@$(BIN)/python docs/publish.py $(STUDIES)
	@$(MAKE) --no-print-directory docs-pages docs-pictures

docs-pictures: $(VENV)/ready-test  ## make every picture of docs/images again
	@$(BIN)/python tests/chromium.py
	@cd docs && for each in house pictures moving_pictures curves screenshots; do ../$(BIN)/python $$each.py || exit 1; done

docs-pages: $(VENV)/ready-demo  ## write docs/reproduction.md, and the numbers that README and guides quote, from docs/results
	@$(BIN)/python docs/reproduction.py
	@$(BIN)/python docs/quote.py

lock:  ## write the newest versions that fit into requirements.lock
	rm -rf $(VENV)-lock && $(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install -q 'numpy<=2.3.5' -e '.[all,test,lint]'
	$(VENV)-lock/bin/pip freeze --exclude-editable | grep -v ' @ ' > requirements.lock
	rm -rf $(VENV)-lock

clean:  ## forget the virtual environment and everything built
	rm -rf $(VENV) site .*_cache

# An extra of pyproject.toml, installed at the locked versions.
$(VENV)/ready-%: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Sandlot needs Python 3.11 or newer; say which: make PYTHON=/path/to/python3.11"; exit 2; }
	@echo "Setting up $* in $(VENV) (once; a minute or two) ..."
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -qq --disable-pip-version-check -c requirements.lock -e '.[$*]'
	@touch $@
