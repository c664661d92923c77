"""A step of ResNet-18 on 32 x 32 images, forward and back to the input, in turns with PyTorch.

    python speed.py path/to/the/built/example/speed [rows] [threads]
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests/fixtures"))
sys.argv, arguments = sys.argv[:1] + ["no fixture"], sys.argv[1:]
import make  # noqa: E402

rows = int(arguments[1]) if len(arguments) > 1 else 32
threads = int(arguments[2]) if len(arguments) > 2 else 1
torch.set_num_threads(threads)
model = make.fresh(lambda: make.resnet((64, 128, 256, 512))).eval().requires_grad_(False)
values = (torch.arange(rows * 3 * 32 * 32) * 37 % 101).float() / 101
with tempfile.TemporaryDirectory() as folder:
    path = f"{folder}/resnet18.onnx"
    torch.onnx.export(model, (torch.zeros(2, 3, 32, 32),), path, dynamo=False, opset_version=17, input_names=["x"], dynamic_axes={"x": {0: "rows"}})
    own = subprocess.Popen([arguments[0], "steps", path, str(rows), "3", "32", "32", str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    times = {"PyTorch": [], "cluekit": []}
    for turn in range(12):
        start = time.perf_counter()
        x = values.reshape(rows, 3, 32, 32).clone().requires_grad_(True)
        model(x).sum().backward()
        length = float((x.grad**2).sum())
        times["PyTorch"].append(1e3 * (time.perf_counter() - start))
        own.stdin.write("\n")
        own.stdin.flush()
        took, other = map(float, own.stdout.readline().split())
        assert abs(other - length) < 1e-3 * length, (length, other)
        times["cluekit"].append(took)
    own.stdin.close()
middle = {name: statistics.median(all[2:]) for name, all in times.items()}
print(f"{rows} rows, {threads} threads: PyTorch {middle['PyTorch']:.1f} ms, cluekit {middle['cluekit']:.1f} ms, ratio {middle['PyTorch'] / middle['cluekit']:.2f}")
