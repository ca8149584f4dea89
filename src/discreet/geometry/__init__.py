"""Closed convex sets: they clip rows of private data and constrain coefficients alike."""

from discreet.geometry.box import Box, LinfBall
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.l1_ball import L1Ball
from discreet.geometry.l1_l2_ball import L1L2Ball
from discreet.geometry.l2_ball import L2Ball
from discreet.geometry.nuclear_ball import NuclearBall
from discreet.geometry.product import Product
from discreet.geometry.simplex import Simplex
from discreet.geometry.whole_space import WholeSpace

SETS: tuple[type[ConvexSet], ...] = (
    Box,
    L1Ball,
    L1L2Ball,
    L2Ball,
    LinfBall,
    NuclearBall,
    Product,
    Simplex,
    WholeSpace,
)
"""Every convex set; their laws are tested for all of them, and stored models may hold them."""

__all__ = [
    "SETS",
    "Box",
    "ConvexSet",
    "L1Ball",
    "L1L2Ball",
    "L2Ball",
    "LinfBall",
    "NuclearBall",
    "Product",
    "Simplex",
    "Uniforms",
    "WholeSpace",
]
