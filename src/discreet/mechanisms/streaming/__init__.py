"""Running sums of a stream, with noise that is correlated over the steps.

==================== ===============================================================================
``prefix_factor``    what a factor of running sums is: norms of columns, deviations, noise
``toeplitz_factor``  the square root of the matrix of running sums, and bands
``band_optimum``     the coefficients of a band with the least error
``tree_factor``      the binary tree
``correlated_noise`` noise step by step: secret state, packed for a hand-over
==================== ===============================================================================
"""
