"""``pgm-explainer reproduce``: the paper's experiments, resumable, with the published figures."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from pgm_explainer import PGMExplainerError

if TYPE_CHECKING:
    from ..reproduce.plan import Plan

__all__ = ["NAMES", "SUMMARY", "configure", "run"]

SUMMARY = "run the paper's experiments; run again to resume"

_EPILOG = """\
examples:
  pgm-explainer reproduce table2 --no-rivals
  pgm-explainer reproduce table1 table2 table3 --rival-seeds 1
  pgm-explainer reproduce faithfulness
  pgm-explainer reproduce parts --seeds 2
  pgm-explainer reproduce models --targets 4
  pgm-explainer reproduce all --quick
"""
_TRAINED_ON = 55_000  # the other 5,000 are used to choose the epoch
_HOPS = {"paper": (1,), "strict": (3,), "both": (1, 3)}
NAMES = (
    *("table1", "table2", "table3", "figures", "mnist", "beyond", "ablation"),
    *("faithfulness", "parts", "models"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Compute the paper's tables and figures, and compare them with the published values and "
        "with other explainers. Results are kept in the output folder: after a stop the same "
        "command resumes, and with other settings it starts again."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="+",
        choices=(*NAMES, "all"),
        help=f"what to reproduce: {', '.join(NAMES)}, or all; several make one page",
    )
    parser.add_argument(
        "--seeds", type=_count, help="how many seeds (default: 5, 1 for faithfulness, 2 for models)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="one seed, few targets for rivals, few digits"
    )
    parser.add_argument(
        "--no-rivals", action="store_true", help="without SHAP, GNNExplainer and GRAD"
    )
    parser.add_argument(
        "--rival-targets",
        type=_count,
        default=40,
        help="targets of each set for SHAP and GNNExplainer, a hundred times as many for GRAD, and "
        "the number of targets for the section beyond (default: 40)",
    )
    parser.add_argument(
        "--rival-seeds",
        type=_count,
        help="seeds for SHAP and GNNExplainer (default: as many as --seeds)",
    )
    parser.add_argument(
        "--targets",
        type=_count,
        default=8,
        help="faithfulness: targets of each model and group; models: of each set; parts: a fifth "
        "of them (default: 8)",
    )
    parser.add_argument(
        "--sets",
        nargs="+",
        metavar="SET",
        help="faithfulness and models: these sets only, such as marked, community, syn1 or cora",
    )
    parser.add_argument(
        "--train", action="store_true", help="mnist: train the network again (half an hour)"
    )
    parser.add_argument(
        "--protocol",
        choices=tuple(_HOPS),
        default="both",
        help="Bitcoin: candidates within one hop (paper), three (strict), or both",
    )
    parser.add_argument("--workers", type=_count, default=2, help="processes (default: 2)")
    parser.add_argument("--data", type=Path, help="data folder (default: PGM_EXPLAINER_DATA)")
    parser.add_argument("--output", type=Path, default=Path("reproduced"), help="folder of results")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def run(options: argparse.Namespace) -> None:
    """Compute what is missing; write the page and its figures, section by section."""
    try:
        from ..reproduce.page import write_page
        from ..reproduce.sections import SECTIONS
    except ImportError as error:
        raise PGMExplainerError(
            f"the experiments need PyTorch, PyTorch Geometric and more: in a clone, run "
            f"pip install -e . -e lab ({error})"
        ) from error

    plan = _plan(options)
    plan.place.make()
    names = NAMES if "all" in options.names else tuple(dict.fromkeys(options.names))
    if names == ("mnist",) and options.train:
        _train(options)
        return
    page, sections = names[0] if len(names) == 1 else "experiments", {}
    for name in names:
        sections[name] = SECTIONS[name](plan)
        text = write_page(sections, plan, _command(options), page)
    if options.json:
        print((options.output / f"{page}.json").read_text())
    else:
        print(f"{text}\nAs a page: {options.output / page}.md, as JSON: {page}.json")


def _plan(options: argparse.Namespace) -> Plan:
    from ..reproduce.jobs import Place
    from ..reproduce.plan import Plan

    quick = (
        {
            "seeds": 1,
            "rival_targets": min(5, options.rival_targets),
            "digits": 20,
            "test_digits": 500,
            "bitcoin_ablation": False,
            "targets": min(2, options.targets),
            "faithful_seeds": 1,
            "model_seeds": 1,
        }
        if options.quick
        else {}
    )
    return Plan(
        **{
            "place": Place(options.output, options.data),
            "seeds": options.seeds or 5,
            "faithful_seeds": options.seeds or 1,
            "model_seeds": options.seeds or 2,
            "faithful_sets": options.sets,
            "targets": options.targets,
            "rivals": not options.no_rivals,
            "rival_seeds": options.rival_seeds,
            "rival_targets": options.rival_targets,
            "hops": _HOPS[options.protocol],
            "workers": options.workers,
            **quick,
        }
    )


def _train(options: argparse.Namespace) -> None:
    """Train the network for superpixels, which takes about half an hour."""
    from safetensors.torch import save_file

    from ..superpixel_training import right_share, train_superpixel_gcn
    from ..superpixels import mnist_graphs

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    graphs = mnist_graphs("train", options.data, workers=options.workers)
    model = train_superpixel_gcn(graphs[:_TRAINED_ON], graphs[_TRAINED_ON:])
    path = options.output / "superpixel_gcn.safetensors"
    save_file(model.state_dict(), path)
    share = right_share(model, mnist_graphs("test", options.data, workers=options.workers))
    print(f"test accuracy {share:.2%}; the weights are in {path}")


def _command(options: argparse.Namespace) -> str:
    """Return the command that reproduces the page, without paths."""
    parts = ["pgm-explainer reproduce", *options.names]
    seeds = [] if options.seeds is None else [f"--seeds {options.seeds}"]
    parts += ["--quick"] if options.quick else seeds
    parts += ["--no-rivals"] * options.no_rivals
    if options.rival_seeds is not None:
        parts.append(f"--rival-seeds {options.rival_seeds}")
    if options.rival_targets != 40:
        parts.append(f"--rival-targets {options.rival_targets}")
    if options.targets != 8:
        parts.append(f"--targets {options.targets}")
    if options.sets is not None:
        parts.append(f"--sets {' '.join(options.sets)}")
    if options.protocol != "both":
        parts.append(f"--protocol {options.protocol}")
    return " ".join(parts)
