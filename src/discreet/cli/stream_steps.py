"""The steps of ``discreet stream``: declare, open, learn in order, hand over or keep."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet import _checks, tables
from discreet.cli.console import note_warnings, print_note, print_result, show_status
from discreet.cli.failures import Interrupted, Unwritten
from discreet.cli.fit_steps import find_budget, keep, rescue, tell
from discreet.cli.model_folder import Learner
from discreet.cli.new_files import NewFolder
from discreet.cli.paid_score import PaidScore
from discreet.cli.progressive_score import ProgressiveScore
from discreet.cli.signals import StopRequests
from discreet.cli.stream_report import StreamReport, name_rounds, say_how_far
from discreet.errors import DiscreetError, InputError, LargeDeltaWarning
from discreet.interaction import read_note
from discreet.ledger import Ledger
from discreet.online import LinearRegression, LinearSVC, LogisticRegression
from discreet.online.learner_note import read_description
from discreet.policy.choosing_online import MECHANISMS
from discreet.privacy import ReplaceOne, ZeroOutOne
from discreet.privacy.guarantee import down_to_three_digits as down
from discreet.privacy.guarantee import in_three_digits as up
from discreet.schema import CLASSIFICATION, Schema, read
from discreet.tables import Rounds, cut_by_place

PIPE = Path("-")
"""What stands for the standard input."""

AT_ONCE = 256
"""Rounds of a block, counted from the first round of the stream, whatever records come from.

