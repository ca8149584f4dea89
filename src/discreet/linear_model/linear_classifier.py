"""The best private linear classifier, for people who just want one."""

from __future__ import annotations

from discreet.estimators.classifier import MarginClassifier
from discreet.estimators.fields import with_fields
from discreet.estimators.linear import RANGES


@with_fields
class LinearClassifier(MarginClassifier):
    r"""A linear classifier with every choice made for accuracy under differential privacy.

    Columns are scaled to [-1, 1] by their declared ranges and levels; a small part of the budget
    pays for their means and spreads, by which they are standardised; the rest pays for a logistic
    loss that asks for a margin, whose slope is near its bound where noise keeps the margins. The
    margin, the regularisation strength and the norm that rows are clipped to depend on how much
    noise there is for the number of rows and columns, which the noisy sums tell (``settings_``). If
    ``delta`` is zero the noise is made for the l1 norm of rows, which is small where most columns
    are categories; margin and penalty are fixed then.

    Three or more classes are learnt at once, by the softmax loss that asks for the same margin: one
    record moves its gradient by no more than the root of two, whatever the number of classes, where
    problems of one class each have to share the budget. So it is if ``delta > 0``, there is no
    ``domain``, and classes times columns, the intercept one of them, are at most 100,000. Up to 512
    coefficients columns are standardised and every direction has steps of its own, 300 of them;
    more are learnt in 60 steps with momentum, standardised up to 512 columns, or 2047 if they are
    declared, and as they are beyond, so that sparse rows stay sparse. Otherwise classes are learnt
    one-vs-rest, which ``mechanism="private_standardisation"`` asks for;
    ``mechanism="noisy_gradient"`` asks for softmax without a standardisation.

    Probabilities of two classes are calibrated. A loss that asks for a margin puts classes right,
    not probabilities; so a small part of the budget pays for noisy counts of the training rows, by
    class and score, and a rising curve through the boundary of the classes is made of them.
    ``predict``, ``decision_function`` and the ranking of rows are as they would be without it.
    Three or more classes keep the probabilities of the loss.

    Parameters
    ----------
    margin
        What the loss asks for; zero is logistic regression. None for the rule: if ``delta > 0`` and
        columns are standardised, from 3, where noise dominates, down to 0, where it hardly matters;
        otherwise 2. Where accuracy is all that counts and there are many rows to few columns,
        ``margin=2`` may be better by a few tenths of a percent, at the cost of probabilities.
    calibration
        ``"curve"`` spends 3 % of the budget (of mu squared, or of a pure epsilon) on counts of
        scores, where columns are standardised and enough rows are expected: ``expected_rows``
        times mu at least 500, if the budget is that of a mu-Gaussian mechanism. Otherwise, and
        with ``"none"``, log-odds are the score over 1 + margin / 2, which costs nothing.
    expected_rows
        Roughly how many rows there will be, declared and not counted. None for their number where
        that is public, and ``max_rows`` otherwise. If they are few (at most 3000 over epsilon),
        means and spreads have twice the share of the budget.
    domain
        A convex set for the coefficients; columns are not standardised then.

    Attributes
    ----------
    coef_, intercept_
        In the user's own units: one coefficient for each numeric column, one for each level of a
        category, in the order of the declaration.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    multiclass_
        How three or more classes were learnt: ``"softmax"`` or ``"one_vs_rest"``. None for two.
    probability_curve_
        Two rows, scores and log-odds of the second of two classes; lines between them, and the
        outer ones go on. None where probabilities are those of the loss.
    margin_
        The margin that the loss asked for.
    settings_
        What the noisy sums decided, and prints as a sentence: a noisy number of rows, the noise,
        the norm that rows are clipped to, the margin and the ridge
        (:class:`~discreet.mechanisms.signal_rules.Settings`). None where nothing waited for them:
        ``delta`` is zero, columns are not standardised, or classes are learnt by softmax.
    ranges_
        The ranges that the fit found, low and high, for each column that was declared with
        ``public_bounds``, in their order; None if there was none. Predictions clip to them.
    release_, privacy_
        The release and its guarantee. The value is the coefficients, followed by the counts if
        scores were counted, and by the numbers of ``settings_`` if there are such.

    References
    ----------
    Chaudhuri & Monteleoni (2008); Chaudhuri, Monteleoni & Sarwate (2011); Kifer, Smith & Thakurta
    (2012); Dong, Roth & Su (2022). The rules are in docs/defaults.md.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.preprocessing import Category, Numeric
    >>> generator = np.random.default_rng(0)
    >>> age = generator.uniform(20, 80, size=5000)
    >>> smokes = generator.choice(["no", "yes"], size=5000)
    >>> X = np.column_stack([age, smokes]).astype(object)
    >>> y = np.where(age + 20 * (smokes == "yes") > 60, "ill", "well")
    >>> model = LinearClassifier(
    ...     epsilon=1.0,
    ...     columns=[Numeric(18, 100), Category(["no", "yes"])],
    ...     classes=["ill", "well"],
    ... ).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.coef_.shape
    (True, (1, 3))
    >>> print(model.settings_)
    about ... rows and a noise of ...: margin ..., ridge 1.4, rows clipped to norm ...

    Three classes:

    >>> y = np.digitize(age + 20 * (smokes == "yes"), [45, 70])
    >>> model = LinearClassifier(columns=[Numeric(18, 100), Category(["no", "yes"])],
    ...                          classes=[0, 1, 2]).fit(X, y)
    >>> model.multiclass_, model.coef_.shape, model.predict_proba(X[:9]).shape
    ('softmax', (3, 3), (9, 3))
    """

    learns = MarginClassifier.learns | RANGES
    finds_ranges = True
