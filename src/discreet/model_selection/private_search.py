"""What searches over parameters do alike: one release chooses a model and fits it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet.data.given_column import GivenColumn
from discreet.errors import CalibrationError, DiscreetError, InputError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.features import FeatureMap
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.targets import LabelTarget
from discreet.mechanisms import Mechanism, RepeatAndSelect, TrainAndChoose
from discreet.mechanisms.repeat_and_select import SIZES
from discreet.mechanisms.secret_parts import PartSizes
from discreet.mechanisms.train_and_choose import read_choice
from discreet.mechanisms.trial_budget import share_of_several, share_of_trial
from discreet.model_selection.candidates import (
    Setting,
    check_estimator,
    describe,
    list_settings,
    make_model,
)
from discreet.model_selection.side_by_side import SideBySide
from discreet.policy.search_method import SearchFacts, choose_method
from discreet.policy.task import Asked, Shape
from discreet.privacy import Budget, TrialLaw
from discreet.questions import Bounds, Labels, ModelCandidate, ModelChoice
from discreet.record import Fact, Origin

MOST_LISTED = 30
"""So many candidates are listed in a release; of more, the first."""


@dataclass(frozen=True)
class Contestant:
    """A candidate model, what is asked for it, and who answers."""

    model: PrivateEstimator
    asked: Asked
    fit: Fit


@dataclass(frozen=True)
class AskedSearch(Asked):
    """What is asked of the rows for a whole search; of each candidate, in the end."""

    contestants: tuple[Contestant, ...] = ()


def _has(name: str) -> Callable[[Any], bool]:
    """Say whether the models of a search can do something."""

    def check(search: Any) -> bool:
        model = getattr(search, "best_estimator_", None) or search.estimator
        return hasattr(model, name)

    return check


@with_fields
class PrivateSearch(PrivateEstimator):
    """A choice among models, and the fit of the one that is chosen, as one release."""

    must_declare: ClassVar[Declarations] = (("estimator",),)

    learns = frozenset(["candidates_", "best_index_", "best_params_", "best_estimator_", "method_"])

    epsilon: float = 1.0
    delta: float = 1e-9
    estimator: Any = field(default=None, kw_only=False)
    method: str = "auto"
    refit: bool = True
    trials: float | None = None
    shape: float | None = 1.0
    pad: bool = False
    expected_rows: int | None = None

    candidates_: list[Setting] = field(init=False)
    best_index_: int = field(init=False)
    best_params_: Setting | None = field(init=False)
    best_estimator_: Any = field(init=False)
    method_: str = field(init=False)

    @abstractmethod
    def _settings(self) -> Iterable[Mapping[str, Any]]:
        """Return the settings that are chosen among."""

    def _check(self) -> None:
        check_estimator(self.estimator)
        _checks.one_of(("auto", "split", "repeat", "compose"), method=self.method)
        _checks.instance(bool, refit=self.refit, pad=self.pad)
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)
        self.candidates_ = list_settings(self._settings())
        self._law()
        for place, setting in enumerate(self.candidates_):
            try:
                self._model(setting, Budget(self.epsilon, self.delta), 1.0)
            except DiscreetError as error:
                raise type(error)(f"candidate {place} ({describe(setting)}): {error}") from None

    def _law(self) -> TrialLaw:
        """Return the law of the number of trials: on average one for each candidate."""
        mean = max(2.0, float(len(self.candidates_))) if self.trials is None else self.trials
        return TrialLaw.with_mean(mean, self.shape)

    def _model(self, setting: Setting, budget: Budget, share: float) -> PrivateEstimator:
        """Return a candidate as it is fitted: the promise is that of the search."""
        model = make_model(self.estimator, setting)
        shared = {
            "epsilon": budget.epsilon, "delta": budget.delta, "unit": self.unit,
            "max_rows": self.max_rows, "verbose": 0,
        }  # fmt: skip
        hint = getattr(model, "expected_rows", None) or self.expected_rows
        if hasattr(model, "expected_rows") and hint is not None:
            shared["expected_rows"] = max(1, math.ceil(hint * share))
        model.set_params(**shared)
        return model

    def _models(self, budget: Budget, share: float = 1.0) -> list[PrivateEstimator]:
        return [self._model(setting, budget, share) for setting in self.candidates_]

    def feature_map(self) -> SideBySide:
        models = self._models(Budget(self.epsilon, self.delta))
        return SideBySide(tuple(model.checked_map() for model in models))

    def fitted_map(self) -> FeatureMap:
        found: FeatureMap = self._best().fitted_map()
        return found

    def _target(self, y: GivenColumn | None) -> LabelTarget:
        first, *others = self._models(Budget(self.epsilon, self.delta))
        target = first._target(y)
        if any(other._target(y).labels != target.labels for other in others):
            raise InputError(
                "all candidates must have the same labels, or their errors cannot be compared: "
                "declare the same classes, or target_range, and fit_intercept."
            )
        return target

    def _ask(self, fit: Fit) -> AskedSearch:
        features = cast(SideBySide, fit.features)
        widths = [each.width_of(self.n_features_in_) for each in features.maps]
        facts = SearchFacts(
            len(widths), max(widths) + 1, self._expect_rows(fit.shape), fit.budget, fit.unit,
            self._law(), self.refit,
        )  # fmt: skip
        method, reason = choose_method(self.method, facts)
        self.method_ = method
        refusal: DiscreetError | None = None
        for own in self._budgets(method, fit.budget, facts):
            try:
                asked = self._ask_for(replace(fit, budget=own), facts, widths)
                if method != "split":  # whether it can be planned: public arithmetic
                    asked = _settle(
                        asked, asked.mechanism.plan(asked.question, fit.budget, fit.unit)
                    )
            except CalibrationError as error:
                refusal = refusal or error
            else:
                return replace(asked, reasons=tuple(filter(None, [reason])))
        raise refusal or InputError("no candidate can be planned.")

    def _budgets(self, method: str, budget: Budget, facts: SearchFacts) -> Iterable[Budget]:
        """Yield what one fit may spend, roughly, for questions to be stated with.

        A penalty that follows the budget must do for what is settled in the end, which may be less.
        """
        if method == "split" or not budget.is_private:
            return [budget]
        if method == "repeat":
            guess, least = share_of_trial(budget, facts.law), 2 + (facts.law.shape or 0.0)
        else:
            guess, least = share_of_several(budget, facts.candidates), facts.candidates
        if budget.delta == 0:
            return [guess]
        floor = min(0.5 * guess.epsilon, budget.epsilon / least)
        return [
            replace(guess, epsilon=e) for e in (0.97 * guess.epsilon, 0.75 * guess.epsilon, floor)
        ]

    def _ask_for(self, fit: Fit, facts: SearchFacts, widths: list[int]) -> AskedSearch:
        """State the question of a search whose fits may spend so much each."""
        method, features = self.method_, cast(SideBySide, fit.features)
        refits = method == "split" and self.refit
        sizes = self._sizes(facts.candidates)
        fitted = final = self._contest(fit, widths, sizes, 0)
        if refits:
            final = self._contest(replace(fit, budget=facts.budget), widths, sizes, -1)
        candidates = tuple(
            ModelCandidate(one.asked.question, start, last.asked.question)
            for one, last, start in zip(
                fitted, final, features.starts(self.n_features_in_), strict=True
            )
        )
        labels = candidates[0].question.bounds.labels
        question = ModelChoice(_wide_bounds(fit, labels), candidates, fit.need_target().assumed)
        return AskedSearch(
            question,
            self._mechanism(method, fitted, final if refits else ()),
            facts=(*_join_facts(fitted), self._list_candidates()),
            contestants=final,
        )

    def _expect_rows(self, shape: Shape) -> int:
        hint = self.expected_rows or getattr(self.estimator, "expected_rows", None)
        return shape.max_rows if hint is None else min(int(hint), shape.max_rows)

    def _sizes(self, candidates: int) -> PartSizes:
        """Return how large the parts of the rows are."""
        if self.method_ == "repeat":
            return SIZES
        is_shared = self.method_ == "compose"
        return TrainAndChoose((), is_shared, self.refit and not is_shared).sizes(candidates)

    def _contest(
        self, fit: Fit, widths: list[int], sizes: PartSizes, part: int
    ) -> tuple[Contestant, ...]:
        """Ask for every candidate what is asked of a part of the rows."""
        maps, most = cast(SideBySide, fit.features).maps, fit.shape.max_rows
        if fit.unit.rows_are_public:
            most = sizes.largest(part, most)
        models = self._models(fit.budget, sizes.share(part))
        contestants = []
        for model, features, width in zip(models, maps, widths, strict=True):
            shape = Shape(width, most, fit.shape.labels)
            self._name_columns(model)
            own = replace(fit, features=features, shape=shape)
            contestants.append(Contestant(model, model._ask(own), own))
        return tuple(contestants)

    def _name_columns(self, model: Any) -> None:
        """Tell a candidate which columns the search has seen."""
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_

    def _mechanism(
        self, method: str, fitted: tuple[Contestant, ...], final: tuple[Contestant, ...]
    ) -> Mechanism:
        learners = tuple(one.asked.mechanism for one in fitted)
        if method == "repeat":
            return RepeatAndSelect(learners, self._law(), self.pad)
        finals = tuple(one.asked.mechanism for one in final)
        return TrainAndChoose(learners, method == "compose", bool(finals), finals)

    def _list_candidates(self) -> Fact:
        count = len(self.candidates_)
        listed = "; ".join(describe(setting) for setting in self.candidates_[:MOST_LISTED])
        more = f"; and {count - MOST_LISTED} more" if count > MOST_LISTED else ""
        words = f"one model chosen among {count}: {listed}{more}. The whole search is charged once"
        return Fact("candidates", words, Origin.DECLARED)

    def _keep(self, asked: Asked, fit: Fit) -> None:
        self.best_index_, value = read_choice(self.release_.value)
        self.best_params_ = self.best_estimator_ = None
        if value is None or not isinstance(asked, AskedSearch):
            return
        chosen = asked.contestants[self.best_index_]
        model: Any = chosen.model
        model.release_ = replace(self.release_, value=value)
        model.privacy_ = self.privacy_
        model._keep(chosen.asked, chosen.fit)
        self.best_params_, self.best_estimator_ = self.candidates_[self.best_index_], model

    def _best(self) -> Any:
        check_is_fitted(self, "release_")
        if self.best_estimator_ is None:
            raise InputError(
                "this search has made no trial, as a Poisson number of them may be zero; it costs "
                "the same. Search with a shape from 0 to 1."
            )
        return self.best_estimator_

    @property
    def classes_(self) -> Any:
        """The classes of the chosen model."""
        return self._best().classes_

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Return the predictions of the chosen model."""
        return self._best().predict(X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the chosen model."""
        return self._best().predict_proba(X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities of the chosen model."""
        return self._best().predict_log_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the margins of the chosen model."""
        return self._best().decision_function(X)

    def score(self, X: Any, y: Any) -> float:
        """Return the exact score of the chosen model on some rows.

        On private rows it is not private: use :func:`discreet.metrics.private_score` for those.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        y
            Their labels.
        """
        return float(self._best().score(X, y))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.estimator is not None:
            own = get_tags(self.estimator)
            tags.estimator_type = own.estimator_type
            tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        return tags


def _settle(asked: AskedSearch, plan: Any) -> AskedSearch:
    """Return what is asked with the plan of each candidate, by which its release is read."""
    contestants = tuple(
        replace(one, asked=replace(one.asked, plan=model.final))
        for one, model in zip(asked.contestants, plan.models, strict=True)
    )
    return replace(asked, contestants=contestants)


def _wide_bounds(fit: Fit, labels: Labels | None) -> Bounds:
    return Bounds(fit.features.region, fit.shape.n_features, labels=labels,
                  max_rows=fit.shape.max_rows)  # fmt: skip


def _join_facts(contestants: tuple[Contestant, ...]) -> tuple[Fact, ...]:
    """Return what is declared for all candidates; where they differ, what each says."""
    said: dict[str, dict[str, Fact]] = {}
    for one in contestants:
        for fact in one.asked.facts:
            said.setdefault(fact.what, {})[fact.words] = fact
    return tuple(
        replace(next(iter(facts.values())), words=", or ".join(facts)) for facts in said.values()
    )
