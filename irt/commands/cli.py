"""The command line of the measurement package: read the words, call the library, print."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import NoReturn

from irt.adaptive import Rules
from irt.commands import inquiry, production, review
from irt.commands.arguments import parser
from irt.commands.said import Said
from irt.fitting.estimation_outcome import Progress
from irt.model import RATINGS

Step = Callable[[str], AbstractContextManager[Progress]]
"""Opens a step by its name; what it yields is told how much is done."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 done, 2 bad input (one line on standard error); interrupted, the process ends with 130."""
    try:
        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        end_stopped("irt")
    except (ValueError, OSError) as error:
        print(f"irt: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def run(arguments: Sequence[str], program: str = "python -m irt", step: Step | None = None) -> int:
    """Run one command and print what it says; bad input is raised as ValueError or OSError."""
    options = parser(program).parse_args(arguments)
    said = ACTIONS[options.command](options, _silent if options.quiet else step or _on_terminal)
    for kind, sentences in (("warning", said.warnings), ("note", said.notes)):
        for sentence in sentences:
            print(f"{kind}: {sentence}", file=sys.stderr)
    _show(json.dumps(said.record, indent=2, ensure_ascii=False) if options.json else said.lines)
    return 0


def end_stopped(program: str) -> NoReturn:
    """End an interrupted process at once, in one line: an orderly end would wait for the threads of a sampler."""
    print(f"{program}: stopped", file=sys.stderr, flush=True)
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(130)


def _fit(given: Namespace, step: Step) -> Said:
    columns = None if given.facets is None else [*given.facets, *given.covariates]
    graded = given.graded or given.top is not None or given.model == RATINGS
    data = production.Table(given.responses, columns, graded, given.top).read()
    how = production.Estimation(
        given.model or (RATINGS if graded else "2pl"),
        given.method,
        given.backend,
        given.interactions,
        given.covariates,
        given.options,
        given.interval,
        given.seed,
        given.facets,
        given.priors,
    )
    with _once_begun(step, "fit") as progress:
        return production.fitted(data, how, given.out, progress)


def _prune(given: Namespace, step: Step) -> Said:
    how = production.Shortening(
        keep=given.keep,
        quantile=given.quantile,
        holdout=given.holdout,
        criterion=given.criterion,
        at=given.at,
        groups=given.groups,
        stop=given.stop,
        model=given.model,
        method=given.method,
        options=given.options,
        interval=given.interval,
        seed=given.seed,
    )
    data = production.Table(given.responses, given.facets).read()
    with _once_begun(step, "prune") as progress:
        return production.pruned(data, how, given.out, progress)


def _information(given: Namespace, _step: Step) -> Said:
    return review.informed(given.fit, given.low, given.high, given.points, given.groups)


def _check(given: Namespace, step: Step) -> Said:
    with _once_begun(step, "check") as progress:
        return review.checked(given.fit, given.groups, given.options, given.key, given.seed, given.out, progress)


def _dif(given: Namespace, _step: Step) -> Said:
    return review.differing(given.fit, given.facet, given.responses, given.out)


def _score(given: Namespace, _step: Step) -> Said:
    return inquiry.scores(given.fit, given.responses, given.method, propagate=not given.known, out=given.out)


def _adaptive(given: Namespace, _step: Step) -> Said:
    rules = Rules(se=given.se, longest=given.longest, choice=given.choice, seed=given.seed)
    if given.live and given.responses is not None:
        raise ValueError("--live reads its answers from standard input; --responses was given too")
    if given.state is not None and not given.live:
        raise ValueError("--state keeps the answers of a live exam; --live was wanted with it")
    if given.live:
        return inquiry.live(given.fit, given.pipeline, rules, given.state, inquiry.asked_on_terminal)
    return inquiry.adaptive(given.fit, given.pipeline, given.responses, rules)


def _link(given: Namespace, _step: Step) -> Said:
    return inquiry.linked(given.fit, given.fit_b, given.method, given.symmetric, given.out)


def _compare(given: Namespace, _step: Step) -> Said:
    return inquiry.compared(given.fit, given.a, given.b, given.facet)


def _power(given: Namespace, _step: Step) -> Said:
    test = {"wanted": given.power, "level": given.level, "scale": given.scale, "design": given.design}
    return inquiry.planned(given.fit, given.gap, given.questions, given.at, **test)


ACTIONS: dict[str, Callable[[Namespace, Step], Said]] = {
    "fit": _fit,
    "prune": _prune,
    "information": _information,
    "check": _check,
    "dif": _dif,
    "score": _score,
    "adaptive": _adaptive,
    "link": _link,
    "compare": _compare,
    "power": _power,
}


def _show(text: str) -> None:
    """Print; a reader such as `head` may leave before the end."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _once_begun(step: Step, name: str) -> Iterator[Progress]:
    """The step, opened when the work is first heard of: bad input is refused before anything is announced."""
    with ExitStack() as stack:
        shown: list[Progress] = []

        def tell(done: int, total: int) -> None:
            if not shown:
                shown.append(stack.enter_context(step(name)))
            if done:
                shown[0](done, total)

        yield tell


@contextmanager
def _on_terminal(name: str) -> Iterator[Progress]:
    """A counter that stays on one line of a terminal; elsewhere only the step's name."""
    moving = sys.stderr.isatty()
    print(f"{name} ...", end="" if moving else "\n", file=sys.stderr, flush=True)

    def show(done: int, total: int) -> None:
        if moving:
            print(f"\r{name} {done}/{total} ", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if moving:
            print(file=sys.stderr)


@contextmanager
def _silent(_name: str) -> Iterator[Progress]:
    yield lambda _done, _total: None
