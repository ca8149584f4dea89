"""What is left of the rows of each person, and broken ways to bound it that a law has to refuse."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from discreet.data import Bounds
from discreet.geometry import Box
from discreet.noise import RehearsalNoise
from support.opened import open_rows

RANGE = 8.0


def bounds_of(person, max_weight=None, width=1, max_rows=2**20):
    box = Box([-RANGE] * width, [RANGE] * width)
    return Bounds(box, width, max_weight=max_weight, person=person, max_rows=max_rows)


def left_in(opened):
    """Return all rows and weights of opened rows, in order."""
    rows, weights = [np.empty((0, 1))], [np.empty(0)]
    for make in opened._prepared.blocks(4):
        block = make()
        rows.append(block.rows())
        weights.append(np.ones(block.size) if block.weights is None else block.weights)
    return np.concatenate([r for r in rows if r.shape[1] or len(r)]), np.concatenate(weights)


def by_person(rows, weights, owner_of):
    """Return the multiset of rows and weights of each person, whose rows say whose they are."""
    found = defaultdict(Counter)
    for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
        found[owner_of(row)][*row, weight] += 1
    return dict(found)


def keep_in_memory(table, person, seed=1):
    """Bound rows (id, value) in memory; values say whose they are in their fraction."""
    ids, values = [one for one, _ in table], np.array([[v] for _, v in table]).reshape(-1, 1)
    opened = open_rows(
        values, bounds=bounds_of(person), unit="add_remove_person", persons=ids,
        noise=RehearsalNoise(seed),
    )  # fmt: skip
    return left_in(opened)


# Broken on purpose: each is refused by the law, whatever the key. ---------------------------------


def shuffle_with_public_seed(table, person, seed=1):
    """M1: the first k of a public shuffle."""
    order = np.random.default_rng(seed).permutation(len(table))
    return _first_of_each([table[place] for place in order], person.rows)


def order_by_row_number(table, person, seed=1):
    """M2: the k least hashes of the number of the row."""
    noise = np.random.default_rng(seed).random(4096)
    order = np.argsort(noise[: len(table)], kind="stable")
    return _first_of_each([table[place] for place in order], person.rows)


def cap_in_partitions(table, person, seed=1):
    """M3: so many in each part of the table."""
    parts = [
        _first_of_each(table[start : start + 3], person.rows) for start in range(0, len(table), 3)
    ]
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([w for _, w in parts])


def share_of_those_that_count(table, person, seed=1):
    """M4: one over the number of rows, but never less than one over k, on all rows."""
    counts = Counter(one for one, _ in table)
    weights = [1 / min(counts[one], 3) for one, _ in table]
    return np.array([[value] for _, value in table]), np.array(weights)


def merge_ids(table, person, seed=1):
    """M9: ids that are the same in their last bit are one person's."""
    return keep_in_memory([(one % 2, value) for one, value in table], person, seed)


def keep_all_at_border(table, person, seed=1):
    """M13: all rows whose hash is not above the k-th."""
    held = defaultdict(list)
    for one, value in table:
        held[one].append(value)
    kept = [
        value
        for values in held.values()
        for value in values
        if value <= sorted(values)[: person.rows][-1]
    ]
    return np.array(kept).reshape(-1, 1), np.ones(len(kept))


def _first_of_each(table, rows):
    seen, kept = Counter(), []
    for one, value in table:
        seen[one] += 1
        if seen[one] <= rows:
            kept.append(value)
    return np.array(kept).reshape(-1, 1), np.ones(len(kept))
