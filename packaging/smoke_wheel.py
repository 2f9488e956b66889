"""Install the wheel in fresh environments, and explain a prediction in each.

    python packaging/smoke_wheel.py dist             # without extras, then with each one
    python packaging/smoke_wheel.py dist --only core plot
    python packaging/smoke_wheel.py dist --constraints constraints-min.txt

Each environment has what ``pip install 'pgm-explainer[extra]'`` installs and nothing else. The
script needs only the standard library, and uses the Python that runs it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

CORE = """
import subprocess, sys
from importlib.metadata import distributions

import pgm_explainer
assert "site-packages" in pgm_explainer.__file__, pgm_explainer.__file__

import numpy as np
from pgm_explainer import Explanation, PGMExplainer, PGMExplainerError

edges = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
path = np.zeros((4, 4))
path[edges[0], edges[1]] = 1
x = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
explainer = PGMExplainer(lambda x: path @ x, x, edges, num_layers=1, num_samples=200)
explanation = explainer.explain(1)
assert set(explanation.effects.parts[:2]) == {0, 2}, explanation.effects
assert 0 <= explanation.query() <= 1
assert str(explanation) and explanation.reason()
explanation.save("why.json")
assert Explanation.load("why.json").query() == explanation.query()
explanation.to_html("why.html")
try:
    explainer.explain(99)
except PGMExplainerError as error:
    assert "99" in str(error)
subprocess.run([sys.executable, "-m", "pgm_explainer", "query", "why.json"], check=True,
               stdout=subprocess.DEVNULL)
"""

ONLY_CORE = """
names = {each.metadata["Name"].lower() for each in distributions()} - {"pip", "setuptools"}
assert names == {"pgm-explainer", "numpy", "scipy"}, names
timed = "import time; t = time.process_time(); import pgm_explainer; print(time.process_time() - t)"
runs = [float(subprocess.check_output([sys.executable, "-c", timed])) for _ in range(5)]
print(f"imported in {min(runs):.2f} s of CPU time, best of 5; depends on NumPy and SciPy only")
"""

PLOT = """
explanation.plot().savefig("why.png")
explanation.report("why.pdf")
"""

DATASET = """
from pgm_explainer import ExplanationDataset, explain_dataset
explain_dataset(explainer, [0, 1, 2], "many")
assert len(ExplanationDataset("many")) == 3
"""

# Ray gives its processes 30 seconds to start, which a busy machine may exceed.
RAY = """
from pgm_explainer import ExplanationDataset, JobError, explain_dataset
for left in (2, 1, 0):
    try:
        explain_dataset(explainer, [0, 1, 2], "many", engine="ray")
        break
    except JobError as error:
        if not left or "did not start" not in str(error):
            raise
        print(f"{error}; trying again")
assert len(ExplanationDataset("many")) == 3
"""

MOLECULES = """
import rdkit
molecule = PGMExplainer(lambda x: x.sum(-2), x, edges, task="graph", num_samples=200).explain()
molecule.plot().savefig("molecule.png")
"""

REPORT = """
explanation.report("why.docx")
"""

CHECKS = {
    "core": CORE + ONLY_CORE,
    "plot": CORE + PLOT,
    "report": CORE + PLOT + REPORT,
    "dataset": CORE + DATASET,
    "ray": CORE + RAY,
    "molecules": CORE + PLOT + MOLECULES,
}
"""What each environment runs: ``core`` has no extra, the others have the extra of their name."""


def check(wheel: Path, extra: str, constraints: Path | None) -> None:
    """Install ``wheel`` with one extra in a fresh environment, and run its checks."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        what = str(wheel) if extra == "core" else f"{wheel}[{extra}]"
        limits = ["-c", str(constraints.resolve())] if constraints else []
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        subprocess.run([*pip, *limits, what], check=True)
        script = f'if __name__ == "__main__":\n{indented(CHECKS[extra])}'
        (Path(folder) / "smoke.py").write_text(script, encoding="utf-8")
        subprocess.run([str(python), "smoke.py"], check=True, cwd=folder)


def indented(code: str) -> str:
    """The body of the main guard, which processes of an engine need."""
    return "".join(f"    {line}\n" for line in code.splitlines() if line)


def main() -> None:
    """Check the one wheel of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder with the wheel")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS))
    parser.add_argument("--constraints", type=Path, help="a constraints file for pip")
    options = parser.parse_args()
    (wheel,) = options.folder.resolve().glob("pgm_explainer-*.whl")
    for extra in options.only:
        check(wheel, extra, options.constraints)
        print(f"Python {sys.version.split()[0]}, {extra}: passed", flush=True)


if __name__ == "__main__":
    main()
