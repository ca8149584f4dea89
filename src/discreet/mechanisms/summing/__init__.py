"""Sums over rows that are exact integers, whatever their order: what noise is added to.

==================== ===============================================================================
``totals``           sums and means of rows on a grid
``row_count``        how many rows there are, where nothing is to be known of their columns
``column_scores``    how much each column goes with the labels, for a choice of columns
``standard_frame``   sums of entries and of squares, and columns centred and scaled by them
``score_counts``     rows counted by class and score, for the calibration of probabilities
``moments``          X'X and X'y, the sufficient statistics of least squares
``exact_gradient``   sums of gradients of losses of one margin
``softmax_gradient`` sums of gradients of several classes at once
``gradient_sums``    sums of unit vectors, the gradients of distances; which goes with which problem
``batches``          over which rows a sum goes: all, Poisson samples, samples of a fixed size
``schedule``         how many noisy sums, their composition, and the least noise for them
``step_policy``      step sizes and averages that noisy gradient descent takes if nobody says
==================== ===============================================================================
"""
