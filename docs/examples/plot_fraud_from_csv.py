"""
Fraud from CSV files, on the command line
=========================================

An analyst has three files: accounts, payments, and a model that someone else wrote. No Python is needed to explain
why an account is flagged, only the command ``pgm-explainer``. This page runs the commands as a shell would.
"""

import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
random.seed(3)

# %%
# The files
# ---------
# ``accounts.csv`` has a name and three columns of numbers, ``payments.csv`` has the two ends of each payment. The
# files of this example are generated: account ``A07`` receives money from two accounts that were opened recently and
# send large sums.

accounts = [
    (f"A{number:02}", random.randint(200, 900), random.randint(1, 20), 0.1) for number in range(12)
]
accounts[3] = ("A03", 4, 180, 0.9)  # days since opening, payments per day, share abroad
accounts[9] = ("A09", 2, 140, 0.8)
payments = [("A03", "A07"), ("A09", "A07"), ("A01", "A07"), ("A02", "A07"), ("A05", "A01")]
payments += [("A04", "A02"), ("A06", "A05"), ("A08", "A04"), ("A10", "A11"), ("A11", "A06")]

with (folder / "accounts.csv").open("w", newline="") as file:
    csv.writer(file).writerows([("account", "days_open", "payments_per_day", "abroad"), *accounts])
with (folder / "payments.csv").open("w", newline="") as file:
    csv.writer(file).writerows([("source", "target"), *payments])

# %%
# The model is a Python file with a function or a PyTorch module:

(folder / "fraud.py").write_text(
    '''
import numpy as np


def model(x, edge_index):
    """Scores of (regular, suspicious) for accounts; x [B, N, 3] in, [B, N, 2] out."""
    young, busy, abroad = x[..., 0] < 30, x[..., 1] / 100, x[..., 2]
    risk = young * busy * abroad
    received = np.zeros(x.shape[:2])
    np.add.at(received.T, edge_index[1], risk[:, edge_index[0]].T)
    return np.stack([0 * received, 2 * received - 1.5], axis=-1)
'''
)


def shell(command):
    """Run a command in the folder and print what it prints."""
    print("$", command)
    arguments = [
        sys.executable,
        "-m",
        *command.replace("pgm-explainer", "pgm_explainer", 1).split(),
    ]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    print(done.stdout or done.stderr)


# %%
# Explain
# -------
# One command explains the account and writes a page to click through, a file to keep, and a one-page report.

shell(
    "pgm-explainer explain --model fraud.py:model --features accounts.csv --edges payments.csv"
    " --num-layers 1 --class-names regular,suspicious --target A07 --explain-features"
    " --output why.html --output why.json --report why.md"
)
print((folder / "why.md").read_text())

# %%
# Query
# -----
# How likely is the prediction to be kept if the features of account A03 are not perturbed?

shell("pgm-explainer query why.json --given A03=original")

# %%
# The same explanation in Python
# ------------------------------
# Files that the command line writes can be read in Python, and the other way round.

from pgm_explainer import Explanation

explanation = Explanation.load(folder / "why.json")
explanation.plot("neighbourhood")
