"""Exact draws of candidates and of coefficients: the exponential mechanism without float noise.

==================== ===============================================================================
``choice``           one of finitely many public candidates: thresholds, columns
``ranks``            grid points scored by their distance from a quantile
``range_draws``      two quantiles of some columns: the ends of their ranges
``sampled_model``    coefficients of a convex problem: what is accepted and planned
``lattice``          the points that may be drawn: a lattice inside a bounded set
``energy``           the sum of losses as an energy, and what rounding can do to it
``guide``            where the law is concentrated, and in which shape: preconditioning
``rejection``        rejection sampling below tangents of the energy
==================== ===============================================================================
"""
