"""What each parameter of an estimator means, in one place.

A text stands for every estimator that has the parameter; one under the name of a base, as in
``"LiveEstimator.unit"``, for those of that kind. Where a parameter means something else to one
estimator alone, that estimator's own docstring says it.
"""

from __future__ import annotations

TOGETHER = {"epsilon": "epsilon, delta", "delta": "epsilon, delta"}
"""Parameters that are described together."""

TEXTS = {
    # Every estimator.
    "epsilon, delta": "The privacy budget of one fit. ``delta=0`` asks for pure epsilon.",
    "unit": 'Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.',
    "ledger": "The ledger that is charged; None charges none, which ``privacy_`` says.",
    "max_rows": "A public bound on the number of rows, if that number is private; None for 2**23.",
    "rehearsal": (
        "None for privacy. A whole number seeds the noise, for tests and simulations: the result "
        "is **not private**. Nothing in scikit-learn sets it."
    ),
    "verbose": "Above zero, the guarantee is printed after the fit.",
    "expected_rows": "Roughly how many rows there will be, declared and not counted.",
    # What is declared of rows and labels.
    "columns": (
        "What is declared about each column, as for :class:`~discreet.preprocessing.BoundedScaler`:"
        " a dict from name to ``Numeric`` or ``Category`` for data frames, a list for arrays. Short"
        ' forms are ``(18, 100)`` and ``["a", "b"]``. None for rows of numbers.'
    ),
    "data_norm": (
        "The declared bound on the Euclidean norm of a row, if ``columns`` are not declared; longer"
        " rows are clipped to it. Choose it without looking at the data; one of the two has to be"
        " declared."
    ),
    "entry_bound": (
        "The declared bound on the absolute value of each entry, if ``columns`` are not declared; "
        "entries beyond are clipped. Choose it without looking at the data; one of the two has to "
        "be declared."
    ),
    "data_range": "The declared range of entries, if it is not symmetric.",
    "target_range": (
        "The declared range of targets; others are clipped to it. There is no default: a fit "
        "refuses to guess it."
    ),
    "classes": (
        "The classes, declared. Without it the labels found are taken as public, and the guarantee "
        "says so. However many there are, they share the one budget."
    ),
    "max_weight": (
        "The largest ``sample_weight`` that counts; larger ones are clipped. Noise is made for it."
    ),
    "bounds": (
        "The declared range of values, as (low, high); others are clipped to it. Two lists give "
        "each column its own. Choose it without looking at the data."
    ),
    # Linear models.
    "fit_intercept": (
        "Whether there is a constant column; it is inside the row norm and penalised."
    ),
    "domain": (
        "A convex set that the coefficients of encoded columns must lie in, the intercept's own "
        "included; None for no constraint."
    ),
    "alpha": (
        r"Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2`, the intercept's "
        "coefficient included. By default the weakest that costs no privacy. What is too weak for "
        "the budget is raised to the least it allows, and ``release_.reason`` says so."
    ),
    "C": (
        "Inverse regularisation strength in the standardised frame, where rows have norm at most "
        "one. None for the rule: the weakest penalty that costs no privacy, up to twice that where "
        "noise dominates."
    ),
    "intervals": (
        "Whether a part of the budget pays for the standard errors of coefficients, so that "
        "``confidence_interval`` and ``summary`` can answer. It needs ``delta > 0`` and no domain."
    ),
    "threshold": (
        "The residual at which the loss turns from a parabola to a line, in units of the target. "
        "By default a quarter of half the range."
    ),
    "margin": (
        "What the loss asks for; zero is logistic regression. None for the rule, by how much noise "
        "there is, as for :class:`~discreet.LinearClassifier`."
    ),
    "mechanism": (
        '``"auto"``, ``"private_standardisation"``, ``"objective_perturbation"``, '
        '``"output_perturbation"`` or ``"noisy_gradient"``.'
    ),
    "LinearRegressorBase.fit_intercept": (
        "Whether there is a constant column; it is inside the row norm and penalised. Targets are "
        "counted from the middle of their range then."
    ),
    "LinearRegressorBase.mechanism": (
        '``"auto"``, ``"objective_perturbation"`` or ``"output_perturbation"``.'
    ),
    "RobustRegressor.fit_intercept": (
        "Whether there is an intercept. Targets are counted from the middle of their range then."
    ),
    "MarginClassifier.fit_intercept": (
        "Whether there is an intercept; without one columns cannot be standardised."
    ),
    # Additive models.
    "AdditiveEstimator.columns": (
        "What each column can hold, as for :class:`~discreet.LinearClassifier`. A range is cut into"
        " 256 cells of equal width, and may be several times wider than the values. Numbers that "
        "are missing are told from all others, unless the declaration says what stands for them."
    ),
    "monotone": (
        'Which shapes only rise or only fall, by column, as in ``{"age": "increasing", "dose": '
        '"decreasing"}``: the fitted shape is replaced by the nearest such one, which costs no '
        "privacy. Columns without names are ``x0``, ``x1`` and so on. Say it only of what you know."
    ),
    "interactions": (
        "Whether pairs of columns of numbers may add something together: one number for each pair,"
        " times the product of the two places. They are used if they are no more than the functions"
        " of single columns and the released marginals promise signal enough for all of them; "
        "``interactions_`` says which were. Not together with ``monotone``."
    ),
    "bands": (
        "Whether four models are learnt within the one budget, with noise of their own, and their "
        "mean is kept: how they differ says how far noise for privacy may have moved each shape. "
        "Meant for an epsilon of one or more; it costs a little accuracy below."
    ),
    # Models of few columns, and selectors.
    "SparseModel.columns": (
        "What each column can hold, as for :class:`~discreet.LinearClassifier`: numbers are brought"
        " to [-1, 1], and each level of a category is a feature of its own."
    ),
    "SparseModel.expected_rows": (
        "Roughly how many rows there will be, declared and not counted. None for their number where"
        " that is public, and 10,000 otherwise."
    ),
    "SparseModel.fit_intercept": "Whether there is a constant column.",
    "TwoClassModel.classes": (
        "The two classes, declared. Without it the labels found are taken as public, and the "
        "guarantee says so."
    ),
    "CornerStepsModel.expected_rows": (
        "Roughly how many rows there will be, declared and not counted. None for their number where"
        " that is public, and 10,000 otherwise. Only the number of steps depends on it."
    ),
    "CornerStepsModel.max_iter": (
        "The number of steps, which share the budget. By default where a bound on the excess risk "
        "is least, from ``expected_rows`` and other public numbers."
    ),
    "ThresholdingModel.epsilon, delta": (
        "The privacy budget of one fit. ``delta=0`` asks for pure epsilon, which is shared by all "
        "steps and coefficients, and costs much more here."
    ),
    "ThresholdingModel.n_features_to_select": (
        "How many coefficients may differ from zero, the intercept's not counted."
    ),
    "ThresholdingModel.step_size": (
        "Of each step, over what is stable if entries were all at their bound in turn. Entries "
        "that are mostly smaller allow more; strongly correlated columns ask for less."
    ),
    "ThresholdingModel.max_iter": (
        "The number of steps, which share the budget; by default the logarithm of "
        "``expected_rows``."
    ),
    "ThresholdingModel.expected_rows": (
        "Roughly how many rows there will be, declared and not counted. None for their number where"
        " that is public, and 10,000 otherwise. Slopes are divided by it: if there are more than "
        "twice as many rows, ``step_size`` over two is too large."
    ),
    "ThresholdingModel.fit_intercept": (
        "Whether there is a constant column, of which the coefficient is drawn like others."
    ),
    "SelectedModel.epsilon, delta": (
        "The privacy budget of one fit, choice and model together. ``delta=0`` asks for pure "
        "epsilon."
    ),
    "SelectedModel.entry_bound": (
        "The declared bound on the absolute value of each entry, if ``columns`` are not declared; "
        "entries beyond are clipped. Either, or ``data_range``, has to be declared."
    ),
    "SelectedModel.data_range": (
        "The declared range of entries, if it is not symmetric: for counts clipped to one, "
        "``(0, 1)`` halves the noise of the choice. It contains zero."
    ),
    "SelectedModel.n_features_to_select": "How many features; at most as many as there are.",
    "SelectedModel.selector": (
        "None draws features by their covariance with the target. A selector of scikit-learn, or a "
        "function of rows and labels, is run on blocks of rows, whose votes choose "
        "(:class:`~discreet.feature_selection.BlockVoteSupport`): there may be no stable answer "
        "then, which costs the same, and the model is zero. All rows are in memory for it."
    ),
    "SelectedModel.selection_share": "The share of the budget that goes into the choice.",
    "SelectedModel.center": "Whether means are subtracted where features are drawn.",
    "BoundedEntries.columns": (
        "What each column can hold, as for :class:`~discreet.LinearClassifier`; a category is "
        "chosen if one of its levels is."
    ),
    "BoundedEntries.entry_bound": (
        "The declared bound on the absolute value of each entry, if ``columns`` are not declared; "
        "entries beyond are clipped. Either, or ``data_range``, has to be declared."
    ),
    "BoundedEntries.target_range": (
        "The declared range of targets that are numbers; others are clipped to it. Left out, "
        "targets are classes."
    ),
    "BoundedEntries.classes": "The classes, if they are not public in the labels.",
    "BlockEstimator.entry_bound": (
        "The declared bound on the absolute value of each entry; entries beyond are clipped. Left "
        "out, entries stay as they are."
    ),
    "blocks": (
        "How many blocks; public. By default what the budget needs if nine blocks in ten agree. "
        "More blocks make votes surer and blocks smaller."
    ),
    "n_jobs": (
        "How many blocks are worked on at once; None for one, -1 for as many as there are "
        "processors."
    ),
    "backend": (
        '``"threads"``, ``"processes"``, which rows are sent to, or ``"dask"``: the workers of the '
        "current Dask client."
    ),
    # Kernels.
    "KernelEstimator.columns": (
        "What is declared about each column, as for :class:`~discreet.preprocessing.BoundedScaler`."
        " Numbers are scaled to [-1, 1] by their declared ranges, levels are zeros and ones, and "
        "``gamma`` is meant in that box. None for rows of numbers as they are."
    ),
    "KernelEstimator.alpha": (
        r"Regularisation strength, of the penalty :math:`\alpha \|w\|^2/2` on the coefficients of "
        "features. By default the weakest that costs no privacy; what is too weak for the budget "
        "is raised."
    ),
    "KernelEstimator.calibration": (
        '``"curve"`` spends 3 % of the budget on counts of scores, of which probabilities of two '
        'classes are made, if enough rows are expected; ``"none"`` does not.'
    ),
    "FourierModel.gamma": (
        "How fast the kernel falls: in the box of declared columns, or in the units of rows of "
        "numbers. None for the rule: one over the number of declared columns, or over the square "
        "of ``data_norm``. It is public: take it from what you know, or tune it with "
        ":class:`~discreet.model_selection.PrivateSearchCV`."
    ),
    "FourierModel.n_components": "How many frequencies; there are twice as many features.",
    "FourierModel.kernel": '``"rbf"``, ``"laplacian"`` or ``"matern"``.',
    "FourierModel.nu": (
        "The smoothness of the Matern kernel, whose length is the root of 1/(2 gamma)."
    ),
    "FourierModel.orthogonal": (
        "Whether frequencies are orthogonal to one another, as many at a time as there are encoded "
        "columns; not for the Laplacian kernel."
    ),
    "FourierModel.frequencies_draw": (
        "Which draw of the frequencies: a whole number. They are public, and drawn without a look "
        "at the rows; the noise is drawn apart from them, and stays secret."
    ),
    "LandmarkModel.landmarks": (
        "Public points: a table as for ``fit``, of 1 to 4096 rows that have nothing to do with the "
        "private ones; or how many synthetic ones to take, quasi-random points of the declared "
        "domain. None for 200 of these. Rows that are to be protected must never be landmarks: "
        "that they are public is part of what the guarantee rests on."
    ),
    "LandmarkModel.kernel": (
        "A kernel of :mod:`discreet.kernels`, in the box of declared columns or in the units of "
        "rows of numbers. None for an RBF kernel whose gamma is one over the number of declared "
        "columns, or over the square of ``data_norm``."
    ),
    "LandmarkModel.n_components": (
        "At most how many directions are kept, those in which the landmarks spread most. None for "
        "all."
    ),
    "LandmarkModel.radius": (
        "What the norm of features is clipped to, each row by itself, in ``fit`` and ``predict`` "
        "alike. None for the root of the largest K(z, z) at a landmark: one for an RBF kernel."
    ),
    "LandmarkModel.method": (
        '``"nystroem"``: a linear model of features on the landmarks, by far the more accurate. '
        '``"projected"``: an exact kernel model is fitted, of two classes or by a robust loss, and '
        "its projection on the span of the landmarks is released with noise that does not grow "
        "with their number; for comparison, and where features are too many to learn from. It "
        "needs ``max_rows`` of at most a million (50,000 are practical), a positive delta, and no "
        "weights."
    ),
    "KernelQueryModel.epsilon, delta": (
        "The privacy budget of everything that is ever answered; ``delta`` must be positive."
    ),
    "KernelQueryModel.data_norm": (
        "The declared bound on the Euclidean norm of a row, if ``columns`` are not declared; longer"
        " rows, and points that are asked about, are clipped to it."
    ),
    "KernelQueryModel.columns": (
        "What is declared about each column, as for :class:`~discreet.preprocessing.BoundedScaler`;"
        " rows may then be asked about as dicts."
    ),
    "KernelQueryModel.kernel": (
        "A kernel of ``discreet.kernels``; None for an RBF kernel whose gamma is one over the "
        "number of features."
    ),
    "KernelQueryModel.radius": (
        "What feature vectors are clipped to, each point by itself; None for one, or the largest "
        "norm of linear and polynomial kernels."
    ),
    "KernelQueryModel.loss": (
        'Of classes ``"logistic"``, ``"hinge"``, ``"smoothed_hinge"`` or ``"huber_hinge"``; of '
        'numbers ``"huber"`` or ``"absolute"``; or a loss that kernel solvers know. None for the '
        "first of each."
    ),
    "KernelQueryModel.C": (
        "Inverse regularisation strength. None for the rule: the least bound on what penalty and "
        "noise cost together, for a model of norm ten and ``expected_rows`` rows."
    ),
    "KernelQueryModel.fit_intercept": (
        "Whether there is a constant feature, half as long as the radius; it is penalised."
    ),
    "KernelQueryModel.classes": (
        "Two classes, declared; without it the labels found are taken as public."
    ),
    "KernelQueryModel.target_range": (
        "The lowest and highest target, if numbers are learnt; targets beyond are clipped."
    ),
    "KernelQueryModel.expected_rows": (
        "Roughly how many rows there will be, declared and not counted; None for ``max_rows``."
    ),
    "KernelQueryModel.max_rows": (
        "A public bound on the number of rows, if that number is private; None for 50,000."
    ),
    "OracleEstimator.max_queries": (
        "How many different points are answered with new noise, at most. More cost next to nothing "
        "in noise, and memory for their square."
    ),
    "OracleEstimator.store": (
        "Where the oracle outlives this process: the path of a new SQLite file, as secret as the "
        "rows, or the address of a PostgreSQL data base. None for memory alone."
    ),
    "OracleEstimator.rehearsal": (
        "None for privacy. A whole number seeds the noise, for tests and simulations: the result "
        "is **not private**, and cannot be stored."
    ),
    # Location.
    "ColumnEstimator.epsilon, delta": (
        "The privacy budget of one fit. One column is pure, so ``delta`` is not used; many columns "
        "share a budget with a positive ``delta`` more cheaply."
    ),
    "QuantileEstimator.bounds": (
        "The declared range of values, as (low, high); others are clipped to it. Two lists give "
        "each column its own. Choose it without looking at the data. With many rows a wide range "
        "costs little; with few, pass logarithms of skewed values, and undo them afterwards."
    ),
    "QuantileEstimator.steps": (
        "The answer is one of ``steps + 1`` evenly spaced points of the range, and so is every "
        "value. For whole numbers take ``high - low``."
    ),
    # Searches.
    "PrivateSearch.epsilon, delta": "The privacy budget of the whole search.",
    "PrivateSearch.estimator": (
        "A linear or additive classifier or regressor of this library, not fitted, without a "
        "ledger. Its ``epsilon``, ``delta``, ``unit``, ``max_rows`` and ``verbose`` are replaced "
        "by those of the search."
    ),
    "PrivateSearch.method": (
        '``"split"``: each candidate is fitted to a secret part of the rows by itself, with the '
        'whole budget. ``"repeat"``: a secret random number of trials of candidates drawn at '
        'random. ``"compose"``: all candidates share the budget and most of the rows. ``"auto"`` '
        "takes the one whose predicted regret is least, and the release says why."
    ),
    "PrivateSearch.refit": (
        'For ``"split"``: whether half of the rows are kept for the chosen candidate, which is '
        "fitted to them with the whole budget. Otherwise the model is the one of the small part."
    ),
    "PrivateSearch.trials": (
        'For ``"repeat"``: how many trials there are on average; by default one for each candidate.'
    ),
    "PrivateSearch.shape": (
        'For ``"repeat"``: of the law of that number, from 0, logarithmic, to 1, geometric; None '
        "for Poisson, which may make no trial at all and say so."
    ),
    "PrivateSearch.pad": (
        'For ``"repeat"``: whether further trials are run for nothing, so that the running time '
        "does not tell how many counted, but once in a thousand searches."
    ),
    "PrivateSearch.expected_rows": (
        "How many rows are expected, for choices that are made before rows are read; None for as "
        "many as there may be. Declared, and not counted."
    ),
    # Streams.
    "LiveEstimator.epsilon, delta": (
        "The privacy budget of the whole stream. ``delta=0`` asks for pure epsilon."
    ),
    "LiveEstimator.unit": (
        'Who is protected: ``"replace"`` one record, or ``"zero_out"`` one, in whose place nothing '
        "is learnt. When records arrive is public; that all later ones come a place earlier is not "
        "covered."
    ),
    "LiveEstimator.ledger": (
        "The ledger that is charged; None charges none, and nothing can be saved then."
    ),
    "LiveEstimator.rehearsal": (
        "None for privacy. A whole number seeds the noise: the result is **not private**."
    ),
    "LiveEstimator.verbose": "Above zero, the guarantee is printed when the stream begins.",
    "LiveEstimator.horizon": (
        "How many records will be learnt from, at most; there is no default. A shorter stream costs"
        " the same."
    ),
    "LiveEstimator.batch": (
        "After how many records there is another answer. None for about a thousand answers: more "
        "of them need more noise, and hardly follow the stream more closely."
    ),
    "OnlineLearner.features": (
        "The names of features in records that are dicts, in the order in which noise is added, "
        "where ``columns`` does not name them."
    ),
    "OnlineLearner.mechanism": (
        '``"auto"``, ``"follow_the_leader"``; with a penalty worth the name, ``"private_ocp"``, '
        '``"implicit_gradient"`` or ``"gradient_ascent"``.'
    ),
    "OnlineClassifier.classes": (
        "The two classes, declared; there is no default, since no record may decide how others are "
        "read."
    ),
    "OnlineClassifier.C": (
        "Inverse regularisation strength over the whole stream. By default a trace."
    ),
}
