"""CLUE, δ-CLUE and ∇-CLUE in PyTorch, the other side of a race for speed.

    python search.py RUN [--threads N] [--trial full|quick]

opens a run folder (docs/run-folder.md) and answers requests on stdin, one JSON object a line; README.md lists them.
Everything is f32 on the CPU. How the work is laid out (the formulation) is chosen by a short trial whenever a number
of rows is asked for the first time; trials are not timed.
"""

import argparse
import itertools
import json
import os
import statistics
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import torch

aten = torch.ops.aten
LEAST_PROBABILITY = 1e-30
RATE, BETA_1, BETA_2, EPSILON = 0.1, 0.9, 0.999, 1e-8
# A formulation that is this much slower than the best in the first round of a trial is not tried again.
HOPELESS = 1.5
# Rounds of a trial after the first.
ROUNDS = 5
# And they go on for so many seconds, where the work is small.
LEAST_SECONDS = 2.0
# Rows of one descent at the most: beyond, activations only leave the caches.
MOST_ROWS = 1024


# Reading


def read_safetensors(path):
    """The arrays of a file, all of them F32."""
    data = Path(path).read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    arrays = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            array = np.frombuffer(data, "<f4", (last - first) // 4, start + first)
            arrays[name] = torch.from_numpy(array.reshape(entry["shape"]).copy())
    return arrays


def read_rows(path, width=None):
    """Rows of a .npy file, or of a raw file of little-endian f32 numbers."""
    array = np.load(path) if str(path).endswith(".npy") else np.fromfile(path, "<f4")
    if width is not None:
        array = array.reshape(-1, width)
    return torch.from_numpy(np.ascontiguousarray(array, np.float32))


def distributions(schema):
    """Neighbouring columns of one kind, as (kind, first, last): what the decoder's outputs stand for."""
    if "image" in schema:
        image = schema["image"]
        return [("bernoulli", 0, image["channels"] * image["height"] * image["width"])]
    groups, start = [], 0

    def push(kind, width):
        nonlocal start
        if groups and groups[-1][0] == kind != "categorical":
            groups[-1] = (kind, groups[-1][1], start + width)
        else:
            groups.append((kind, start, start + width))
        start += width

    for feature in schema["features"]:
        if feature["kind"] in ("continuous", "ordinal", "date"):
            push("gaussian", 1)
            if feature.get("missing", "refuse") != "refuse":
                push("bernoulli", 1)
        elif feature["kind"] == "binary":
            push("bernoulli", 1)
        else:
            push("categorical", len(feature.get("columns") or feature["categories"]))
    return groups


def ranges(schema):
    """The least and the greatest that a search lets each column of a table become; none for images."""
    if "image" in schema:
        return None
    ends = []
    for feature in schema["features"]:
        if feature["kind"] in ("continuous", "ordinal", "date"):
            ends.append([(feature[end] - feature["mean"]) / feature["deviation"] for end in ("least", "greatest")])
            if feature.get("missing", "refuse") != "refuse":
                ends.append([0.0, 1.0])
        else:
            ends += [[0.0, 1.0]] * (1 if feature["kind"] == "binary" else len(feature.get("columns") or feature["categories"]))
    return torch.tensor(ends).t()


# Generative model


class Buffers:
    """Memory that is reused from step to step."""

    def __init__(self):
        self.all = {}

    def __call__(self, name, *shape):
        key = (name, shape)
        if key not in self.all:
            self.all[key] = torch.empty(shape)
        return self.all[key]


class Residual:
    """h ← W x + b; h ← h + W silu(h) + b; y ← W silu(h) + b, with a gradient by x written by hand."""

    def __init__(self, arrays, name):
        layer = lambda key: (arrays[f"{name}.{key}.weight"], arrays[f"{name}.{key}.bias"])
        depth = sum(key.startswith(f"{name}.blocks.") and key.endswith(".weight") for key in arrays)
        if f"{name}.input.weight" not in arrays or f"{name}.convolutions.0.weight" in arrays:
            raise SystemExit("only residual VAEs are supported")
        self.input, self.output = layer("input"), layer("output")
        self.blocks = [layer(f"blocks.{i}") for i in range(depth)]

    def forward(self, x, tape=None):
        h = torch.addmm(self.input[1], x, self.input[0].t())
        for weight, bias in self.blocks:
            if tape is not None:
                tape.append(h)
            h = torch.addmm(h, aten.silu(h), weight.t()).add_(bias)
        if tape is not None:
            tape.append(h)
        return torch.addmm(self.output[1], aten.silu(h), self.output[0].t())

    def backward(self, gradient, tape):
        gradient = aten.silu_backward(gradient @ self.output[0], tape[-1])
        for (weight, _), h in zip(reversed(self.blocks), reversed(tape[:-1])):
            gradient = gradient + aten.silu_backward(gradient @ weight, h)
        return gradient @ self.input[0]


class Vae:
    def __init__(self, arrays, schema):
        self.encoder, self.decoder = Residual(arrays, "encoder"), Residual(arrays, "decoder")
        self.groups, self.ranges = distributions(schema), ranges(schema)
        self.latent = arrays["decoder.input.weight"].shape[1]

    def encode(self, x):
        return self.encoder.forward(x)[:, : self.latent].contiguous()

    def mean(self, outputs):
        of = {"bernoulli": torch.sigmoid, "categorical": lambda l: torch.softmax(l, 1), "gaussian": lambda l: l}
        parts = [of[kind](outputs[:, first:last]) for kind, first, last in self.groups]
        return parts[0] if len(parts) == 1 else torch.cat(parts, 1)

    def bounds(self, x0):
        """What decoded rows of a table are held between: the range of the data, and the input's own values."""
        return None if self.ranges is None else (torch.minimum(self.ranges[0], x0), torch.maximum(self.ranges[1], x0))

    def decode(self, z, bounds=None, tape=None):
        """x(z); with a tape also the mean before the bounds."""
        mean = self.mean(self.decoder.forward(z, tape))
        x = mean if bounds is None else torch.clamp(mean, *bounds)
        return x if tape is None else (x, mean)

    def decode_backward(self, gradient, x, mean, tape):
        """The pull-back to z."""
        if x is not mean:
            gradient = torch.where(x == mean, gradient, 0.0)
        x, parts = mean, []
        for kind, first, last in self.groups:
            g, y = gradient[:, first:last], x[:, first:last]
            if kind == "bernoulli":
                g = aten.sigmoid_backward(g, y)
            elif kind == "categorical":
                g = aten._softmax_backward_data(g, y, 1, torch.float32)
            parts.append(g)
        return self.decoder.backward(parts[0] if len(parts) == 1 else torch.cat(parts, 1), tape)


# Predictor, in several formulations


def masked(gradient, h, out):
    """The gradient where h > 0, else 0: the pull-back of relu."""
    return aten.threshold_backward.grad_input(gradient, h, 0, grad_input=out)


class Part:
    """Some posterior samples of the predictor: Σ_s softmax of their outputs, and its pull-back to x."""

    def __init__(self, layers):
        self.layers = [(w.contiguous(), b.contiguous()) for w, b in layers]
        weight, bias = self.layers[0]
        self.samples, self.hidden, self.inputs = weight.shape
        self.wide = weight.reshape(-1, self.inputs)
        self.wide_bias = bias.reshape(-1)
        self.rest = self.layers[1:]
        self.buffer = Buffers()

    def rest_forward(self, h):
        """[S, rows, hidden] → probabilities [S, rows, classes]; what backward needs is kept."""
        self.tape = []
        for i, (weight, bias) in enumerate(self.rest):
            self.tape.append(h)
            out = self.buffer(("h", i), self.samples, h.shape[1], weight.shape[1])
            h = torch.baddbmm(bias[:, None], h, weight.transpose(1, 2), out=out)
            if i + 1 < len(self.rest):
                h.relu_()
        self.p = torch.softmax(h, 2)
        return self.p

    def rest_backward(self, gradient):
        """The pull-back to the first layer's outputs, without its relu."""
        gradient = aten._softmax_backward_data(gradient.expand_as(self.p), self.p, 2, torch.float32)
        for i in reversed(range(len(self.rest))):
            weight, h = self.rest[i][0], self.tape[i]
            gradient = torch.bmm(gradient, weight, out=self.buffer(("g", i), self.samples, h.shape[1], weight.shape[2]))
            if i > 0:
                masked(gradient, h, gradient)
        return gradient

    def gathered(self, gradient):
        """relu's pull-back of the first layer, laid out as [rows, S · hidden]."""
        rows = gradient.shape[1]
        out = self.buffer("wide", rows, self.samples, self.hidden)
        return masked(gradient.transpose(0, 1), self.tape[0].transpose(0, 1), out).view(rows, -1)


class Stacked(Part):
    """Every layer as a batch of S products."""

    name = "stacked"

    def first(self, x):
        weight, bias = self.layers[0]
        out = self.buffer("a", self.samples, len(x), self.hidden)
        return torch.baddbmm(bias[:, None], x.expand(self.samples, *x.shape), weight.transpose(1, 2), out=out).relu_()

    def forward(self, x):
        return self.rest_forward(self.first(x)).sum(0)

    def backward(self, gradient):
        gradient = self.rest_backward(gradient)
        masked(gradient, self.tape[0], gradient)
        out = self.buffer("x", self.samples, gradient.shape[1], self.inputs)
        return torch.bmm(gradient, self.layers[0][0], out=out).sum(0)


class WideBack(Stacked):
    """Forward as a batch, the pull-back of the first layer as one product, which sums over samples by itself."""

    name = "wide-back"

    def backward(self, gradient):
        return self.gathered(self.rest_backward(gradient)) @ self.wide


class Wide(WideBack):
    """The first layer as one product both ways, since all samples see the same rows."""

    name = "wide"

    def product(self, x):
        return torch.addmm(self.wide_bias, x, self.wide.t(), out=self.buffer("a", len(x), self.wide.shape[0])).relu_()

    def first(self, x):
        return self.product(x).view(len(x), self.samples, self.hidden).transpose(0, 1)


class Columns(Part):
    """As wide, with rows as columns: every activation is contiguous as [S, width, rows]."""

    name = "columns"

    def forward(self, x):
        out = self.buffer("a", self.wide.shape[0], len(x))
        h = torch.addmm(self.wide_bias[:, None], self.wide, x.t(), out=out).relu_()
        h = h.view(self.samples, self.hidden, len(x))
        self.tape = []
        for i, (weight, bias) in enumerate(self.rest):
            self.tape.append(h)
            out = self.buffer(("h", i), self.samples, weight.shape[1], len(x))
            h = torch.baddbmm(bias[:, :, None], weight, h, out=out)
            if i + 1 < len(self.rest):
                h.relu_()
        self.p = torch.softmax(h, 1)
        return self.p.sum(0).t()

    def backward(self, gradient):
        gradient = aten._softmax_backward_data(gradient.t().expand_as(self.p), self.p, 1, torch.float32)
        for i in reversed(range(len(self.rest))):
            weight, h = self.rest[i][0], self.tape[i]
            gradient = torch.bmm(weight.transpose(1, 2), gradient, out=self.buffer(("g", i), *h.shape))
            masked(gradient, h, gradient)
        return (self.wide.t() @ gradient.view(self.wide.shape[0], -1)).t()


class OneDnn(Wide):
    """As wide, with the first layer's weights packed once by oneDNN, which also adds the bias and takes the relu."""

    name = "packed-onednn"

    def __init__(self, layers):
        super().__init__(layers)
        self.there = torch.ops.mkldnn._reorder_linear_weight(self.wide, None)
        self.back = torch.ops.mkldnn._reorder_linear_weight(self.wide.t().contiguous(), None)

    def product(self, x):
        return torch.ops.mkldnn._linear_pointwise(x, self.there, self.wide_bias, "relu", [], "")

    def backward(self, gradient):
        gradient = self.gathered(self.rest_backward(gradient))
        return torch.ops.mkldnn._linear_pointwise(gradient, self.back, None, "none", [], "")


class Mkl(Wide):
    """As wide, with the first layer's weights packed by MKL, once for each number of rows."""

    name = "packed-mkl"

    def __init__(self, layers):
        super().__init__(layers)
        self.transposed = self.wide.t().contiguous()
        self.packs = {}

    def packed(self, rows):
        if rows not in self.packs:
            pack = torch.ops.mkl._mkl_reorder_linear_weight
            self.packs[rows] = pack(self.wide, rows), pack(self.transposed, rows)
        return self.packs[rows]

    def product(self, x):
        packed = self.packed(len(x))[0]
        return torch.ops.mkl._mkl_linear(x, packed, self.wide, self.wide_bias, len(x)).relu_()

    def backward(self, gradient):
        gradient = self.gathered(self.rest_backward(gradient))
        rows = len(gradient)
        return torch.ops.mkl._mkl_linear(gradient, self.packed(rows)[1], self.transposed, None, rows)


class PlainForward(torch.nn.Module):
    """What torch.compile sees: weights are buffers, so that freezing packs them."""

    def __init__(self, part):
        super().__init__()
        self.shape, self.depth = (part.samples, part.hidden), len(part.rest)
        self.register_buffer("wide", part.wide)
        self.register_buffer("wide_bias", part.wide_bias)
        for i, (weight, bias) in enumerate(part.rest):
            self.register_buffer(f"weight_{i}", weight)
            self.register_buffer(f"bias_{i}", bias)

    def forward(self, x):
        first = torch.relu(torch.nn.functional.linear(x, self.wide, self.wide_bias))
        h = first.view(len(x), *self.shape).transpose(0, 1)
        tape = [first]
        for i in range(self.depth):
            weight, bias = getattr(self, f"weight_{i}"), getattr(self, f"bias_{i}")
            h = torch.baddbmm(bias[:, None], h, weight.transpose(1, 2))
            if i + 1 < self.depth:
                h = torch.relu(h)
                tape.append(h)
        p = torch.softmax(h, 2)
        return p.sum(0), p, tape


class PlainBackward(PlainForward):
    def forward(self, gradient, p, tape):
        gradient = p * (gradient - (gradient * p).sum(2, keepdim=True))
        for i in reversed(range(self.depth)):
            gradient = torch.bmm(gradient, getattr(self, f"weight_{i}"))
            if i > 0:
                gradient = gradient * (tape[i] > 0)
        gradient = gradient.transpose(0, 1).reshape(p.shape[1], -1) * (tape[0] > 0)
        return torch.nn.functional.linear(gradient, self.wide.t().contiguous())


class Compiled(Part):
    """The wide formulation as C++ that torch.compile writes, with frozen, packed weights."""

    name = "compiled"

    def __init__(self, layers):
        super().__init__(layers)
        self.compiled = {}

    def functions(self, rows):
        # One pair for each number of rows: static shapes give the best code. Dynamo forgets nothing, so it has to
        # be allowed more variants than usual.
        if rows not in self.compiled:
            compiled = lambda module: torch.compile(module(self).eval(), dynamic=False)
            self.compiled[rows] = compiled(PlainForward), compiled(PlainBackward)
        return self.compiled[rows]

    def forward(self, x):
        total, self.p, self.tape = self.functions(len(x))[0](x)
        return total

    def backward(self, gradient):
        return self.functions(gradient.shape[-2])[1](gradient[None], self.p, self.tape)


class CompiledStep(Compiled):
    """Also a whole step of the search as one compiled function: for models so small that dispatching dominates."""

    name = "compiled-step"
    # Beyond so many weights the products dominate, and halves of the samples are shared out better.
    MOST_WEIGHTS = 2_000_000

    def __init__(self, layers):
        super().__init__(layers)
        self.there, self.back = PlainForward(self).eval(), PlainBackward(self).eval()
        self.steps = {}

    def step(self, vae, samples, key):
        if key not in self.steps:
            _, lambda_x, last, has_delta = key

            def step(x0, z0, bounds, delta, z, m, v, best, best_loss, rate, correction):
                tape = []
                x, mean_x = vae.decode(z, bounds, tape)
                total, p, relus = self.there(x)
                h, slope = entropy(total / samples)
                difference = x - x0
                loss = h + lambda_x * difference.abs().sum(1)
                better = loss < best_loss
                best_loss = torch.where(better, loss, best_loss)
                best = torch.where(better[:, None], z, best)
                if last:
                    return z, m, v, best, best_loss
                gradient = self.back((slope / samples)[None], p, relus) + lambda_x * torch.sign(difference)
                gradient = vae.decode_backward(gradient, x, mean_x, tape)
                m = torch.lerp(m, gradient, 1 - BETA_1)
                v = BETA_2 * v + (1 - BETA_2) * gradient * gradient
                z = z - rate * m / ((v * correction).sqrt() + EPSILON)
                if has_delta:
                    away = z - z0
                    length = away.square().sum(1, keepdim=True).sqrt()
                    z = torch.where(length > delta, z0 + away * (delta / length), z)
                return z, m, v, best, best_loss

            self.steps[key] = torch.compile(step, dynamic=False)
        return self.steps[key]

    def descend(self, vae, samples, task):
        bounds = vae.bounds(task.x0)
        z = task.z.clone()
        state = (z, torch.zeros_like(z), torch.zeros_like(z), z, torch.full((len(z),), float("inf")))
        for step in range(task.steps + 1):
            key = (len(z), task.lambda_x, step == task.steps, task.delta is not None)
            # Numbers that change are tensors: a compiled function would hold others for constants.
            rate = torch.tensor(RATE / (1 - BETA_1 ** (step + 1)))
            correction = torch.tensor(1 / (1 - BETA_2 ** (step + 1)))
            work = self.step(vae, samples, key)
            state = work(task.x0, task.z0, bounds, task.delta, *state, rate, correction)
        task.best[:] = state[3]


EAGER = (Stacked, WideBack, Wide, Columns, OneDnn, Mkl)


# Threads


class Barrier:
    """Where the threads of a team wait for each other; nothing for a team of one."""

    def __init__(self, count):
        self.barrier = threading.Barrier(count) if count > 1 else None

    def wait(self):
        if self.barrier:
            self.barrier.wait()

    def reset(self):
        """As new, after a failure too."""
        self.barrier.reset()

    def guarded(self, work):
        """Lets the others go when one of them fails."""
        try:
            return work()
        except BaseException:
            self.barrier.abort()
            raise


class Threads:
    """Threads of Python around kernels of one thread each, or one thread around kernels of several."""

    def __init__(self, count):
        self.count = count
        self.pool = ThreadPoolExecutor(max(count - 1, 1), initializer=self.prepare)

    @staticmethod
    def prepare():
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)

    def kernels(self, count):
        torch.set_num_threads(count)

    def all(self, work):
        """Calls work(0), work(1) … at once; the caller takes the first."""
        waiting = [self.pool.submit(work, place) for place in range(1, self.count)]
        try:
            first = work(0)
        finally:
            wait(waiting)
        return [first] + [future.result() for future in waiting]


