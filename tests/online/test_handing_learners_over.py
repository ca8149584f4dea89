"""Learners are saved and resumed once; frozen ones are ordinary models; copies have no state."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

from discreet import Budget, Ledger, MemoryLedger, artifact
from discreet.errors import InputError, InteractionEnded, PrivacyError, ReceiptError
from discreet.gate import resume as resume_interaction
from discreet.mechanisms import FollowTheLeader
from discreet.mechanisms.doubling_epochs import DoublingEpochs
from discreet.noise import SystemNoise
from discreet.online import Experts, LogisticRegression, resume
from discreet.report import card
from support.learners import (
    ALL,
    FRAME,
    HORIZON,
    LINEAR,
    NAMES,
    RECORDS,
    answer,
    labels,
    learn,
    make,
)

CANARY = 0.48151623421
every_learner = pytest.mark.parametrize("kind", ALL)


@pytest.fixture
def books(tmp_path):
    return Ledger.create(tmp_path / "books.db", Budget(3.0, 1e-5), unit="replace")


def begin(kind, ledger, count=10):
    y = labels(kind)
    return learn(make(kind, ledger=ledger), FRAME[:count], None if y is None else y[:count])


def go_on(model, kind, start, stop):
    y = labels(kind)
    return learn(model, FRAME[start:stop], None if y is None else y[start:stop])


@every_learner
def test_a_saved_learner_goes_on_where_it_is_resumed_once(kind, books, tmp_path):
    path, model = tmp_path / "state", begin(kind, books)
    last = answer(model)
    model.save(path)
    kept = tmp_path / "kept"
    kept.touch(mode=0o600)
    kept.write_bytes(path.read_bytes())
    with pytest.raises(InteractionEnded, match="was saved"):
        go_on(model, kind, 10, 11)
    assert answer(model) == last  # it predicts all the same
    again = resume(path, ledger=books)
    assert (type(again), again.n_seen, answer(again)) == (kind, 10, last)
    assert not path.exists()
    assert again.get_params().keys() == model.get_params().keys()
    with pytest.raises(InputError, match="other columns"):
        learn(
            again,
            FRAME[["age", "dose", "bmi"]][:5],
            [labels(kind)[0]] * 5 if kind in LINEAR else None,
        )
    with pytest.raises(ReceiptError):
        resume(kept, ledger=books)
    go_on(again, kind, 10, HORIZON)
    assert again.is_over
    assert len(books.history()) == 1  # paid for once
    again.freeze()
    with pytest.raises(InteractionEnded):
        again.save(tmp_path / "more")


def test_where_a_stream_is_handed_over_does_not_matter(books, tmp_path, monkeypatch):
    monkeypatch.setattr(
        SystemNoise, "gaussian", lambda self, count, bits: np.zeros(count, np.int64)
    )
    whole = begin(LogisticRegression, None, HORIZON)
    part = begin(LogisticRegression, books, 1)
    for start, stop in ((1, 14), (14, 16), (16, HORIZON)):
        part.save(tmp_path / "state")
        part = resume(tmp_path / "state", ledger=books)
        assert part.n_seen == start
        go_on(part, LogisticRegression, start, stop)
    assert answer(part) == answer(whole)


def test_what_cannot_be_saved_or_resumed_is_refused(books, tmp_path):
    for ledger in (None, MemoryLedger(Budget(3.0, 1e-5), "replace")):
        model = begin(LogisticRegression, ledger)
        with pytest.raises(PrivacyError, match="outlives"):
            model.save(tmp_path / "state")
        assert go_on(model, LogisticRegression, 10, 12).n_seen == 12  # it goes on
    with pytest.raises(InputError, match="nothing has been learnt"):
        make(LogisticRegression, ledger=books).save(tmp_path / "state")
    other = Ledger.create(tmp_path / "other.db", Budget(3.0, 1e-5), unit="replace")
    begin(LogisticRegression, books).save(tmp_path / "state")
    with pytest.raises(PrivacyError, match="another ledger"):
        resume(tmp_path / "state", ledger=other)
    whole = (tmp_path / "state").read_bytes()
    (tmp_path / "state").write_bytes(whole[:-8])
    with pytest.raises(InputError):
        resume(tmp_path / "state", ledger=books)
    (tmp_path / "state").write_bytes(whole)
    live = resume_interaction(tmp_path / "state", ledger=books)  # as a bare interaction
    live.save(tmp_path / "bare")
    with pytest.raises(InputError, match="no learner"):
        resume(tmp_path / "bare", ledger=books)


@every_learner
def test_a_copy_predicts_and_does_not_learn(kind, books):
    model = begin(kind, books)
    for again in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert answer(again) == answer(model)
        assert "_interaction" not in vars(again)
        if kind in LINEAR:
            assert again.predict_one(RECORDS[0]) == model.predict_one(RECORDS[0])
        for act in (
            lambda again=again: go_on(again, kind, 10, 12),
            again.freeze,
            lambda again=again: again.save("nowhere"),
        ):
            with pytest.raises(InteractionEnded, match="a copy"):
                act()
    assert go_on(model, kind, 10, 12).n_seen == 12


@every_learner
def test_no_record_is_in_anything_that_can_be_looked_at(kind, tmp_path):
    model = make(kind, rehearsal=None, horizon=10_000, batch=1000)
    record = dict.fromkeys(NAMES, CANARY)
    for _ in range(5):  # all but the first wait
        model.learn_one(record) if kind is Experts else model.learn_one(record, "yes")
    with pytest.raises(InputError) as refusal:
        learn(model, np.full((10_000, 3), CANARY), None if kind is Experts else ["yes"] * 10_000)
    joblib.dump(model, tmp_path / "model")
    looked_at = [
        repr(model), str(model), str(vars(model)), repr(model._interaction),
        "".join(traceback.format_exception(refusal.value)), model.release_.to_json(),
    ]  # fmt: skip
    stored = pickle.dumps(model) + (tmp_path / "model").read_bytes()
    assert not any(str(CANARY)[:10] in text for text in looked_at)
    assert np.float64(CANARY).tobytes() not in stored
    with pytest.raises(TypeError):
        pickle.dumps(model._interaction)


@every_learner
def test_a_frozen_learner_is_an_ordinary_model(kind, books, tmp_path):
    model = begin(kind, books)
    release = model.freeze()
    assert release is model.release_
    assert release.guarantee == model.privacy_
    with pytest.raises(InteractionEnded, match="frozen"):
        go_on(model, kind, 10, 12)
    again = artifact.load(artifact.save(model, tmp_path / "model"))
    assert type(again) is type(model)
    assert again.privacy_ == model.privacy_
    if kind in LINEAR:
        assert again.predict(FRAME).tolist() == model.predict(FRAME).tolist()
        assert again.predict_one(RECORDS[0]) == model.predict_one(RECORDS[0])
    else:
        assert again.expert_ == model.expert_
    with pytest.raises(InteractionEnded, match="a copy"):
        go_on(again, kind, 10, 12)
    shown = card(release, ledger=books)
    assert "in the order in which they arrive" in shown.to_json()


def test_a_live_learner_is_stored_as_what_it_has_last_answered(tmp_path):
    model = begin(LogisticRegression, None)
    again = artifact.load(artifact.save(model, tmp_path / "model"))
    assert again.coef_.tobytes() == model.coef_.tobytes()
    assert go_on(model, LogisticRegression, 10, 12).n_seen == 12
    with pytest.raises(InputError, match="not fitted"):
        artifact.save(make(LogisticRegression), tmp_path / "other")


class Own(LogisticRegression):
    """A class that nobody else knows."""


@pytest.mark.parametrize(
    ("kind", "odd"),
    [(Own, {}), (LogisticRegression, {"features": [("age", 1), ("bmi", 2), ("dose", 3)]})],
)
def test_a_learner_that_could_not_be_saved_says_so_before_it_is_paid_for(kind, odd, books):
    def begin_with(ledger):
        make(kind, ledger=ledger, **odd).learn_one({}, "yes")

    with pytest.raises(InputError, match=r"saved.* use a MemoryLedger"):
        begin_with(books)
    assert not books.history()
    begin_with(MemoryLedger(Budget(1.0, 1e-6), "replace"))


@pytest.mark.parametrize(
    "odd",
    [
        {"features": pd.Index(NAMES)},
        {"classes": range(2)},
        {"mechanism": DoublingEpochs(FollowTheLeader(), first=20)},
    ],
    ids=lambda odd: next(iter(odd)),
)
def test_what_lists_names_may_be_anything_and_epochs_are_saved_too(odd, books, tmp_path):
    model = make(LogisticRegression, ledger=books, **odd)
    model.learn_one(RECORDS[0], next(iter(model.classes)))
    model.save(tmp_path / "state")
    assert resume(tmp_path / "state", ledger=books).n_seen == 1


def test_of_threads_that_begin_a_stream_at_once_one_pays_and_no_record_is_lost():
    for kind in ALL:
        ledger, y = MemoryLedger(Budget(1.0, 1e-6), "replace"), labels(kind)
        model, gate = make(kind, ledger=ledger), threading.Barrier(4)

        def give(place, model=model, gate=gate, y=y):
            gate.wait()
            some = slice(place * 10, place * 10 + 10)
            learn(model, FRAME[some], None if y is None else y[some])

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(give, range(4)))
        assert (len(ledger.history()), model.n_seen) == (1, 40)


def test_a_state_that_could_not_be_removed_is_not_resumed(books, tmp_path, monkeypatch):
    begin(Experts, books).save(tmp_path / "state")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PrivacyError, match="cannot be removed from"):
        resume(tmp_path / "state", ledger=books)
    monkeypatch.undo()
    assert resume(tmp_path / "state", ledger=books).n_seen == 10


@pytest.mark.parametrize("can_be_emptied", [True, False])
def test_a_state_that_stays_where_it_was_is_empty_or_spoken_of(
    books, tmp_path, monkeypatch, can_be_emptied
):
    path = tmp_path / "state"
    begin(Experts, books).save(path)

    def refuse(*_, **__):
        raise PermissionError(1, "no")

    monkeypatch.setattr(Path, "unlink", refuse)
    if can_be_emptied:
        again = resume(path, ledger=books)
        assert path.read_bytes() == b""
    else:
        monkeypatch.setattr(os, "truncate", refuse)
        with pytest.warns(UserWarning, match="could not be removed"):
            again = resume(path, ledger=books)
    assert again.n_seen == 10
