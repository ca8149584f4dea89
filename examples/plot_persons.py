"""
Persons with several rows
=========================

Patients of a synthetic hospital, some of whom stay twenty times. A model that protects *rows* promises a patient less with
every stay; one that protects *persons* promises everybody the same, however often they stay. What does that cost?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from discreet import LinearClassifier
from discreet.datasets import hospital_stays
from discreet.model_selection import split_rows
from discreet.privacy import group_epsilon

table = hospital_stays(patients=4_000)
train_X, test_X, train_y, test_y = split_rows(table.X, table.y, groups=table.patients, key="stays")   # by patient
train_ids, _ = split_rows(table.patients, groups=table.patients, key="stays")

epsilons = (0.1, 0.3, 1.0, 3.0)
protections = {
    "rows": {},
    "persons, share": {"unit": "add_remove_person"},
    "persons, one row": {"unit": "add_remove_person", "contributions": "cap", "rows_per_person": 1},
}


# %%
# Rehearsals with seeded noise, so that exact scores may be looked at; the table is made up.

def fit(epsilon, options, seed):
    model = LinearClassifier(
        epsilon, 1e-6, columns=list(table.columns.values()), classes=[False, True], rehearsal=seed, **options
    )
    model.fit(train_X, train_y, **({"groups": train_ids} if options else {}))
    return roc_auc_score(test_y, model.predict_proba(test_X)[:, 1])


scores = {
    name: [np.mean([fit(epsilon, options, seed) for seed in range(5)]) for epsilon in epsilons]
    for name, options in protections.items()
}

# %%
# What is promised about a row, at epsilon 1, and what that is worth to somebody with several rows.

private = LinearClassifier(1.0, 1e-6, columns=list(table.columns.values()), classes=[False, True]).fit(train_X, train_y)
stays = [1, 2, 5, 10, 20]
promised = [group_epsilon(private.privacy_.profile, count, 1e-6) for count in stays]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
left.plot(stays, promised, "o-", color="#b3541e", label="rows are protected")
left.axhline(1.0, color="#0b7a75", label="persons are protected")
left.set_xlabel("stays of a patient")
left.set_ylabel("epsilon for that patient")
left.set_yscale("log")
left.legend()
for (name, found), colour in zip(scores.items(), ("#b3541e", "#0b7a75", "#7a9e9f")):
    right.plot(epsilons, found, "o-", color=colour, label=name)
right.set_xscale("log")
right.set_xlabel("epsilon")
right.set_ylabel("AUC, other patients")
right.legend()
figure.tight_layout()
