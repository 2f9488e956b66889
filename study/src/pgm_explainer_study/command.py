"""``pgm-explainer study``: make, serve, simulate, analyse studies in which people judge."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pgm_explainer import InputError, PGMExplainerError, PGMExplainerWarning

if TYPE_CHECKING:
    from .store import Store
    from .study_file import Study

__all__ = ["SUMMARY", "configure", "run"]

SUMMARY = "ask people how good explanations are"
BUILT_IN = ("mnist", "nodes")
_LOCAL = ("127.0.0.1", "localhost", "::1")
_PROLIFIC = "https://app.prolific.com/submissions/complete?cc="


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Studies in which people judge explanations: the paper's human test and others like it."
    )
    parser.epilog = """\
examples:
  pgm-explainer study serve mnist --open        the paper's study, in the browser
  pgm-explainer study make mnist                its file, mnist.json, to be edited
  pgm-explainer study make saved --arm PGM=pgm.json --arm SHAP=shap.json --output ours.json
  pgm-explainer study power --effect 1
  pgm-explainer study simulate mnist.json --raters 10
  pgm-explainer study report mnist.json --answers mnist.simulated.sqlite
  pgm-explainer study export mnist.json

Answers are in a file beside the study: mnist.sqlite. See docs/human-study.md.
"""
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (summary, add, act) in _COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        add(sub)
        sub.set_defaults(act=act)


def run(options: argparse.Namespace) -> None:
    """Run a command of studies."""
    options.act(options)


# The options of each command


def _making(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", choices=(*BUILT_IN, "saved"),
                        help="mnist: the paper's digits; nodes: Syn 6; saved: from --arm")  # fmt: skip
    parser.add_argument("--arm", action="append", default=[], metavar="NAME=FILE",
                        help="for saved: explanations of an arm; repeat for each arm")  # fmt: skip
    parser.add_argument("--output", type=Path, help="the study; default: SOURCE.json")
    parser.add_argument("--static", type=Path, metavar="FILE.html",
                        help="also write a page that works without a server")  # fmt: skip
    parser.add_argument("--static-raters", type=_count, default=20,
                        help="sequences in that page; default: 20")  # fmt: skip
    _design(parser)


def _design(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--design", choices=("default", "paper"), default="default",
                        help="paper: no control arms, checks or forecasts")  # fmt: skip
    parser.add_argument("--items", type=_count, help="predictions; default: 48, for saved all")
    parser.add_argument("--parts", type=_count, default=3, help="parts that each arm highlights")
    parser.add_argument("--arms-per-item", type=_count,
                        help="in how many arms a rater rates an item; default: 3 (paper: all)")  # fmt: skip
    parser.add_argument("--repeats", type=_from_zero, help="ratings shown twice; default: 6")
    parser.add_argument("--attention", type=_from_zero, help="attention checks; default: 3")
    parser.add_argument("--seed", type=_from_zero, default=0, help="for items, arms and orders")


def _serving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="a study file; or mnist or nodes, which are made if needed")
    parser.add_argument("--answers", type=Path, help="the database; default: beside the study")
    parser.add_argument("--host", default="127.0.0.1",
                        help="address to listen on; anything but the default is open to others")  # fmt: skip
    parser.add_argument("--port", type=_from_zero, default=8000)
    parser.add_argument("--public-url", help="the address that raters use, behind a proxy")
    parser.add_argument("--open", action="store_true", help="open the browser")
    parser.add_argument("--max-raters", type=_count, help="the cap on participants")
    parser.add_argument("--pilot", action="store_true", help="mark answers as those of a pilot")
    parser.add_argument("--completion-code", help="code shown at the end, as Prolific uses it")
    parser.add_argument("--completion-url",
                        help="link shown at the end; default: Prolific's, if there is a code")  # fmt: skip


def _simulating(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", type=Path)
    parser.add_argument("--answers", type=Path, help="default: beside the study, .simulated.sqlite")
    parser.add_argument("--raters", type=_count, default=10)
    parser.add_argument("--seed", type=_from_zero, default=0)


def _analysing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", type=Path)
    parser.add_argument("--answers", type=Path, help="the database; default: beside the study")
    parser.add_argument("--output", type=Path, help="folder; default: beside the study")
    parser.add_argument("--pilot", action="store_true", help="the answers of the pilot instead")


def _importing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", type=Path)
    parser.add_argument("files", type=Path, nargs="+", help="answers that static pages handed back")
    parser.add_argument("--answers", type=Path, help="the database; default: beside the study")


def _powering(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--effect", type=_number, required=True, help="difference of two arms, in points")
    parser.add_argument("--raters", type=_count, nargs="+", default=[5, 10, 15, 20, 30, 50])
    parser.add_argument("--items", type=_count, nargs="+", default=[12, 24, 48, 96])
    parser.add_argument("--share", type=_number, default=0.75,
                        help="share of the arms in which a rater rates an item; default: 3 of 4")  # fmt: skip
    parser.add_argument("--comparisons", type=_count, default=3, help="planned contrasts")
    parser.add_argument("--power", type=_number, default=0.8, help="wanted for the last line")
    parser.add_argument("--sd-rater-arm", type=_number, default=0.8)
    parser.add_argument("--sd-item-arm", type=_number, default=1.0)
    parser.add_argument("--sd-error", type=_number, default=2.0)


def _count(text: str) -> int:
    return _whole(text, 1)


def _from_zero(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10) or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a whole number from {least}")
    return int(text)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < 1e6:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a number")
    return value


# The commands


def _make(options: argparse.Namespace) -> None:
    from .study_file import save_study

    output = options.output or Path(f"{options.source}.json")
    study = _made(options.source, options)
    save_study(study, output)
    from .design import plan

    print(f"{output}: {len(study.items)} items, {len(study.arms)} arms, "
          f"{len(plan(study, 0))} questions for each rater")  # fmt: skip
    if options.static is not None:
        from .files import write_text
        from .web.static_page import static_page

        write_text(options.static, static_page(study, options.static_raters))
        print(f"{options.static}: send {options.static.name}#rater=1 to the first rater, and so on")


def _made(source: str, options: argparse.Namespace) -> Study:
    with warnings.catch_warnings():
        # One line for each digit that is hard to change says nothing about the study.
        warnings.simplefilter("ignore", PGMExplainerWarning)
        if source == "saved":
            from .sources.saved import saved_study

            return saved_study(options.arm, options)
        if getattr(options, "arm", None):
            raise InputError(f"--arm is for a study of saved explanations, not for {source}")
        options.items = options.items or 48
        if source == "mnist":
            from .sources.digits import digits_study

            return digits_study(options, _progress)
        from .sources.neighbourhoods import nodes_study

        return nodes_study(options, _progress)


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _serve(options: argparse.Namespace) -> None:
    import logging

    import uvicorn

    from .web.server import Options, make_app

    study, path = _study_to_serve(options.study)
    store = _store(study, path, options.answers)
    local = options.host in _LOCAL
    public = options.public_url
    if public is not None and urlsplit(public).scheme not in ("http", "https"):
        raise InputError(f"--public-url should begin with https://, not {public!r:.60}")
    hosts = {*_LOCAL, "[::1]", options.host.lower()}
    if public is not None:
        hosts.add((urlsplit(public).hostname or "").lower())
    code, url = options.completion_code, options.completion_url
    app = make_app(
        study,
        store,
        Options(
            pilot=options.pilot,
            most_raters=options.max_raters,
            completion_code=code,
            completion_url=url or (f"{_PROLIFIC}{code}" if code else None),
            hosts=frozenset(hosts) if local or public else None,
        ),
    )
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    address = public or f"http://{'127.0.0.1' if local else options.host}:{options.port}/"
    print(f"The study is at {address}\nAnswers are stored in {store.path}. Stop with Ctrl+C.")
    if not local:
        print(f"Listening on {options.host}: other machines can reach this server. Use a proxy "
              f"with TLS in front of it.")  # fmt: skip
    sys.stdout.flush()
    if options.open:
        _open_soon(address)
    uvicorn.run(app, host=options.host, port=options.port, log_level="warning", access_log=False,
                server_header=False, ws="none", proxy_headers=False, log_config=None)  # fmt: skip


def _open_soon(address: str) -> None:
    import threading
    import webbrowser

    threading.Timer(1.0, webbrowser.open, [address]).start()


def _study_to_serve(name: str) -> tuple[Study, Path]:
    """Return a study from its file; one of the built-in studies is made if there is no file."""
    from .study_file import load_study, save_study

    path = Path(name)
    if name in BUILT_IN and not path.exists():
        path = Path(f"{name}.json")
        if not path.exists():
            print(f"Making {path}, which takes about a minute...", flush=True)
            parser = argparse.ArgumentParser()
            _design(parser)
            save_study(_made(name, parser.parse_args([])), path)
    return load_study(path), path


def _store(study: Study, path: Path, answers: Path | None, simulated: bool = False) -> Store:
    from .store import Store

    suffix = ".simulated.sqlite" if simulated else ".sqlite"
    return Store(answers or path.with_suffix(suffix), study.code, simulated)


def _existing(options: argparse.Namespace) -> tuple[Study, Store]:
    """Return a study and its answers, which must exist; they may be simulated."""
    from .store import Store
    from .study_file import load_study

    study = load_study(options.study)
    answers = options.answers or options.study.with_suffix(".sqlite")
    if not answers.is_file():
        raise InputError(f"{answers} does not exist; serve the study first, or give --answers")
    return study, Store(answers, study.code, Store.is_simulated(answers))


def _simulate(options: argparse.Namespace) -> None:
    from .simulate import LABEL, simulate
    from .study_file import load_study

    study = load_study(options.study)
    store = _store(study, options.study, options.answers, simulated=True)
    simulate(study, store, options.raters, options.seed)
    print(f"{store.path}: {options.raters} raters, {LABEL}")


def _report(options: argparse.Namespace) -> None:
    from .analysis.report import write_report

    study, store = _existing(options)
    folder = options.output or options.study.with_suffix(".report")
    write_report(study, store, folder, options.pilot)
    print(f"{folder / 'report.html'}, {folder / 'report.md'} and plots")


def _export(options: argparse.Namespace) -> None:
    from .analysis.export import export

    study, store = _existing(options)
    folder = options.output or options.study.with_suffix(".export")
    export(study, store, folder, options.pilot)
    print(f"{folder / 'answers.csv'}, answers.parquet and codebook.md")


def _import(options: argparse.Namespace) -> None:
    from .study_file import load_study
    from .web.static_page import import_answers

    study = load_study(options.study)
    store = _store(study, options.study, options.answers)
    wrong = 0
    for path in options.files:
        try:
            new = import_answers(study, store, path)
            print(f"{path}: {'imported' if new else 'was imported before'}")
        except PGMExplainerError as error:
            wrong += 1
            print(f"{path}: refused: {error}", file=sys.stderr)
    if wrong:
        raise InputError(f"{wrong} of {len(options.files)} files were refused")


def _power(options: argparse.Namespace) -> None:
    from .analysis.power import Spread, power_table, raters_needed

    spread = Spread(options.sd_rater_arm, options.sd_item_arm, options.sd_error)
    more: dict[str, Any] = {"share": options.share, "comparisons": options.comparisons}
    print(f"Power to find a difference of {options.effect:g} points:")
    for row in power_table(options.effect, options.raters, options.items, spread, **more):
        print("  ".join(cell.rjust(9) for cell in row))
    needed = [raters_needed(options.power, options.effect, items, spread, **more) for items in options.items]
    said = ", ".join(
        f"{items} items: {'no number' if count is None else count}"
        for items, count in zip(options.items, needed, strict=True)
    )
    print(f"Raters needed for a power of {options.power:g}: {said}")


_Act = Callable[[argparse.Namespace], None]
_Add = Callable[[argparse.ArgumentParser], None]
_COMMANDS: dict[str, tuple[str, _Add, _Act]] = {
    "make": ("make a study", _making, _make),
    "serve": ("show a study to raters in their browsers", _serving, _serve),
    "import": ("read answers that static pages handed back", _importing, _import),
    "power": ("say how many raters and items are needed", _powering, _power),
    "simulate": ("answer a study by simulated raters, to try it", _simulating, _simulate),
    "report": ("analyse the answers", _analysing, _report),
    "export": ("write the raw answers as CSV and Parquet", _analysing, _export),
}
