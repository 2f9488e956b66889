"""``pgm-explainer study``: make, serve, simulate and analyse human studies of explanations."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pgm_explainer import InputError, PGMExplainerError, PGMExplainerWarning

from .arguments import (
    BUILT_IN,
    add_analysing,
    add_design,
    add_importing,
    add_making,
    add_powering,
    add_serving,
    add_simulating,
)

if TYPE_CHECKING:
    from .store import Store
    from .study_file import Study

__all__ = ["SUMMARY", "configure", "run"]

SUMMARY = "run human studies of explanations"
_LOCAL = ("127.0.0.1", "localhost", "::1")
_PROLIFIC = "https://app.prolific.com/submissions/complete?cc="


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Studies in which people judge explanations: the paper's human study and others like it."
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
        sub = commands.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + "."
        )
        add(sub)
        sub.set_defaults(act=act)


def run(options: argparse.Namespace) -> None:
    """Run one of the commands below."""
    options.act(options)


# The commands


def _make(options: argparse.Namespace) -> None:
    from .study_file import save_study

    output = options.output or Path(f"{options.source}.json")
    study = _made(options.source, options)
    save_study(study, output)
    from .design import plan

    print(
        f"{output}: {len(study.items)} items, {len(study.arms)} arms, "
        f"{len(plan(study, 0))} questions for each rater"
    )
    if options.static is not None:
        from .files import write_text
        from .web.static_page import static_page

        write_text(options.static, static_page(study, options.static_raters))
        print(f"{options.static}: send {options.static.name}#rater=1 to the first rater, and so on")


def _made(source: str, options: argparse.Namespace) -> Study:
    with warnings.catch_warnings():
        # Warnings about single explanations are not about the study.
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
        print(
            f"Listening on {options.host}: other machines can reach this server. Use a proxy "
            f"with TLS in front of it."
        )
    sys.stdout.flush()
    if options.open:
        _open_soon(address)
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        proxy_headers=False,
        log_config=None,
    )


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
            add_design(parser)
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
        except PGMExplainerError as error:  # noqa: PERF203
            wrong += 1
            print(f"{path}: refused: {error}", file=sys.stderr)
        else:
            print(f"{path}: {'imported' if new else 'was imported before'}")
    if wrong:
        raise InputError(f"{wrong} of {len(options.files)} files were refused")


def _power(options: argparse.Namespace) -> None:
    from .analysis.power import Spread, power_table, raters_needed

    spread = Spread(options.sd_rater_arm, options.sd_item_arm, options.sd_error)
    more: dict[str, Any] = {"share": options.share, "comparisons": options.comparisons}
    print(f"Power to find a difference of {options.effect:g} points:")
    for row in power_table(options.effect, options.raters, options.items, spread, **more):
        print("  ".join(cell.rjust(9) for cell in row))
    needed = [
        raters_needed(options.power, options.effect, items, spread, **more)
        for items in options.items
    ]
    said = ", ".join(
        f"{items} items: {'no number' if count is None else count}"
        for items, count in zip(options.items, needed, strict=True)
    )
    print(f"Raters needed for a power of {options.power:g}: {said}")


_Act = Callable[[argparse.Namespace], None]
_Add = Callable[[argparse.ArgumentParser], None]
_COMMANDS: dict[str, tuple[str, _Add, _Act]] = {
    "make": ("make a study", add_making, _make),
    "serve": ("show a study to raters in their browsers", add_serving, _serve),
    "import": ("read answers from static pages", add_importing, _import),
    "power": ("compute how many raters and items are needed", add_powering, _power),
    "simulate": ("answer a study with simulated raters, for testing", add_simulating, _simulate),
    "report": ("analyse the answers", add_analysing, _report),
    "export": ("write the raw answers as CSV and Parquet", add_analysing, _export),
}
