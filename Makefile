# Two commands do it all on a machine with Python and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# The oldest Python that is supported, for `make test-min`.
PYTHON_MIN ?= python3.10
VENV_MIN ?= .venv-min
BIN_MIN := $(VENV_MIN)/bin
PIP_MIN := $(BIN_MIN)/python -m pip --disable-pip-version-check

# The tests start many processes; without stored bytecode each of them compiles the package anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-min format lint types tests docs docs-quick docs-pictures bench attack dist clean

demo: $(VENV)/demo.stamp ## train a model, explain it, draw a picture
	$(BIN)/pgm-explainer demo --output out

test: lint types tests ## everything CI checks

format: $(VENV)/test.stamp ## format the sources
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

types: $(VENV)/test.stamp
	$(BIN)/mypy

# One thread each: those of two test processes on two cores would mostly wait for each other.
# Files in the order of tests/conftest.py, slow ones first; not those with the most tests first.
# The tests of the study run separately: both parts keep a browser open, and one process can keep only one.
tests: $(VENV)/test.stamp
	OPENBLAS_NUM_THREADS=$${OPENBLAS_NUM_THREADS:-1} $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder tests src lab
	OPENBLAS_NUM_THREADS=$${OPENBLAS_NUM_THREADS:-1} $(BIN)/python -m pytest -n 2 --dist loadfile study

# The package is installed, not linked (-e), so that what is tested is what a user gets. Warnings
# about files that older versions of Ray leave open are ignored.
test-min: $(VENV_MIN)/test.stamp ## the tests with the lowest versions that are promised
	$(PIP_MIN) install -q --no-deps --force-reinstall . ./lab
	$(BIN_MIN)/python -m pytest -n 2 --dist loadfile tests lab/tests --ignore=tests/browser \
		-W ignore::pytest.PytestUnraisableExceptionWarning

bench: $(VENV)/test.stamp ## compare speed and memory with other packages
	$(BIN)/pgm-explainer bench

# From nothing each time, so that every example runs with the code as it is. Warnings are errors.
SPHINX := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -b html -n -W --keep-going -q
docs: $(VENV)/docs.stamp ## build the site, run its examples and doctests, check links and accessibility
	rm -rf docs/_build docs/gallery
	$(SPHINX) docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -p no:cacheprovider src

docs-quick: $(VENV)/docs.stamp ## build the site without running the gallery, reusing earlier pages
	$(SPHINX) -D plot_gallery=0 docs docs/_build/html

docs-pictures: $(VENV)/docs.stamp ## draw the pictures of the README and of docs/reading.md again
	$(BIN)/python docs/make_pictures.py

SEED ?= 0
attack: $(VENV)/test.stamp ## malformed calls, mutated files, kills and loads; SEED=7 for other cases
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pgm_explainer_lab.attack --seed $(SEED)

# uv installs packages several times as fast as pip, but does not read pip's configuration, such as a mirror.
install = $(BIN)/uv pip install -q --python $(BIN)/python $(1) || $(PIP) install -q $(1)

# In a separate environment, so that what is released does not depend on what is installed here.
dist: ## build the wheel and the source distribution, check both, and try the wheel
	rm -rf dist
	$(PYTHON) -m venv --clear $(VENV)-dist
	$(VENV)-dist/bin/python -m pip --disable-pip-version-check install -q build twine check-wheel-contents
	$(VENV)-dist/bin/python -m build --outdir dist .
	$(VENV)-dist/bin/twine check --strict dist/*
	$(VENV)-dist/bin/check-wheel-contents dist/*.whl
	$(PYTHON) packaging/smoke_wheel.py dist $(if $(ONLY),--only $(ONLY))

clean:
	rm -rf $(VENV) $(VENV)-dist $(VENV_MIN) dist out docs/_build docs/gallery docs/api/*.rst .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# DGL is installed without its dependencies. If there is no DGL for this Python, its tests are skipped.
# Torch is installed first and alone, so that no other package determines which build is used.
$(VENV)/torch.stamp: constraints.txt | $(BIN)/python
	$(PIP) install -q --no-compile $$(grep '^torch==' constraints.txt)
	-$(PIP) install -q $$(grep '^uv==' constraints.txt)
	touch $@

$(VENV)/demo.stamp: pyproject.toml lab/pyproject.toml constraints.txt $(VENV)/torch.stamp
	$(call install,-c constraints.txt -e . -e lab)
	touch $@

$(VENV)/test.stamp: pyproject.toml lab/pyproject.toml study/pyproject.toml constraints.txt $(VENV)/torch.stamp
	$(call install,-c constraints.txt -e '.[test]' -e lab -e 'study[test]')
	-$(call install,--no-deps $$(sed -n 's/^# no-deps: //p' constraints.txt))
	touch $@ $(VENV)/demo.stamp

$(VENV)/docs.stamp: $(VENV)/test.stamp
	$(call install,-c constraints.txt -e '.[docs]')
	touch $@

$(VENV_MIN)/test.stamp: pyproject.toml lab/pyproject.toml constraints-min.txt
	$(PYTHON_MIN) -m venv --clear $(VENV_MIN)
	$(PIP_MIN) install -q $$(grep '^torch==' constraints-min.txt)
	$(PIP_MIN) install -q -c constraints-min.txt '.[ray,report]' ./lab \
		hypothesis mpmath pandas pyagrum pytest pytest-xdist
	touch $@
