"""Values from an independent implementation, for the tests beside it.

Writes four run folders as another program would: `run.toml` with nothing but what is required, `schema.toml`, and
weights drawn at random in PyTorch's layout. Beside the weights lies `expected.json`: what numpy, in double precision
and straight from the formulas, says of a few rows. `formulas.json` does the same for losses and optimisers.

| folder | inputs | predictor | generative model |
|---|---|---|---|
| mixed | continuous, categorical, ordinal, binary | 4 networks, 3 classes | residual, 2 blocks |
| regression | three numbers | 3 networks, a value | residual, 1 block |
| image | 3 x 5 x 6 pixels | none | convolutions |
| symbols | 1 x 6 x 5 pixels | 2 residual networks, 2 classes | a ladder of two codes |

Running it again writes the same bytes:

    python -m venv venv && venv/bin/pip install numpy==2.4.6 safetensors==0.8.0
    venv/bin/python crates/cluekit/tests/reference/make.py
"""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

HERE = Path(__file__).parent
VARIANCE_FLOOR = 1e-4
LATENT = 2
# What multiplies z in a decoder.
EARS = ("input.weight", "low.weight", "code.weight")

RUN = """format = 1

[dataset]
name = "{name}"
test_share = 0.2
seed = 3
"""

MIXED = """[target]
name = "outcome"
task = "classification"
classes = ["low", "middle", "high"]

[[features]]
name = "income"
kind = "continuous"
mean = 41.5
deviation = 12.25
least = 3.0
greatest = 99.0

[[features]]
name = "colour"
kind = "categorical"
categories = ["red", "green", "blue"]

[[features]]
name = "rating"
kind = "ordinal"
decimals = 0
mean = 3.5
deviation = 1.5
least = 1.0
greatest = 5.0

[[features]]
name = "member"
kind = "binary"
categories = ["no", "yes"]
"""

REGRESSION = """[target]
name = "price"
task = "regression"
unit = "EUR"
mean = 250.0
deviation = 40.0
least = 90.0
greatest = 610.0
""" + "".join(
    f"""
[[features]]
name = "{name}"
kind = "continuous"
mean = 0.0
deviation = 1.0
least = -4.0
greatest = 4.0
"""
    for name in ("length", "width", "height")
)

IMAGE = """[target]
name = "digit"
task = "classification"
classes = ["0", "1"]

[image]
channels = 3
height = 5
width = 6
maximum = 255.0
"""

SYMBOLS = IMAGE.replace("channels = 3", "channels = 1").replace("height = 5", "height = 6").replace("width = 6", "width = 5")


# Layers


