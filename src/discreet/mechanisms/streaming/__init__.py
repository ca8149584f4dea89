"""What mechanisms for streams are made of: running sums, online algorithms, and their noise.

Running sums with noise that is correlated over the steps:

====================== =============================================================================
``prefix_factor``      what a factor of running sums is: norms of columns, deviations, noise
``toeplitz_factor``    the square root of the matrix of running sums, and bands
``band_optimum``       the coefficients of a band with the least error
``tree_factor``        the binary tree; which factor goes with a stream
``correlated_noise``   noise step by step: secret state, packed for a hand-over
``prefix_calibration`` how much noise running sums need, and what their release promises
``open_batch``         what records add to the sum of their batch, in whole numbers
``running_sums``       batches filled and closed, and sessions that know nothing but running sums
====================== =============================================================================

Online algorithms that one record moves little, and independent noise on their iterates:

====================== =============================================================================
``online_algorithm``   what such an algorithm promises: how far one record moves it
``proximal_steps``     implicit gradient steps with a certified error
``gradient_steps``     explicit steps with a warm-up
``noise_schedule``     how noise is dealt out over the releases
``noisy_iterates``     their iterates released with noise, and the session
====================== =============================================================================
"""
