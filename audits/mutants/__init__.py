"""Deliberately broken mechanisms: an audit that misses one of them is worth nothing.

Each says what is wrong with it and what it claims, and has a sound counterpart that the same attack
must leave alone. Run ``python -m audits.mutants`` for the table.
"""

from audits.mutants import (
    additive_models,
    aggregates,
    floats,
    following,
    gradient,
    histograms,
    kernel_features,
    kernel_models,
    lassos,
    marginals,
    mixtures,
    moments,
    objective,
    oracles,
    output,
    papers,
    ranges,
    running_sums,
    searches,
    selection,
    settled,
    sources,
    sparse_models,
    stages,
    streams,
    sums,
    supports,
    vectors,
)
from audits.mutants.base import BoundMutant, Broken, Finding, Mutant

MUTANTS: tuple[Broken, ...] = (
    *sums.MUTANTS,
    *histograms.MUTANTS,
    *following.MUTANTS,
    *marginals.MUTANTS,
    *additive_models.MUTANTS,
    *output.MUTANTS,
    *gradient.MUTANTS,
    *objective.MUTANTS,
    *papers.MUTANTS,
    *floats.MUTANTS,
    *sources.MUTANTS,
    *stages.MUTANTS,
    *settled.MUTANTS,
    *ranges.MUTANTS,
    *moments.MUTANTS,
    *selection.MUTANTS,
    *mixtures.MUTANTS,
    *vectors.MUTANTS,
    *running_sums.MUTANTS,
    *streams.MUTANTS,
    *supports.MUTANTS,
    *aggregates.MUTANTS,
    *lassos.MUTANTS,
    *searches.MUTANTS,
    *sparse_models.MUTANTS,
    *kernel_features.MUTANTS,
    *kernel_models.MUTANTS,
    *oracles.MUTANTS,
)

SURVIVORS: tuple[Mutant, ...] = (*objective.SURVIVORS, *stages.SURVIVORS)
"""What looks broken and is not: ``breaks`` has the proof."""

__all__ = ["MUTANTS", "SURVIVORS", "BoundMutant", "Broken", "Finding", "Mutant"]