# The search


def share(rows, unit, parts):
    """`rows` cut into `parts` ranges of whole units."""
    units = rows // unit
    cuts = [unit * (units * i // parts) for i in range(parts + 1)]
    return [slice(a, b) for a, b in zip(cuts, cuts[1:])]


def entropy(p):
    """H of each row, and its gradient by p (up to a constant, which softmax takes away)."""
    log = p.clamp_min(LEAST_PROBABILITY).log_()
    return -(p * log).sum(1), log.neg_()


def dpp(z, count):
    """det K of each set of `count` codes, K_ij = 1 / (1 + ‖z_i − z_j‖), and its gradient by the codes."""
    sets = z.double().view(-1, count, z.shape[1])
    # Differences, not squares of lengths: codes lie close together.
    d = torch.cdist(sets, sets, compute_mode="donot_use_mm_for_euclid_dist")
    kernel = 1.0 / (1.0 + d)
    factor, failed = torch.linalg.cholesky_ex(kernel)
    value = factor.diagonal(dim1=1, dim2=2).prod(1).square()
    value = torch.where(failed == 0, value, 0.0)
    adjoint = torch.cholesky_inverse(factor) * value[:, None, None]
    pull = torch.where(d > 0, -2.0 * adjoint * kernel.square() / d, 0.0)
    pull = torch.where((failed == 0)[:, None, None], pull, 0.0)
    gradient = pull.sum(2, keepdim=True) * sets - pull @ sets
    return value, gradient.view(z.shape).float()


class Team:
    """Threads that descend together: each has a part of the samples, and a part of the rows for all else."""

    def __init__(self, vae, parts, samples):
        self.vae, self.parts, self.samples = vae, parts, samples
        self.barrier = Barrier(len(parts))

    def predict(self, place, x, sums):
        """Mean prediction of each row, and the kept samples' part of the aleatoric uncertainty."""
        part = self.parts[place]
        total = part.forward(x)
        p = part.p
        own = torch.special.entr(p).sum(1 if isinstance(part, Columns) else 2).sum(0)
        sums[place] = (total, own)
        self.barrier.wait()
        mean = sum(total for total, _ in sums[1:]) + sums[0][0] if len(sums) > 1 else sums[0][0]
        aleatoric = sum(own for _, own in sums) / self.samples
        self.barrier.wait()
        return entropy(mean / self.samples)[0], aleatoric

    def descend(self, place, task, state):
        """Best codes of the rows of one chunk; `state` is shared by the team."""
        vae, part, team = self.vae, self.parts[place], len(self.parts)
        if isinstance(part, CompiledStep) and team == 1 and not task.lambda_d:
            return part.descend(vae, self.samples, task)
        rows, count = len(task.z), task.count
        own = share(rows, count, team)[place]
        busy = own.stop > own.start
        alone = team == 1
        x0, z, z0 = task.x0[own], task.z[own].clone(), task.z0[own]
        delta = None if task.delta is None else task.delta[own]
        bounds = vae.bounds(x0)
        best, best_loss = z.clone(), torch.full((len(z) // count,), float("inf"), dtype=torch.float64)
        m, v = torch.zeros_like(z), torch.zeros_like(z)
        if place == 0:
            state.x = torch.empty(rows, x0.shape[1]) if not alone else None
            state.total, state.pull = [None] * team, [None] * team
        self.barrier.wait()
        for step in range(task.steps + 1):
            last = step == task.steps
            tape = []
            if busy:
                x, mean_x = vae.decode(z, bounds, tape)
                if not alone:
                    state.x[own] = x
            self.barrier.wait()
            state.total[place] = part.forward(x if alone else state.x)
            self.barrier.wait()
            mean = state.total[0] if alone else sum(state.total[1:], state.total[0])
            h, slope = entropy(mean / self.samples)
            if not last:
                state.pull[place] = part.backward(slope / self.samples)
            self.barrier.wait()
            if not busy:
                continue
            difference = x - x0
            loss = h[own] + task.lambda_x * difference.abs().sum(1) if task.lambda_x else h[own]
            unit_loss = loss.double().view(-1, count).sum(1) if count > 1 else loss.double()
            if task.lambda_d:
                diversity, apart = dpp(z, count)
                unit_loss = unit_loss - count * task.lambda_d * diversity
            better = unit_loss < best_loss
            best_loss = torch.where(better, unit_loss, best_loss)
            rows_better = (better.repeat_interleave(count) if count > 1 else better)[:, None]
            best = torch.where(rows_better, z, best)
            if last:
                break
            gradient = state.pull[0] if alone else sum(pull[own] for pull in state.pull)
            if task.lambda_x:
                gradient = torch.add(gradient, difference.sign_(), alpha=task.lambda_x)
            gradient = vae.decode_backward(gradient, x, mean_x, tape)
            if task.lambda_d:
                gradient = torch.sub(gradient, apart, alpha=count * task.lambda_d)
            m.lerp_(gradient, 1 - BETA_1)
            v.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
            root = (v / (1 - BETA_2 ** (step + 1))).sqrt_().add_(EPSILON)
            z = torch.addcdiv(z, m, root, value=-RATE / (1 - BETA_1 ** (step + 1)))
            if delta is not None:
                away = z - z0
                length = away.norm(dim=1, keepdim=True)
                z = torch.where(length > delta, z0 + away * (delta / length), z)
        task.best[own] = best
        self.barrier.wait()


class Task:
    """Candidates to descend from, and where their best codes go."""

    def __init__(self, x0, z0, z, delta, count, steps, lambda_x, lambda_d):
        self.x0, self.z0, self.z, self.delta, self.count = x0, z0, z, delta, count
        self.steps, self.lambda_x, self.lambda_d = steps, lambda_x, lambda_d
        self.best = torch.empty_like(z)

    def cut(self, rows):
        part = Task.__new__(Task)
        part.__dict__.update(self.__dict__)
        part.x0, part.z0, part.z, part.best = self.x0[rows], self.z0[rows], self.z[rows], self.best[rows]
        part.delta = None if self.delta is None else self.delta[rows]
        return part


class State:
    pass


class Plan:
    """A formulation: kernels, how threads share the work, and rows of one descent.

    sharing: `kernels` (one thread of Python, threads inside the kernels), `samples` (each thread has a part of the
    posterior samples) or `rows` (each thread has a part of the rows).
    """

    def __init__(self, runner, kind, sharing, chunk):
        self.runner, self.kind, self.sharing, self.chunk = runner, kind, sharing, chunk
        self.teams = runner.teams(kind, sharing)

    def __str__(self):
        return f"{self.kind.name}, threads share {self.sharing}, {self.chunk} rows at a time"

    def chunks(self, rows, unit):
        size = max(self.chunk // unit, 1) * unit
        return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]

    def each(self, chunks, work):
        """work(team, place in it, chunk) for every chunk."""
        threads = self.runner.threads
        if self.sharing == "kernels":
            threads.kernels(threads.count)
            for chunk in chunks:
                work(self.teams[0], 0, chunk, None)
            return
        threads.kernels(1)
        if self.sharing == "samples":
            states = [State() for _ in chunks]
            team = self.teams[0]
            team.barrier.reset()

            def take_part(place):
                for chunk, state in zip(chunks, states):
                    team.barrier.guarded(lambda: work(team, place, chunk, state))

            threads.all(take_part)
        else:
            queue = iter(chunks)
            lock = threading.Lock()

            def serve(place):
                while True:
                    with lock:
                        chunk = next(queue, None)
                    if chunk is None:
                        return
                    work(self.teams[place], 0, chunk, None)

            threads.all(serve)

    def evaluate(self, x):
        """Total and aleatoric uncertainty of each row, by all samples."""
        total, aleatoric = torch.empty(len(x)), torch.empty(len(x))

        def work(team, place, rows, state):
            if state is None:
                sums = [None]
            else:
                if place == 0:
                    state.sums = [None] * len(team.parts)
                team.barrier.wait()
                sums = state.sums
            h, own = team.predict(place, x[rows], sums)
            if place == 0:
                total[rows], aleatoric[rows] = h, own

        self.each(self.chunks(len(x), 1), work)
        return total, aleatoric

    def search(self, task):
        chunks = self.chunks(len(task.z), task.count)
        self.each(chunks, lambda team, place, rows, state: team.descend(place, task.cut(rows), state or State()))
        return task.best


class Runner:
    def __init__(self, run, threads, trial):
        run = Path(run)
        schema = tomllib.loads((run / "schema.toml").read_text())
        if schema["target"]["task"] != "classification":
            raise SystemExit("only classification is supported")
        self.image = "image" in schema
        self.vae = Vae(read_safetensors(run / "generative.safetensors"), schema)
        arrays = read_safetensors(run / "predictor.safetensors")
        if any(not name.startswith("layers.") for name in arrays) or "layers.1.weight" not in arrays:
            raise SystemExit("only multilayer perceptrons with a hidden layer are supported")
        depth = len(arrays) // 2
        self.layers = [(arrays[f"layers.{i}.weight"], arrays[f"layers.{i}.bias"]) for i in range(depth)]
        self.samples, _, self.width = self.layers[0][0].shape
        self.threads, self.trial = Threads(threads), trial
        self.made, self.plans, self.log = {}, {}, []

    def teams(self, kind, sharing):
        """Teams are kept, so that weights are packed and compiled once."""
        key = (kind, sharing)
        if key not in self.made:
            threads = self.threads.count
            if sharing == "samples":
                cuts = share(self.samples, 1, threads)
                parts = [kind([(w[c], b[c]) for w, b in self.layers]) for c in cuts]
                self.made[key] = [Team(self.vae, parts, self.samples)]
            else:
                teams = threads if sharing == "rows" else 1
                self.made[key] = [Team(self.vae, [kind(self.layers)], self.samples) for _ in range(teams)]
        return self.made[key]

    # Trials

    def sizes(self, rows, unit):
        most = min(rows, max(MOST_ROWS, unit))
        sizes = {most} | {size for size in (64, 128, 256, 512) if unit <= size < most}
        return sorted(sizes, reverse=True)

    def candidates(self, rows, unit):
        """Formulations for so many rows, eager ones first."""
        shares = ["kernels"] if self.threads.count == 1 else ["kernels", "samples"]
        halves = []
        if self.threads.count > 1 and rows >= 2 * unit:
            half = -(-rows // unit // self.threads.count) * unit
            halves = [("rows", size) for size in self.sizes(half, unit)]
        spread = [(s, size) for s in shares for size in self.sizes(rows, unit)] + halves
        return [(kind, sharing, size) for kind in EAGER for sharing, size in spread]

    def seconds(self, plan, work):
        start = time.perf_counter()
        work(plan)
        return time.perf_counter() - start

    def fastest(self, key, rows, unit, work):
        """The plan for this kind of work and number of rows: by trial the first time, remembered then."""
        if key in self.plans:
            return self.plans[key]
        best = {}

        def first(candidates):
            plans = []
            for kind, sharing, size in candidates:
                plan = Plan(self, kind, sharing, size)
                try:
                    work(plan)
                    best[plan] = min(self.seconds(plan, work) for _ in range(2))
                except Exception as problem:  # a backend that this build of PyTorch lacks
                    print(f"{plan}: {str(problem).splitlines()[0]}", file=sys.stderr)
                    continue
                plans.append(plan)
            return plans

        def rounds():
            # Interleaved, so that a busy machine is busy for all of them.
            least = min(best.values())
            for plan in [plan for plan, seconds in best.items() if seconds > HOPELESS * least]:
                self.log.append((key, str(plan), best[plan]))
                del best[plan]
            start = time.perf_counter()
            for round in itertools.count():
                if round >= ROUNDS and time.perf_counter() - start > LEAST_SECONDS or round >= 20 * ROUNDS:
                    break
                for plan in best:
                    best[plan] = min(best[plan], self.seconds(plan, work))

        first(self.candidates(rows, unit))
        rounds()
        if self.trial == "full":
            # Compiling takes long: only for what shares threads and rows as the best ones do.
            shapes = {(plan.sharing, plan.chunk): None for plan in sorted(best, key=best.get)[:8]}
            candidates = [(Compiled, *shape) for shape in itertools.islice(shapes, 2)]
            if key[0] == "search" and unit == 1 and sum(w.numel() for w, _ in self.layers) <= CompiledStep.MOST_WEIGHTS:
                whole = sorted({(s, size) for _, s, size in self.candidates(rows, unit) if s != "samples" and size >= 64})
                whole += [("kernels", rows)] if rows < 64 else []
                candidates += [(CompiledStep, *shape) for shape in whole[:3]]
            if first(candidates):
                rounds()
        chosen = min(best, key=best.get)
        self.log += [(key, str(plan), seconds) for plan, seconds in best.items()]
        print(f"{key}: {chosen}", file=sys.stderr)
        self.plans[key] = chosen
        return chosen

    # Requests

    def forward(self, request):
        x = self.inputs(request)
        plan = self.fastest(("forward", len(x)), len(x), 1, lambda plan: plan.evaluate(x))
        each, (total, aleatoric) = repeated(request, lambda: plan.evaluate(x))
        mean = lambda values: values.double().mean().item()
        return {
            **each,
            "uncertainty": mean(total),
            "aleatoric": mean(aleatoric),
            "epistemic": mean(total - aleatoric),
            "share_certain": mean((total < request["threshold"]).float()) if "threshold" in request else None,
            "formulation": str(plan),
        }

    def inputs(self, request):
        x = read_rows(request["inputs"], request.get("width", self.width))
        if x.shape != (request.get("rows", len(x)), self.width):
            raise ValueError(f"{request['inputs']} holds {tuple(x.shape)}")
        return x

    def clue(self, request):
        x = self.inputs(request)
        count, steps = request.get("count", 1), request.get("steps", 30)
        lambda_x, lambda_d = request.get("lambda_x", 0.0), request.get("lambda_d") or 0.0
        if count == 1:
            lambda_d = 0.0  # det K of one code is 1, wherever it lies
        unit = count if lambda_d else 1
        rows = len(x) * count
        delta = request.get("delta")
        if delta is not None:
            delta = torch.as_tensor(delta, dtype=torch.float32).reshape(-1, 1).expand(len(x), 1)
            delta = delta.repeat_interleave(count, 0)
        starts = request.get("starts")
        starts = None if starts is None else read_rows(starts, self.vae.latent)
        generator = torch.Generator().manual_seed(request.get("seed", 0))

        def task(steps):
            """Everything before the first step."""
            z0 = self.vae.encode(x)
            repeated_x = x.repeat_interleave(count, 0) if count > 1 else x
            z0 = z0.repeat_interleave(count, 0) if count > 1 else z0
            z = z0 if starts is None else starts
            if starts is None and delta is not None:
                direction = torch.randn(z0.shape, generator=generator)
                length = delta * torch.rand(rows, 1, generator=generator)
                z = z0 + direction / direction.norm(dim=1, keepdim=True) * length
            return Task(repeated_x, z0, z, delta, unit, steps, lambda_x, lambda_d)

        key = ("search", rows, unit)
        sample = task(2)
        plan = self.fastest(key, rows, unit, lambda plan: plan.search(sample))
        looks = {}
        for n in {len(x), rows}:
            some = sample.x0[:n]
            looks[n] = self.fastest(("forward", n), n, 1, lambda plan: plan.evaluate(some))

        def explained():
            self.threads.kernels(self.threads.count)
            original = looks[len(x)].evaluate(x)
            self.threads.kernels(self.threads.count)
            work = task(steps)
            z = plan.search(work)
            self.threads.kernels(self.threads.count)
            final = self.vae.decode(z, self.vae.bounds(work.x0))
            if self.image:
                final = final.clamp_(0.0, 1.0)
            h, aleatoric = looks[rows].evaluate(final)
            distance = (final - work.x0).abs().sum(1)
            return original, z, h, aleatoric, distance

        each, (original, z, h, _, distance) = repeated(request, explained)
        mean = lambda values: values.double().mean().item()
        return {
            **each,
            "cost": mean(h.double() + lambda_x * distance.double()),
            "uncertainty": mean(h),
            "distance": mean(distance),
            "dpp": mean(dpp(z, count)[0]) if count > 1 else None,
            "share_certain": mean((h < request["threshold"]).float()) if "threshold" in request else None,
            "uncertainty_before": mean(original[0]),
            "formulation": str(plan),
        }

    def info(self, _):
        return {
            "torch": torch.__version__,
            "threads": self.threads.count,
            "samples": self.samples,
            "trial": self.trial,
            "formulations": {" ".join(map(str, key)): str(plan) for key, plan in self.plans.items()},
            "trials": [{"work": " ".join(map(str, k)), "formulation": f, "seconds": s} for k, f, s in self.log],
        }


def repeated(request, work):
    """The median time, all times, and what the last one returned."""
    each = []
    for _ in range(max(request.get("repeat", 1), 1)):
        start = time.perf_counter()
        result = work()
        each.append(time.perf_counter() - start)
    return {"seconds": statistics.median(each), "each": each}, result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run", help="a run folder")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="all processors unless it is said")
    parser.add_argument("--trial", choices=["full", "quick"], default="full", help="quick leaves out torch.compile")
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    torch.set_float32_matmul_precision("highest")
    if arguments.trial == "full":
        from torch._dynamo import config as dynamo
        from torch._inductor import config as inductor

        inductor.freezing = True
        for limit in ("recompile_limit", "accumulated_recompile_limit"):
            if hasattr(dynamo, limit):
                setattr(dynamo, limit, 4096)
    runner = Runner(arguments.run, arguments.threads, arguments.trial)
    works = {"clue": runner.clue, "forward": runner.forward, "info": runner.info}
    # Replies alone go to stdout, whatever a compiler prints.
    replies, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            request = json.loads(line)
            if request["work"] == "quit":
                break
            reply = works[request["work"]](request)
        except Exception as problem:
            reply = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
