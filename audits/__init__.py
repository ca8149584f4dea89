"""Audits at full strength: every mechanism, every mutant; what ``make audit`` runs."""
