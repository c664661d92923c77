"""One step of training in PyTorch, and one of a search through residual networks, beside the same steps of cluekit.

    python training.py --against "cargo run --release -p cluekit --example training" [--threads 2] [--rounds 9]

asks both sides for the same work in turn and writes a table: milliseconds of the best round, and how many times faster
cluekit is. The other side answers a line {"work": "vae", "repeat": 3} with {"seconds": 0.01}. Every work is tried here
both as it stands and compiled by torch.compile, and the faster one runs (--no-compile for the first alone).

| work | what a step is |
|---|---|
| perceptron, perceptron-burn-in | gradient of 256 rows by 784-400-400-10, and a step of SG-HMC |
| vae | gradient of the ELBO of 256 rows of a residual VAE (784, width 400, depth 3, latent 20), and a step of Adam |
| resnet | gradient of 128 rows of 3 × 32 × 32 by a residual network of 16, 32, 64 channels, and a step of Adam |
| search-N | gradient by N rows of the entropy that five such networks have, their norms part of their convolutions |
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import time

import torch
from torch import nn
from torch.nn import functional as F

WORKS = ["perceptron", "perceptron-burn-in", "vae", "resnet", "search-1", "search-8", "search-100"]
CLASSES = 26


def flat(shapes):
    """Parameters of these shapes as one vector, and the views into it."""
    sizes = [torch.Size(shape).numel() for shape in shapes]
    vector = torch.empty(sum(sizes))
    views = [part.view(shape) for part, shape in zip(vector.split(sizes), shapes)]
    for view in views:
        if view.dim() > 1:
            view.normal_(0, (2 / view[0].numel()) ** 0.5)
        else:
            view.zero_()
    return vector, views


def perceptron(burn_in, compiled):
    """A step of scale-adapted SG-HMC."""
    shapes = [s for i, o in [(784, 400), (400, 400), (400, 10)] for s in [(o, i), (o,)]]
    theta, views = flat(shapes)
    views = [view.requires_grad_() for view in (part.detach() for part in views)]
    x, y = torch.rand(256, 784), torch.arange(256) % 10
    v, window, mean, square = torch.zeros_like(theta), torch.ones_like(theta), torch.zeros_like(theta), torch.ones_like(theta)
    noise, gradient = torch.empty_like(theta), torch.empty_like(theta)
    step, friction, steps = 1e-5, 0.05, 0

    def loss(*w):
        h = F.relu(F.linear(x, w[0], w[1]))
        h = F.relu(F.linear(h, w[2], w[3]))
        return F.cross_entropy(F.linear(h, w[4], w[5]), y)

    def move(theta, v, window, mean, square, gradient, noise, least):
        energy = 600_000.0 * gradient + 100.0 * theta
        if burn_in:
            share = mean * mean / (square + 1e-38)
            window.mul_(1 - share).add_(1).clamp_(min=least)
            mean.add_((energy - mean) / window)
            square.add_((energy * energy - square) / window)
        rate = step * step / (square.sqrt() + 1e-6)
        spread = (2 * friction * rate - step**4).clamp(min=0).sqrt()
        v.add_(noise * spread - friction * v - rate * energy)
        theta.add_(v)

    if compiled:
        loss, move = torch.compile(loss), torch.compile(move)

    def one():
        nonlocal steps
        gradients = torch.autograd.grad(loss(*views), views)
        torch.cat([g.reshape(-1) for g in gradients], out=gradient)
        noise.normal_()
        steps += 1
        with torch.no_grad():
            move(theta, v, window, mean, square, gradient, noise, 100.0)

    return one


class Residual(nn.Module):
    def __init__(self, inputs, outputs, width=400, depth=3):
        super().__init__()
        self.input, self.output = nn.Linear(inputs, width), nn.Linear(width, outputs)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        h = self.input(x)
        for block in self.blocks:
            h = h + block(F.silu(h))
        return self.output(F.silu(h))


class Vae(nn.Module):
    def __init__(self, latent=20):
        super().__init__()
        self.encoder, self.decoder = Residual(784, 2 * latent), Residual(latent, 784)

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, 1)
        log_variance = log_variance.clamp(-12, 12)
        z = mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
        unlikely = F.binary_cross_entropy_with_logits(self.decoder(z), x, reduction="sum")
        divergence = 0.5 * (mean**2 + log_variance.exp() - log_variance - 1).sum()
        return (unlikely + divergence) / len(x)


class Normed(nn.Module):
    def __init__(self, inputs, outputs, side, stride, folded):
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, side, stride, side // 2, bias=folded)
        self.norm = nn.Identity() if folded else nn.BatchNorm2d(outputs)

    def forward(self, x):
        return self.norm(self.convolution(x))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride, folded):
        super().__init__()
        self.first = Normed(inputs, outputs, 3, stride, folded)
        self.second = Normed(outputs, outputs, 3, 1, folded)
        self.shortcut = Normed(inputs, outputs, 1, stride, folded)

    def forward(self, x):
        return F.relu(self.shortcut(x) + self.second(F.relu(self.first(x))))


def residual_network(folded, channels=(16, 32, 64)):
    sizes = [3, *channels]
    blocks = [Block(a, b, 2, folded) for a, b in zip(sizes, sizes[1:])]
    layout = {"memory_format": torch.channels_last}
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(sizes[-1], CLASSES)).to(**layout)


def descent(model, loss, compiled, rate, decay):
    """A step of Adam."""
    optimiser = torch.optim.AdamW(model.parameters(), rate, weight_decay=decay, fused=True)
    loss = torch.compile(loss) if compiled else loss

    def one():
        optimiser.zero_grad(set_to_none=True)
        loss().backward()
        optimiser.step()

    return one


def vae(compiled):
    model, x = Vae(), torch.rand(256, 784)
    return descent(model, lambda: model(x), compiled, 1e-4, 0.0)


def images(rows):
    return torch.rand(rows, 3, 32, 32).contiguous(memory_format=torch.channels_last)


def resnet(compiled):
    model, x, y = residual_network(False), images(128), torch.arange(128) % CLASSES
    return descent(model, lambda: F.cross_entropy(model(x), y), compiled, 1e-4, 0.01)


def search(rows, compiled):
    members = [residual_network(True).requires_grad_(False) for _ in range(5)]
    x = images(rows).requires_grad_()

    def loss(x):
        log = torch.stack([member(x).log_softmax(1) for member in members])
        return (log.exp() * log).sum()

    loss = torch.compile(loss) if compiled else loss
    return lambda: torch.autograd.grad(loss(x), x)


def work(name, compiled):
    if name.startswith("perceptron"):
        return perceptron(name.endswith("burn-in"), compiled)
    if name.startswith("search-"):
        return search(int(name.removeprefix("search-")), compiled)
    return {"vae": vae, "resnet": resnet}[name](compiled)


def seconds(step, repeat):
    start = time.perf_counter()
    for _ in range(repeat):
        step()
    return (time.perf_counter() - start) / repeat


def formulation(name, compile_too):
    """The faster of the plain and the compiled step, and which one it is."""
    trials = {"plain": work(name, False)}
    if compile_too:
        try:
            trials["compiled"] = work(name, True)
            trials["compiled"]()
        except Exception as problem:  # noqa: BLE001: without a compiler the plain one runs
            print(f"{name}: torch.compile fails: {str(problem).splitlines()[0][:120]}")
            del trials["compiled"]
    for step in trials.values():
        seconds(step, 3)
    best = {which: min(seconds(step, 3) for _ in range(5)) for which, step in trials.items()}
    which = min(best, key=best.get)
    return trials[which], which


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", required=True, help="command of the other side")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", nargs="*", default=WORKS, help="works to do")
    parser.add_argument("--no-compile", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    environment = {**os.environ, "RAYON_NUM_THREADS": str(args.threads)}
    other = subprocess.Popen(
        shlex.split(args.against), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )

    def ask(name, repeat):
        print(json.dumps({"work": name, "repeat": repeat}), file=other.stdin, flush=True)
        return json.loads(other.stdout.readline())["seconds"]

    print(f"| work | PyTorch {torch.__version__} ms | cluekit ms | times faster | median of the rounds | formulation |")
    print("|---|---|---|---|---|---|")
    for name in args.only:
        step, which = formulation(name, not args.no_compile)
        # Rounds of some thirty milliseconds.
        repeat = max(1, round(0.03 / max(ask(name, 1), 1e-4)))
        rounds = [(seconds(step, repeat), ask(name, repeat)) for _ in range(args.rounds)]
        theirs, ours = (min(side) for side in zip(*rounds))
        median = statistics.median(theirs / ours for theirs, ours in rounds)
        print(f"| {name} | {theirs * 1e3:.2f} | {ours * 1e3:.2f} | {theirs / ours:.2f} | {median:.2f} | {which} |", flush=True)
    other.stdin.close()
    other.wait()


if __name__ == "__main__":
    main()
