"""Where a law is concentrated, and in which shape: a guess that decides how fast draws are.

Preconditioning: a minimum found by damped Newton steps, and axes from a Cholesky factor of the
Hessian there, along which the law is nearly a product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Array, Integers, Vector
from discreet.mechanisms.sampling.energy import Energy
from discreet.mechanisms.sampling.lattice import Region

STEEPEST = 64.0
"""How far one coordinate may lean on another."""

FARTHEST = 2.0**40
"""No lean moves further than this many steps; within a region of 2**30 steps none does."""

TRACE = 2.0**-44
"""So much of a matrix is added to its diagonal, that rounding does not make it singular."""

STAGES, STEPS, QUADRATIC_STEPS = 24, 12, 400


@dataclass(frozen=True, eq=False)
class Guide:
    """A place and skew axes through it, along which the law is nearly independent.

    With the axes in some order, a place is reached from its offsets d, last axis first: it is
    e_j = d_j plus the nearest whole number to sum_{k > j} lean_jk e_k steps away. Each place has
    exactly one vector of offsets, whatever order and leans are.
    """

    place: Integers
    order: Integers  # of the axes
    leans: Array  # strictly upper triangular
    spread: Vector  # of each offset, in lattice steps

    def places(self, offsets: Integers) -> Integers:
        """Return the places at whole offsets."""
        moved = np.zeros_like(offsets)
        for j in range(offsets.shape[1] - 1, -1, -1):
            # Element by element: the same offsets lead to the same place in any company.
            lean = np.zeros(len(offsets))
            for k in range(j + 1, offsets.shape[1]):
                lean += self.leans[j, k] * moved[:, k]
            whole = np.rint(np.clip(lean, -FARTHEST, FARTHEST)).astype(np.int64)
            moved[:, j] = offsets[:, j] + whole
        return self.place + moved[:, np.argsort(self.order)]

    def moves(self, offsets: Array) -> Array:
        """Return how far real offsets lead from the place, without rounding."""
        moved = np.zeros_like(offsets)
        for j in range(offsets.shape[1] - 1, -1, -1):
            moved[:, j] = offsets[:, j] + moved[:, j + 1 :] @ self.leans[j, j + 1 :]
        return moved[:, np.argsort(self.order)]

    def tilts(self, slopes: Array) -> Array:
        """Return the change along each offset of what has these slopes along the axes."""
        tilts = slopes[:, self.order]
        for j in range(1, slopes.shape[1]):
            for i in range(j):
                tilts[:, j] += self.leans[i, j] * tilts[:, i]
        return tilts


def find_guide(energy: Energy, region: Region) -> Guide:
    """Look for the minimum of the energy, and how it bends there; without fail."""
    try:
        with np.errstate(all="ignore"):  # slopes may be so small that their squares vanish
            return _find_guide(energy, region)
    except np.linalg.LinAlgError:  # no error may tell of the data; a poor guide costs time
        width = region.width
        return Guide(
            place=np.full(width, region.steps // 2, dtype=np.int64),
            order=np.arange(width),
            leans=np.zeros((width, width)),
            spread=np.full(width, float(region.steps)),
        )


def _find_guide(energy: Energy, region: Region) -> Guide:
    sides = np.subtract(region.upper, region.lower)
    point = region.project(np.zeros((1, region.width)))[0]
    problem = energy.problem
    # Losses that bend in one place only say little, where they are straight, of what lies near.
    is_even = problem.loss.self_concordance is not None
    blur = 0.0 if is_even else float(np.linalg.norm(sides)) * problem.row_norm
    for _ in range(STAGES):
        point, hessian = _descend(energy, region, point, blur)
        if blur == 0:
            break
        inside = np.linalg.inv(hessian + np.diag(1 / sides**2))
        wanted = 0.5 * problem.row_norm * float(np.sqrt(np.trace(inside)))
        if blur <= wanted:
            break
        blur = max(blur / 4, 0.5 * wanted)
    hessian = hessian + np.diag(4 / sides**2)
    point, hessian, order = _align_with_edge(energy, region, point, blur, hessian)
    spacing = region.spacing
    hessian = (hessian * np.outer(spacing, spacing))[np.ix_(order, order)]
    lower, scale = _factor(hessian)
    beside = 2.0 + region.width
    place = np.clip((point - region.lower) / spacing, -beside, region.steps + beside)
    if not all(np.isfinite(numbers).all() for numbers in (place, lower, scale)):
        raise np.linalg.LinAlgError("no guide was found.")
    return Guide(
        place=np.rint(place).astype(np.int64),
        order=order,
        leans=np.clip(-lower.T, -STEEPEST, STEEPEST),
        spread=np.clip(1 / np.sqrt(scale), 1.0, float(region.steps)),
    )


def _align_with_edge(
    energy: Energy, region: Region, point: Vector, blur: float, hessian: Array
) -> tuple[Vector, Array, Integers]:
    """Where the region ends before the energy is least, put the first axis across its edge."""
    order = np.arange(region.width)
    slope = energy.second_order(point, blur)[1]
    if not np.any(slope):
        return point, hessian, order
    if not region.balls:
        return _align_with_faces(region, point, slope, hessian)
    length = np.linalg.norm(np.subtract(region.upper, region.lower))
    trial = point - slope * (1e-3 * length / np.linalg.norm(slope))
    outward = trial - region.project(trial[None, :])[0]
    size = float(np.linalg.norm(outward))
    if size < 1e-5 * length:
        return point, hessian, order
    outward /= size
    steepness = max(-float(slope @ outward), 0.0)
    across = np.outer(outward, outward)
    hessian = hessian + steepness**2 * across
    round_balls = [ball.radius for ball in region.balls if ball.order == 2]
    if round_balls:
        hessian = hessian + steepness / min(round_balls) * (np.eye(region.width) - across)
    step = (2 + region.width) * float(region.spacing.max())
    return point + step * outward, hessian, np.argsort(-np.abs(outward), kind="stable")


def _align_with_faces(
    region: Region, point: Vector, slope: Vector, hessian: Array
) -> tuple[Vector, Array, Integers]:
    """Do the same in a box, whose corners have a face for each axis."""
    near = 1e-9 * np.subtract(region.upper, region.lower)
    is_low = (point <= np.asarray(region.lower) + near) & (slope > 0)
    is_high = (point >= np.asarray(region.upper) - near) & (slope < 0)
    point = np.where(is_low, region.lower, np.where(is_high, region.upper, point))
    is_active = is_low | is_high
    hessian = hessian + np.diag(np.where(is_active, slope**2, 0.0))
    return point, hessian, np.argsort(~is_active, kind="stable")


def _descend(energy: Energy, region: Region, point: Vector, blur: float) -> tuple[Vector, Array]:
    value, slope, hessian = _second_order(energy, point, blur)
    for _ in range(STEPS):
        step, share = point - _minimise_quadratic(region, point, slope, hessian), 1.0
        while share > 1e-3:
            tried = region.project((point - share * step)[None, :])[0]
            new = _second_order(energy, tried, blur)
            if new[0] < value:
                break
            share /= 4
        else:
            break
        gain, point = value - new[0], tried
        value, slope, hessian = new
        if gain < 0.01:
            break
    return point, hessian


def _second_order(energy: Energy, point: Vector, blur: float) -> tuple[float, Vector, Array]:
    """Return value, gradient and a Hessian that floats can invert."""
    value, slope, hessian = energy.second_order(point, blur)
    return value, slope, hessian + TRACE * float(np.trace(hessian)) * np.eye(point.size)


def _minimise_quadratic(region: Region, point: Vector, slope: Vector, hessian: Array) -> Vector:
    """Return where a quadratic function is least in the region: accelerated projections."""
    free = point - np.linalg.solve(hessian, slope)
    if np.allclose(region.project(free[None, :])[0], free, rtol=0, atol=0):
        return free
    step = 1 / float(np.linalg.eigvalsh(hessian)[-1])
    best, ahead, momentum = point, point, 1.0
    for _ in range(QUADRATIC_STEPS):
        new = region.project((ahead - step * (slope + hessian @ (ahead - point)))[None, :])[0]
        if (ahead - new) @ (new - best) > 0:  # going uphill: lose the momentum
            momentum, ahead = 1.0, best
            continue
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / grown * (new - best)
        moved, best, momentum = np.linalg.norm(new - best), new, grown
        if moved <= 1e-9 * np.linalg.norm(best):
            break
    return best


def _factor(matrix: Array) -> tuple[Array, Vector]:
    """Return a strictly lower triangle and a scale: (1 + lower) diag(scale) (1 + lower)'."""
    matrix = matrix + TRACE * np.diag(np.diag(matrix))
    root = np.linalg.cholesky(matrix)
    diagonal = np.diag(root)
    return np.tril(root / diagonal, -1), diagonal**2
