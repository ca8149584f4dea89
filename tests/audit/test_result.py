"""A result as a sentence, a table, JSON and a picture."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from discreet.audit import AuditResult, Evidence
from discreet.errors import InputError
from discreet.privacy import Gaussian

FOUND = AuditResult(
    subject="count",
    unit="add_remove",
    claimed=1.0,
    delta=0.0,
    lower_bound=0.91,
    claimed_mu=1.2,
    lower_mu=0.7,
    share=0.91,
    violated=False,
    power=0.987,
    ceiling=7.0,
    trials=100_000,
    confidence=0.999,
    seed=1,
    is_pair_checked=True,
    evidence=(
        Evidence("histogram, for the second", 500, 200, 1000, 2.5e-4),
        Evidence("distance, for the first", 40, 0, 1000, 2.5e-4),
    ),
)


def test_the_sentence_of_a_true_claim_says_what_is_certain_and_how_sure_the_audit_was():
    assert FOUND.sentence() == str(FOUND) == (
        "count: epsilon is at least 0.91, with confidence 99.9 %; 1 is claimed: not refuted. An "
        "audit of 100,000 runs on each data set catches twice the claimed loss with a chance of "
        "98.7 %."
    )  # fmt: skip


def test_the_sentence_of_a_false_claim_calls_it_violated():
    found = replace(FOUND, violated=True, lower_bound=1.4, confidence=0.999999)
    assert "1.4, with confidence 99.9999 %; 1 is claimed: the claim is violated." in str(found)


def test_the_sentence_says_so_if_the_profile_is_violated_at_another_epsilon():
    found = replace(FOUND, violated=True, claimed=4.9, delta=1e-6, claimed_mu=1.0, lower_mu=1.8)
    assert "4.9 is claimed at delta = 1e-06: the claim is violated, at another epsilon" in str(
        found
    )
    assert "Mu is at least 1.8 of 1." in str(found)


def test_the_sentence_says_what_was_taken_on_trust():
    assert "taken on trust" not in str(FOUND)
    assert str(replace(FOUND, is_pair_checked=False)).endswith("neighbours was taken on trust.")


def test_the_table_has_a_line_for_each_event_with_its_counts_and_what_they_prove():
    lines = FOUND.table().splitlines()
    assert lines[0].split() == ["event", "hits", "misses", "epsilon", "mu"]
    for line, seen in zip(lines[1:], FOUND.evidence, strict=True):
        assert line.startswith(seen.event)
        numbers = line[len("histogram, for the second") :].split()
        assert numbers == [
            str(seen.hits), str(seen.misses), f"{seen.epsilon(0.0):.3f}", f"{seen.mu:.3f}"
        ]  # fmt: skip
    assert len({len(line) for line in lines}) == 1


def test_the_table_without_events_is_its_head():
    assert replace(FOUND, evidence=()).table().split() == [
        "event",
        "hits",
        "misses",
        "epsilon",
        "mu",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"claimed": math.inf, "claimed_mu": math.inf, "ceiling": math.inf},
        {"subject": "inf", "seed": None, "delta": 1e-6, "evidence": ()},
    ],
)
def test_json_brings_back_an_equal_result(changes):
    found = replace(FOUND, **changes)
    text = found.to_json()
    assert AuditResult.from_json(text) == found
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda parts: parts.pop("share"), "JSON object with"),
        (lambda parts: parts.update(extra=1), "JSON object with"),
        (lambda parts: parts.update(format=99), "format 1"),
        (lambda parts: parts["evidence"][0].pop("hits"), "evidence must be objects"),
        (lambda parts: parts.update(evidence=3), "evidence must be objects"),
    ],
)
def test_json_of_another_kind_is_refused(spoil, complaint):
    parts = json.loads(FOUND.to_json())
    spoil(parts)
    with pytest.raises(InputError, match=complaint):
        AuditResult.from_json(json.dumps(parts))


@pytest.mark.parametrize("text", ["", "[]", "3", "{", None])
def test_what_is_no_result_is_refused(text):
    with pytest.raises(InputError, match="JSON"):
        AuditResult.from_json(text)


def test_mu_is_translated_to_an_epsilon_only_if_there_is_a_delta():
    assert FOUND.lower_bound_if_gaussian == FOUND.lower_bound
    found = replace(FOUND, delta=1e-6)
    assert found.lower_bound_if_gaussian == pytest.approx(Gaussian(0.7).epsilon(1e-6))


def test_the_picture_is_written_to_the_file(tmp_path):
    pytest.importorskip("matplotlib")
    for changes in ({}, {"delta": 1e-6, "violated": True}):
        path = tmp_path / f"{len(changes)}.png"
        replace(FOUND, **changes).plot(path)
        assert path.read_bytes().startswith(b"\x89PNG")