A block is guessed by the answer at its start and then learnt from; in between it is looked whether
somebody wants to stop. The first one is not scored, so that the number of rounds, which is public,
says how many are.
"""

UNITS = (ReplaceOne().name, ZeroOutOne().name)

CLASSIFIERS: dict[str, type[LogisticRegression | LinearSVC]] = {
    "logistic_regression": LogisticRegression,
    "linear_svc": LinearSVC,
}


@dataclass(frozen=True)
class StreamOptions:
    """What the command line says of a stream that begins; None for what it does not say."""

    horizon: int | None
    epsilon: float | None
    delta: float | None
    learner: str | None
    mechanism: str | None
    batch: int | None
    rehearse: int | None

    def refuse_any(self) -> None:
        """Refuse a declaration of what was declared when the stream began."""
        said = [f"--{name}" for name, value in vars(self).items() if value is not None]
        if said:
            raise InputError(
                f"{', '.join(said)} and --resume exclude one another: what was declared when the "
                "stream began goes on."
            )


def read_schema(path: Path, unit: str | None) -> Schema:
    """Return the schema, with a unit that streams have."""
    schema = read(path)
    if schema.protects_persons:
        raise InputError(
            f"{schema.source} says whose row each is, and a stream protects one record in its "
            "round, whosever it is. Leave person out, and say what a record is under protects."
        )
    if unit is not None:
        _checks.one_of(UNITS, unit=unit)
        schema = replace(schema, unit=unit)
    if schema.unit not in UNITS:
        raise InputError(
            f"a stream has numbered rounds and protects one record by the unit {UNITS[0]!r} or "
            f"{UNITS[1]!r}; {schema.source} says {schema.unit!r}. Pass --unit, and a ledger with "
            "the same."
        )
    schema.check_promise()
    return schema


def make_learner(schema: Schema, asked: StreamOptions) -> Learner:
    """Return the learner of a stream that begins."""
    if asked.horizon is None:
        raise InputError(
            "--horizon is missing: how many records will be learnt from, at most? A shorter stream "
            "costs the same."
        )
    _checks.whole(horizon=asked.horizon, at_least=1, at_most=2**40)
    options = find_budget(schema, asked.epsilon, asked.delta)
    options |= {"horizon": asked.horizon, "unit": schema.unit, "mechanism": "auto"}
    if asked.mechanism is not None:
        _checks.one_of(MECHANISMS, mechanism=asked.mechanism)
        options["mechanism"] = asked.mechanism
    if asked.batch is not None:
        _checks.whole(batch=asked.batch, at_least=1)
        options["batch"] = asked.batch
    if asked.rehearse is not None:
        _checks.whole(rehearse=asked.rehearse, at_least=0)
        options["rehearsal"] = asked.rehearse
    columns, target = schema.declared_columns(), schema.target
    if target.task == CLASSIFICATION:
        kind = asked.learner or next(iter(CLASSIFIERS))
        _checks.one_of(tuple(CLASSIFIERS), learner=kind)
        return CLASSIFIERS[kind](columns=columns, classes=list(target.classes), **options)
    if asked.learner is not None:
        raise InputError("--learner is for classes; a target of numbers has one learner.")
    return LinearRegression(columns=columns, target_range=target.range, **options)


def set_aside(
    epsilon: float | None, schema: Schema, books: Ledger | None, *, may_be_saved: bool
) -> PaidScore | None:
    """Return a private score, if budget is set aside for one; refuse what it cannot be had with."""
    if epsilon is None:
        return None
    _checks.positive_number(score_epsilon=epsilon)
    if schema.unit != ReplaceOne().name:
        raise InputError(
            f"--score-epsilon is for the unit {ReplaceOne().name!r}: where rounds may be empty, "
            "how many records were guessed is not public."
        )
    if may_be_saved:
        raise InputError(
            "--score-epsilon and --state, --pause or --resume exclude one another: guesses so far "
            "are not handed over."
        )
    if books is not None and (left := books.remaining()) < epsilon:
        raise InputError(
            f"--score-epsilon {up(epsilon)} is more than the ledger has left, {down(left)}."
        )
    return PaidScore(schema.target, epsilon, books)


def check_saved(path: Path, books: Ledger, schema: Schema) -> None:
    """Refuse a state of another schema; it can still be resumed."""
    saved = read_description(read_note(path, books)).parameters
    target = schema.target
    if target.task == CLASSIFICATION:
        labels, declared = saved.get("classes"), target.classes
    else:
        labels, declared = saved.get("target_range"), target.range or ()
    is_same = saved.get("columns") == schema.declared_columns()
    if not is_same or tuple(labels or ()) != tuple(declared) or saved.get("unit") != schema.unit:
        raise InputError(
            f"{path}: this stream was declared with other columns, classes, range or unit than "
            f"{schema.source} has. It can still be resumed with its own schema."
        )


def open_records(schema: Schema, data: Path, skip: int) -> Iterator[Rounds]:
    """Return rounds in order; whatever can be refused is refused here, while nothing is paid."""
    _checks.whole(skip=skip, at_least=0)
    if data == PIPE:
        return tables.ArrivingRows(_standard_input(), schema).rounds(skip)
    table = tables.open_table(data, schema)
    with show_status("Reading the table"):
        return tables.open_in_order(table, AT_ONCE, skip)


def _standard_input() -> Any:
    return sys.stdin.buffer


@dataclass(frozen=True, eq=False)
class StreamRun:
    """A stream on its way: what learns, from where, and where it goes."""

    model: Learner
    schema: Schema
    books: Ledger | None
    out: Path | None
    state: Path | None
    skip: int
    begun_at: int
    score: ProgressiveScore | None
    paid: PaidScore | None = None

    @property
    def position(self) -> int:
        """How many records of the data are behind."""
        return self.skip + self.model.n_seen - self.begun_at

    def learn(
        self, records: Iterator[Rounds], requests: StopRequests, purpose: str
    ) -> DiscreetError | OSError | None:
        """Learn until the end, the horizon or a signal; return why there were no more records.

        A block that is not full when somebody wants to stop is not learnt from.
        """
        report = StreamReport(self.model, self.score)
        blocks = cut_by_place(records, AT_ONCE, begun=self.model.n_seen, horizon=self.model.horizon)
        try:
            while not (self.model.is_over or requests.is_stopped):
                try:
                    with requests.waiting():
                        block = next(blocks, None)
                except (DiscreetError, OSError) as error:
                    return error
                if block is None:
                    break
                with note_warnings(LargeDeltaWarning):
                    self._take(block, report, purpose)
                report.show()
        except KeyboardInterrupt:  # while it waited
            requests.is_stopped = True
        report.show(is_last=True)
        return None

    def _take(self, block: Rounds, report: StreamReport, purpose: str) -> None:
        """Guess a block, unless it is the first, and learn from it."""
        if self.model.n_seen:
            report.predict(block)
            if self.paid is not None:
                self.paid.add(self.model, block.rows)
        for rounds, rows in block.runs():
            if rows is not None:
                self.model.partial_fit(rows.X, rows.y, purpose=purpose)
                continue
            for _ in range(rounds):
                self.model.skip(purpose=purpose)

    def end(
        self,
        folder: NewFolder | None,
        *,
        is_stopped: bool,
        failure: DiscreetError | OSError | None,
        pause: bool,
        as_json: bool,
    ) -> None:
        """Hand the learner over to a file, or end it and write its model; say which."""
        if not self.model.n_seen:
            if is_stopped:
                raise KeyboardInterrupt
            raise failure or InputError("no record came, so nothing was paid.")
        stopped = _say_why(is_stopped, failure)
        may_go_on = self.out is None or not self.model.is_over
        unsaved = ""
        if self.state is not None and (pause or stopped) and may_go_on:
            unsaved = self._save(self.state)
            if not unsaved:
                far = say_how_far(self.model)
                told = f"{stopped or 'Paused'} after {far}. {self._how(self.state)}"
                self._leave(told, is_stopped, failure, as_json)
                return
        self.model.freeze()
        if self.out is None or folder is None:
            raise Unwritten(f"{unsaved}; the model is kept {rescue(self.model, self.schema)}")
        keep(self.model, self.schema, self.books, folder, self.out)
        if stopped or unsaved:
            ended = f"The stream is ended, and its model so far is in {self.out}."
            told = ". ".join(
                filter(None, [f"{stopped or 'Ended'} after {say_how_far(self.model)}", unsaved])
            )
            self._leave(f"{told}. {ended}", is_stopped, failure or bool(unsaved), as_json)
        self._tell_model(self.out, as_json)

    def _save(self, state: Path) -> str:
        """Save the state; return why that is not possible."""
        try:
            self.model.save(state)
        except (DiscreetError, OSError) as error:
            return f"{state} cannot be written ({_words_of(error)})"
        return ""

    def _how(self, state: Path) -> str:
        return (
            f"The state is in {state}: it is SECRET, and can be resumed once. Go on with the same "
            f"schema and ledger and --resume {shlex.quote(str(state))} --skip {self.position} for "
            "the same data, --skip 0 for records that are all new."
        )

    def _leave(self, told: str, is_stopped: bool, failure: object, as_json: bool) -> None:
        """Say where everything is: an error if somebody or something stopped the stream."""
        if is_stopped:
            raise Interrupted(told)
        if failure:
            raise Unwritten(told)
        document = {"state": str(self.state), "position": self.position, **self._facts()}
        print_result(told, document, as_json=as_json)

    def _facts(self) -> dict[str, Any]:
        return {name_rounds(self.model): self.model.n_seen, "horizon": self.model.horizon}

    def _tell_model(self, out: Path, as_json: bool) -> None:
        facts = self._facts()
        if self.score is not None:
            print_note("Seeded noise and an exact score (--rehearse): NOT PRIVATE.")
            facts[f"progressive_{self.score.name.replace(' ', '_')}"] = self.score.value
        elif self.paid is not None:
            facts |= self._pay_for_score(self.paid)
        else:
            print_note(
                f"No score is printed: an exact one is not private. {self._how_to_score(out)}"
            )
        tell(self.model, self.books, out, as_json, f"Learnt from {say_how_far(self.model)}.", facts)

    def _pay_for_score(self, paid: PaidScore) -> dict[str, Any]:
        """Release the score, say it, and return it for programs; the model is kept already."""
        try:
            found = paid.release("progressive score of a stream")
        except DiscreetError as error:
            print_note(f"There is no score ({_words_of(error)}).")
            return {}
        if found is None:
            print_note("There is no score: the records that were guessed are none.")
            return {}
        print_note(
            f"Progressive {found.name} {found.value:.4g}; noise has moved it by at most "
            f"{found.noise:.2g}, but for one time in twenty."
        )
        name = f"progressive_{found.name.replace(' ', '_')}"
        return {name: found.value, "noise_of_score": found.noise}

    def _how_to_score(self, out: Path) -> str:
        if self.schema.unit == ZeroOutOne().name:
            return f"Private scores are there for the unit {ReplaceOne().name!r}."
        return (
            f"`discreet score {shlex.quote(str(out))} ROWS --ledger LEDGER` pays for a private one."
        )


def _say_why(is_stopped: bool, failure: DiscreetError | OSError | None) -> str:
    if is_stopped:
        return "interrupted"
    return f"the records cannot be read on ({_words_of(failure)}); stopped" if failure else ""


def _words_of(error: BaseException) -> str:
    """Return what may be said of an error: our own words, or those of the operating system."""
    if isinstance(error, OSError):
        return os.strerror(error.errno) if error.errno else "a file cannot be read or written"
    return str(error).rstrip(".")
