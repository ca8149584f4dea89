"""Searches for worst-case pairs of neighbouring data sets.

Random starts and the method of Nelder and Mead, over parameters of neighbouring data sets.
"""

from discreet.audit.exact.search.neighbours import ProblemPairs, problem_pairs
from discreet.audit.exact.search.worst_pair import MakePair, SearchResult, search

__all__ = ["MakePair", "ProblemPairs", "SearchResult", "problem_pairs", "search"]
