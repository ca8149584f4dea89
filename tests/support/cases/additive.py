"""One release, noise added to one total: sensitivities, true profiles and scores follow from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.mechanisms.minimising.linear_term import LaplaceTerm, RadialTerm
from discreet.mechanisms.output_perturbation import RadialOutputPlan
from discreet.privacy import Gaussian, Laplace
from support.cases.base import Case, l1, l2
from support.shifted_radial import ShiftedRadial
from support.silent import SilentNoise


@dataclass(frozen=True)
class AdditiveCase(Case):
    """A total with noise."""

    has_densities: ClassVar[bool] = False
    """Whether a release of pure noise is scored by the ratio of its densities."""

    def silent_total(self, plan, data, **options):
        """What the noise of the plan is added to, in the units of the data."""
        opened = data.open(self, **options)
        return np.atleast_1d(np.float64(plan.run(opened, SilentNoise())))

    def watch(self, plan):
        """Return what makes many runs of the plan, each of which answers with the noisy total."""
        return plan.run_many

    def noise_norm(self, plan):
        """The norm that the noise is made for: its density falls with it."""
        return self.distance

    def noise_scale(self, plan):
        """The scale of the noise, in the units of the total."""
        return plan.grid.scale

    def shift(self, plan, apart):
        """How far apart two totals are, in units of the noise that hides them."""
        return self.noise_norm(plan)(apart) / self.noise_scale(plan)

    def true_profile(self, plan, apart):
        """The profile of the noise alone, moved by what separates two totals.

        Laplace noise is taken at its worst: as if the totals differed along one axis.
        """
        shift = self.shift(plan, apart)
        if math.isfinite(plan.guarantee.profile.ideal.pure_epsilon):
            return Laplace(shift)
        return Gaussian(shift)


@dataclass(frozen=True)
class TotalCase(AdditiveCase):
    """A sum or a mean of rows."""

    def silent_total(self, plan, data, **options):
        units = plan.totals.units(data.open(self, **options), plan.grid)
        return plan.grid.step * units.astype(np.float64)

    def watch(self, plan):
        class Watched(type(plan.totals)):
            def answer(self, total, rows):
                return total

        totals = Watched(**vars(plan.totals))
        return replace(plan, totals=totals).run_many


@dataclass(frozen=True)
class MinimiserCase(AdditiveCase):
    """Coefficients: minimisers agree to twice their certified radius and a step."""

    has_densities = True

    def solver_error(self, plan, data):
        grid = plan.grid if hasattr(plan, "grid") else plan.mask.grid
        return 2 * plan.minimiser.radius + grid.step

    def true_profile(self, plan, apart):
        if isinstance(getattr(plan, "term", None), RadialTerm):
            return ShiftedRadial(self.shift(plan, apart), apart.size)
        return super().true_profile(plan, apart)


@dataclass(frozen=True)
class OutputNoiseCase(MinimiserCase):
    """Noise on the coefficients."""

    def distance(self, apart):
        return (
            l2(apart)
            if getattr(self.mechanism, "law", None) == "radial"
            else super().distance(apart)
        )

    def noise_scale(self, plan):
        return plan.scale if isinstance(plan, RadialOutputPlan) else plan.grid.scale


@dataclass(frozen=True)
class ObjectiveNoiseCase(MinimiserCase):
    """A random linear term in the objective: where losses are straight, the law of the release."""

    def distance(self, apart):
        return l2(apart)

    def noise_norm(self, plan):
        return l1 if isinstance(plan.term, LaplaceTerm) else l2

    def shift(self, plan, apart):
        return self.noise_norm(plan)(apart) * self.question.ridge / plan.scale


KINDS = {
    "gaussian_sum": TotalCase,
    "laplace_sum": TotalCase,
    "private_count": AdditiveCase,
    "output_perturbation": OutputNoiseCase,
    "projected_kernel": OutputNoiseCase,
    "objective_perturbation": ObjectiveNoiseCase,
    "vector_perturbation": ObjectiveNoiseCase,
}
