# Two commands do it all on a machine with Python and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test format lint types tests bench clean

demo: $(VENV)/demo.stamp ## train a model, explain it, draw a picture
	$(BIN)/pgm-explainer demo --output out

test: lint types tests ## everything CI checks

format: $(VENV)/test.stamp ## rewrite the sources in the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/test.stamp
	$(BIN)/mypy

tests: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n 2 --dist loadfile

bench: $(VENV)/test.stamp ## ratios against the peers, measured in one run
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) out .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# DGL comes without its dependencies, and where there is none for this Python its tests skip.
# Torch goes in first and alone: so that nothing else decides which build of it is taken.
$(VENV)/torch.stamp: constraints.txt | $(BIN)/python
	$(PIP) install -q $$(grep '^torch==' constraints.txt)
	touch $@

$(VENV)/demo.stamp: pyproject.toml constraints.txt $(VENV)/torch.stamp
	$(PIP) install -q -c constraints.txt -e '.[experiments]'
	touch $@

$(VENV)/test.stamp: pyproject.toml constraints.txt $(VENV)/torch.stamp
	$(PIP) install -q -c constraints.txt -e '.[test]'
	-$(PIP) install -q --no-deps $$(sed -n 's/^# no-deps: //p' constraints.txt)
	touch $@ $(VENV)/demo.stamp
