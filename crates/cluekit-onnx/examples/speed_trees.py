"""A random forest of 300 trees answers about rows, on one thread and in turns with ONNX Runtime.

    python speed_trees.py path/to/the/built/example/speed path/to/UCI_Credit_Card.csv.gz [rows at once …]
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import pandas
from skl2onnx import to_onnx
from sklearn.ensemble import RandomForestClassifier

speed, data, *pieces = sys.argv[1:]
table = pandas.read_csv(data)
x, y = table.iloc[:, 1:-1].to_numpy(np.float32), table.iloc[:, -1].to_numpy()
chosen = np.random.default_rng(0).permutation(len(y))[:24000]
x, y = np.ascontiguousarray(x[chosen]), y[chosen]
forest = RandomForestClassifier(300, n_jobs=-1, random_state=0).fit(x, y)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder)
    (path / "forest.onnx").write_bytes(to_onnx(forest, x[:1], options={"zipmap": False}).SerializeToString())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path / "forest.onnx"), options, providers=["CPUExecutionProvider"])
    for rows in map(int, pieces or [len(x)]):
        piece = x[:rows]
        piece.tofile(path / "rows")
        own = subprocess.Popen([speed, "rows", str(path / "forest.onnx"), str(path / "rows"), str(x.shape[1])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        times = {"ONNX Runtime": [], "cluekit": []}
        for turn in range(7):
            start = time.perf_counter()
            [answer] = session.run(["probabilities"], {"X": piece})
            times["ONNX Runtime"].append(1e3 * (time.perf_counter() - start))
            own.stdin.write("\n")
            own.stdin.flush()
            took, squares = map(float, own.stdout.readline().split())
            expected = (answer.astype(np.float64) ** 2).sum()
            assert abs(squares - expected) < 1e-5 * expected, (squares, expected)
            times["cluekit"].append(took)
        own.stdin.close()
        own.wait()
        each = {name: 1e3 * rows / statistics.median(all[1:]) for name, all in times.items()}
        print(f"{rows} rows at once: ONNX Runtime {each['ONNX Runtime']:,.0f} rows a second, cluekit {each['cluekit']:,.0f}, ratio {each['cluekit'] / each['ONNX Runtime']:.2f}")
