"""Mean evaluations that the reference implementation of CMA-ES needs (pip install cma), for search/evolution/cma.rs."""

import cma
import numpy as np

N = 8
ACROSS = np.arange(1.0, N + 1)


def sphere(x):
    return float(x @ x)


def ellipsoid(x):
    return float(10.0 ** (4 * np.arange(N) / (N - 1)) @ x**2)


def turned_ellipsoid(x):
    return ellipsoid(x - 2 * (x @ ACROSS) / (ACROSS @ ACROSS) * ACROSS)


for loss in [sphere, ellipsoid, turned_ellipsoid]:
    counts = []
    for seed in range(1, 101):
        options = {"CMA_active": False, "seed": seed, "verbose": -9, "ftarget": 1e-10, "tolfun": 0, "tolx": 0}
        evolution = cma.CMAEvolutionStrategy(N * [1.0], 0.5, options)
        evolution.optimize(lambda x: loss(np.asarray(x)))
        counts.append(evolution.result.evaluations)
    print(loss.__name__, np.mean(counts), np.std(counts))
