"""Minimisers that are surely near enough, the random terms added to them, and the mask.

Empirical risk minimisation with a certificate: a solver may be as clever as it likes, since what it
returns is checked against a bound that was fixed before rows were read.

===================== ==============================================================================
``minimiser``         a public radius for problems with a ridge alone; the proof that it is reached
``penalised``         the same with a penalty or a constraint (proximal steps)
``proximal_search``   how a point with a certificate is looked for there
``entropic``          minimisers on the simplex, as integers, with an entropy as the regulariser
``rows_objective``    the sum of losses over opened rows: values, gradients, Hessians
``vector_objective``  that of distances, and of several outputs
``many_terms``        one problem with many linear terms, solved together (for studies)
``spectrum``          ridge solutions of a symmetric matrix from its eigenvalues
``linear_term``       the random term of objective perturbation: Gaussian, Laplace, radial; its cost
``mask``              the last noise, which hides how far a computed minimiser is from the ideal one
===================== ==============================================================================
"""