def silu(x):
    return x / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0.0)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def linear(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def residual(x, weights, name, depth):
    h = linear(x, weights, f"{name}.input")
    for i in range(depth):
        h = h + linear(silu(h), weights, f"{name}.blocks.{i}")
    return linear(silu(h), weights, f"{name}.output")


def convolution(x, weight, bias, stride):
    """Padded by half the kernel: output (i, j) sees the inputs around stride times (i, j)."""
    rows, _, height, width = x.shape
    side = weight.shape[-1]
    y = np.zeros((rows, len(weight), -(-height // stride), -(-width // stride)))
    for i in range(y.shape[2]):
        for j in range(y.shape[3]):
            for k in range(side):
                for m in range(side):
                    a, b = stride * i + k - side // 2, stride * j + m - side // 2
                    if 0 <= a < height and 0 <= b < width:
                        y[:, :, i, j] += x[:, :, a, b] @ weight[:, :, k, m].T
    return y + bias[:, None, None]


def halving_convolution(x, weight, bias):
    return convolution(x, weight, bias, 2)


def doubling_convolution(x, weight, bias, size):
    """The transpose: input (i, j) is spread around (2i, 2j)."""
    y = np.zeros((len(x), weight.shape[1], *size))
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            for k in range(3):
                for m in range(3):
                    a, b = 2 * i + k - 1, 2 * j + m - 1
                    if 0 <= a < size[0] and 0 <= b < size[1]:
                        y[:, :, a, b] += x[:, :, i, j] @ weight[:, :, k, m]
    return y + bias[:, None, None]


# Predictors


def outputs_of_samples(x, weights):
    """[S, rows, outputs]: one network after the other."""
    samples = len(weights["layers.0.weight"])
    layers = len(weights) // 2
    result = []
    for s in range(samples):
        h = x
        for i in range(layers):
            own = {name: array[s] for name, array in weights.items()}
            h = linear(h, own, f"layers.{i}")
            h = h if i == layers - 1 else relu(h)
        result.append(h)
    return np.array(result)


def residual_network(x, w, groups, blocks):
    """Post-activation residual blocks, the first of each group of stride 2; then the mean over the image."""

    def normed(name, h, stride):
        h = convolution(h, w[f"{name}.weight"], 0.0 * w[f"{name}.norm.shift"], stride)
        part = {key: w[f"{name}.norm.{key}"][:, None, None] for key in ("scale", "shift", "mean", "variance")}
        return part["scale"] * (h - part["mean"]) / np.sqrt(part["variance"] + 1e-5) + part["shift"]

    h = x
    for group in range(groups):
        for block in range(blocks):
            name, stride = f"groups.{group}.blocks.{block}", 2 if block == 0 else 1
            inner = normed(f"{name}.second", relu(normed(f"{name}.first", h, stride)), 1)
            h = relu((normed(f"{name}.shortcut", h, stride) if block == 0 else h) + inner)
    return linear(h.mean((2, 3)), w, "output")


def entropy(p):
    return -(p * np.log(p)).sum(-1)


def classes(outputs):
    log_probabilities = log_softmax(outputs)
    p = np.exp(log_probabilities)
    total, aleatoric = entropy(p.mean(0)), entropy(p).mean(0)
    return {
        "log_probabilities": log_probabilities,
        "mean": p.mean(0),
        "total": total,
        "aleatoric": aleatoric,
        # The mean divergence of a sample from the mean, rather than a difference of the two above.
        "epistemic": (p * np.log(p / p.mean(0))).sum(-1).mean(0),
    }


def gaussian_head(outputs):
    return outputs[..., 0], np.log1p(np.exp(outputs[..., 1])) + VARIANCE_FLOOR


def values(x, weights, target_mean, target_deviation):
    mean, variance = gaussian_head(outputs_of_samples(x, weights))
    aleatoric, epistemic = variance.mean(0), mean.var(0)
    return {
        "sample_means": mean,
        "sample_variances": variance,
        "mean": mean.mean(0) * target_deviation + target_mean,
        "total": np.sqrt(aleatoric + epistemic) * target_deviation,
        "aleatoric": np.sqrt(aleatoric) * target_deviation,
        "epistemic": np.sqrt(epistemic) * target_deviation,
    }


# Generative models


class Vae:
    """Columns are (start, end, kind) with the kinds gaussian, bernoulli and categorical."""

    def __init__(self, encode, decode, columns, weights):
        self.encoder, self.decoder, self.columns, self.weights = encode, decode, columns, weights

    def code(self, x):
        outputs = self.encoder(x, self.weights)
        return outputs[:, :LATENT], outputs[:, LATENT:]

    def decoded(self, z):
        outputs = self.decoder(z, self.weights)
        mean = np.empty_like(outputs)
        for start, end, kind in self.columns:
            of = {"gaussian": lambda o: o, "bernoulli": sigmoid, "categorical": lambda o: np.exp(log_softmax(o))}[kind]
            mean[:, start:end] = of(outputs[:, start:end])
        return mean

    def negative_log_likelihood(self, x, z, weights=None):
        outputs = self.decoder(z, weights or self.weights)
        total, gaussians = 0.0, 0
        for start, end, kind in self.columns:
            out, own = outputs[:, start:end], x[:, start:end]
            if kind == "gaussian":
                v = np.exp(self.weights["decoder.log_variance"][gaussians : gaussians + end - start])
                gaussians += end - start
                term = 0.5 * ((own - out) ** 2 / v + np.log(2 * np.pi * v))
            elif kind == "bernoulli":
                term = -own * np.log(sigmoid(out)) - (1 - own) * np.log(1 - sigmoid(out))
            else:
                term = -own * log_softmax(out)
            total = total + term.sum(1)
        return total

    def expected(self, x, z):
        mean, log_variance = self.code(x)
        divergence = 0.5 * (mean**2 + np.exp(log_variance) - log_variance - 1).sum(1)
        # A decoder that does not listen to z has an ELBO without noise in it.
        ears = [name for name in self.weights if name.startswith("decoder") and name.endswith(EARS)]
        deaf = self.weights | {name: 0 * self.weights[name] for name in ears}
        return {
            "z": z,
            "code_mean": mean,
            "code_log_variance": log_variance,
            "decoded": self.decoded(z),
            "negative_log_likelihood": self.negative_log_likelihood(x, z),
            "elbo_of_a_deaf_decoder": -self.negative_log_likelihood(x, z, deaf) - divergence,
        }


def residual_vae(columns, depth, weights):
    return Vae(
        lambda x, w: residual(x, w, "encoder", depth), lambda z, w: residual(z, w, "decoder", depth), columns, weights
    )


def convolutional_vae(image, channels, columns, weights):
    sizes = [image[1:]]
    for _ in channels:
        sizes.append(tuple((side + 1) // 2 for side in sizes[-1]))

    def encode(x, w):
        h = x.reshape(len(x), *image)
        for i in range(len(channels)):
            name = f"encoder.convolutions.{i}"
            h = silu(halving_convolution(h, w[f"{name}.weight"], w[f"{name}.bias"]))
        h = silu(linear(h.reshape(len(x), -1), w, "encoder.hidden"))
        return linear(h, w, "encoder.output")

    def decode(z, w):
        h = silu(linear(silu(linear(z, w, "decoder.input")), w, "decoder.hidden"))
        h = h.reshape(len(z), channels[-1], *sizes[-1])
        for i in reversed(range(len(channels))):
            name = f"decoder.convolutions.{i}"
            h = doubling_convolution(h, w[f"{name}.weight"], w[f"{name}.bias"], sizes[i])
            h = silu(h) if i > 0 else h
        return h.reshape(len(z), -1)

    return Vae(encode, decode, columns, weights)


def ladder_vae(image, channels, columns, weights):
    """One block in each group and in each perceptron, one number in each code."""
    sizes = [image[1:]]
    for _ in channels:
        sizes.append(tuple((side + 1) // 2 for side in sizes[-1]))

    def block(h, w, name):
        return h + convolution(silu(h), w[f"{name}.weight"], w[f"{name}.bias"], 1)

    def encode(x, w):
        h = x.reshape(len(x), *image)
        for i in range(len(channels)):
            name = f"encoder.groups.{i}"
            h = halving_convolution(h if i == 0 else silu(h), w[f"{name}.halve.weight"], w[f"{name}.halve.bias"])
            h = block(h, w, f"{name}.blocks.0")
            if i == 0:
                low = linear(silu(h).reshape(len(x), -1), w, "encoder.low")
        high = residual(silu(h).reshape(len(x), -1), w, "encoder", 1)
        return np.stack([high[:, 0], low[:, 0], high[:, 1], low[:, 1]], 1)

    def decode(z, w):
        high, low = z[:, :1], z[:, 1:]
        h = residual(high, w, "decoder", 1).reshape(len(z), channels[-1], *sizes[-1])
        for i in reversed(range(len(channels))):
            name = f"decoder.groups.{i}"
            if i == 0:
                h = h + linear(low, w, "decoder.low").reshape(h.shape)
            code = linear(high, w, f"{name}.code")[:, :, None, None]
            h = block((1 + code[:, : channels[i]]) * h + code[:, channels[i] :], w, f"{name}.blocks.0")
            h = doubling_convolution(silu(h), w[f"{name}.double.weight"], w[f"{name}.double.bias"], sizes[i])
        return h.reshape(len(z), -1)

    return Vae(encode, decode, columns, weights)


# Weights


def drawn(rng, shapes):
    """Weights of a size that keeps activations around 1; exactly the numbers that the file holds."""
    return {name: rng.normal(0.0, deviation(name, shape), shape).astype(np.float32) for name, shape in shapes.items()}


def deviation(name, shape):
    if not name.endswith("weight"):
        return 0.3
    samples = name.startswith(("layers", "groups", "output"))
    return np.sqrt(1.5 / np.prod(shape[2 if samples else 1 :]))


def predictor_shapes(samples, sizes):
    shapes = {}
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        shapes |= {f"layers.{i}.weight": (samples, outputs, inputs), f"layers.{i}.bias": (samples, outputs)}
    return shapes


def linear_shapes(name, inputs, outputs):
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def residual_shapes(inputs, width, depth, gaussians):
    shapes = {}
    for name, first, last in (("encoder", inputs, 2 * LATENT), ("decoder", LATENT, inputs)):
        shapes |= linear_shapes(f"{name}.input", first, width)
        for i in range(depth):
            shapes |= linear_shapes(f"{name}.blocks.{i}", width, width)
        shapes |= linear_shapes(f"{name}.output", width, last)
    return shapes | {"decoder.log_variance": (gaussians,)}


def convolution_shapes(channels, flat, width):
    shapes = {}
    for i, (large, small) in enumerate(pairwise(channels)):
        shapes |= {f"encoder.convolutions.{i}.weight": (small, large, 3, 3), f"encoder.convolutions.{i}.bias": (small,)}
        shapes |= {f"decoder.convolutions.{i}.weight": (small, large, 3, 3), f"decoder.convolutions.{i}.bias": (large,)}
    shapes |= linear_shapes("encoder.hidden", flat, width) | linear_shapes("encoder.output", width, 2 * LATENT)
    return shapes | linear_shapes("decoder.input", LATENT, width) | linear_shapes("decoder.hidden", width, flat)


def residual_network_shapes(samples, image, channels, blocks, outputs):
    shapes = {}
    for group, (inputs, own) in enumerate(pairwise([image[0], *channels])):
        for block in range(blocks):
            before = inputs if block == 0 else own
            parts = {"first": (before, 3), "second": (own, 3)} | ({"shortcut": (before, 1)} if block == 0 else {})
            for part, (before, side) in parts.items():
                name = f"groups.{group}.blocks.{block}.{part}"
                shapes[f"{name}.weight"] = (samples, own, before, side, side)
                shapes |= {f"{name}.norm.{key}": (samples, own) for key in ("scale", "shift", "mean", "variance")}
    return shapes | {"output.weight": (samples, outputs, channels[-1]), "output.bias": (samples, outputs)}


def ladder_shapes(image, channels, flats, width):
    shapes = {}
    for i, (large, small) in enumerate(pairwise([image[0], *channels])):
        for side, part, outputs in (("encoder", "halve", small), ("decoder", "double", large)):
            name = f"{side}.groups.{i}"
            shapes |= {f"{name}.{part}.weight": (small, large, 3, 3), f"{name}.{part}.bias": (outputs,)}
            shapes |= {f"{name}.blocks.0.weight": (small, small, 3, 3), f"{name}.blocks.0.bias": (small,)}
        shapes |= linear_shapes(f"decoder.groups.{i}.code", 1, 2 * small)
    shapes |= linear_shapes("encoder.low", flats[0], 2) | linear_shapes("decoder.low", 1, flats[0])
    for name, first, last in (("encoder", flats[1], 2), ("decoder", 1, flats[1])):
        shapes |= linear_shapes(f"{name}.input", first, width) | linear_shapes(f"{name}.blocks.0", width, width)
        shapes |= linear_shapes(f"{name}.output", width, last)
    return shapes


# Losses and optimisers


def formulas(rng):
    outputs = singles(rng.normal(0.0, 1.0, (4, 3)))
    labels = [2, 0, 1, 1]
    targets = singles(rng.normal(0.0, 1.0, 4))
    mean, variance = gaussian_head(outputs[:, :2])
    start = singles(rng.normal(0.0, 1.0, 3))
    gradients = singles(rng.normal(0.0, 3.0, (5, 3)))
    return {
        "loss": {
            "outputs": outputs,
            "labels": labels,
            "of_classes": -log_softmax(outputs)[np.arange(4), labels].sum(),
            "targets": targets,
            "of_values": (0.5 * np.log(variance) + 0.5 * (targets - mean) ** 2 / variance).sum(),
        },
        "start": start,
        "gradients": gradients,
        "adam": adam(start, gradients, 0.05, 0.1),
        "sghmc": sghmc(start, gradients, 1.0, 0.3, adapting=3),
    }


def adam(start, gradients, rate, decay):
    """AdamW: the place after every step."""
    theta, m, v, places = start, 0.0, 0.0, []
    for t, g in enumerate(gradients, 1):
        theta = theta - rate * decay * theta
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        theta = theta - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        places.append(theta)
    return {"learning_rate": rate, "weight_decay": decay, "places": places}


def sghmc(start, gradients, step, friction, adapting):
    """The place after every step. The step is so long that the variance of the noise, 2 e^2 a V^(-1/2) - e^4, is 0."""
    theta, momentum = start, np.zeros(3)
    window, mean, square, places = np.ones(3), np.zeros(3), np.ones(3), []
    for t, g in enumerate(gradients, 1):
        if t <= adapting:
            # Never shorter than the steps so far, up to 100.
            window = np.maximum(window * (1 - mean**2 / square) + 1, min(t, 100))
            mean = mean + (g - mean) / window
            square = square + (g**2 - square) / window
        rate = step**2 / (np.sqrt(square) + 1e-6)
        assert (2 * friction * rate < step**4).all(), "there would be noise"
        momentum = (1 - friction) * momentum - rate * g
        theta = theta + momentum
        places.append(theta)
    return {"step": step, "friction": friction, "adapting": adapting, "places": places, "squares": square}


# Files


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, np.ndarray)):
        return [plain(item) for item in value]
    return value if isinstance(value, int) else round(float(value), 9)


def write_json(path, value):
    path.write_text(json.dumps(plain(value)).replace('], "', '],\n"') + "\n")


def singles(array):
    """Rounded to what an f32 holds, so that both sides start from the same numbers."""
    return array.astype(np.float32).astype(float)


def write_run(name, schema, expected, **weights):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    (folder / "run.toml").write_text(RUN.format(name=f"{name}.csv"))
    (folder / "schema.toml").write_text(schema)
    for file, arrays in weights.items():
        save_file(arrays, folder / f"{file}.safetensors")
    write_json(folder / "expected.json", expected)


def doubles(weights):
    return {name: array.astype(float) for name, array in weights.items()}


def main():
    rng = np.random.default_rng(20220111)

    x = np.zeros((5, 6))
    x[:, [0, 4]] = singles(rng.normal(0.0, 1.2, (5, 2)))
    x[np.arange(5), [1, 3, 2, 1, 3]] = 1.0
    x[:, 5] = [0, 1, 1, 0, 1]
    predictor = drawn(rng, predictor_shapes(4, [6, 5, 4, 3]))
    generative = drawn(rng, residual_shapes(6, 5, 2, 2))
    columns = [(0, 1, "gaussian"), (1, 4, "categorical"), (4, 5, "gaussian"), (5, 6, "bernoulli")]
    vae = residual_vae(columns, 2, doubles(generative))
    expected = {"x": x, **classes(outputs_of_samples(x, doubles(predictor)))}
    expected |= vae.expected(x, singles(rng.normal(0.0, 1.0, (5, LATENT))))
    write_run("mixed", MIXED, expected, predictor=predictor, generative=generative)

    x = singles(rng.normal(0.0, 1.2, (5, 3)))
    predictor = drawn(rng, predictor_shapes(3, [3, 6, 2]))
    generative = drawn(rng, residual_shapes(3, 4, 1, 3))
    vae = residual_vae([(0, 3, "gaussian")], 1, doubles(generative))
    expected = {"x": x, **values(x, doubles(predictor), 250.0, 40.0)}
    expected |= vae.expected(x, singles(rng.normal(0.0, 1.0, (5, LATENT))))
    write_run("regression", REGRESSION, expected, predictor=predictor, generative=generative)

    x = singles(rng.uniform(0.0, 1.0, (3, 90)))
    generative = drawn(rng, convolution_shapes([3, 2, 4], 16, 6))
    vae = convolutional_vae((3, 5, 6), [2, 4], [(0, 90, "bernoulli")], doubles(generative))
    expected = {"x": x, **vae.expected(x, singles(rng.normal(0.0, 1.0, (3, LATENT))))}
    write_run("image", IMAGE, expected, generative=generative)

    write_json(HERE / "formulas.json", formulas(rng))

    # With random numbers of its own, so that the folders above stay as they are.
    rng = np.random.default_rng(20201019)
    image, channels = (1, 6, 5), [2, 3]
    x = singles(rng.uniform(0.0, 1.0, (4, 30)))
    predictor = drawn(rng, residual_network_shapes(2, image, channels, 2, 2))
    for name in predictor:
        if name.endswith(("scale", "variance")):
            predictor[name] = (1 + np.abs(predictor[name])).astype(np.float32)
    members = [{name: array[s] for name, array in doubles(predictor).items()} for s in range(2)]
    outputs = np.array([residual_network(x.reshape(4, *image), member, 2, 2) for member in members])
    generative = drawn(rng, ladder_shapes(image, channels, (2 * 3 * 3, 3 * 2 * 2), 5))
    vae = ladder_vae(image, channels, [(0, 30, "bernoulli")], doubles(generative))
    expected = {"x": x, **classes(outputs), **vae.expected(x, singles(rng.normal(0.0, 1.0, (4, LATENT))))}
    write_run("symbols", SYMBOLS, expected, predictor=predictor, generative=generative)


if __name__ == "__main__":
    main()
