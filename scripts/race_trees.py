"""Clues of a random forest and of five boosters on UCI Credit, beside the certain training row of least cost.

    python scripts/race_trees.py path/to/clue path/to/UCI_Credit_Card.csv.gz [seed]

Trains scikit-learn's forest of 300 trees and LightGBM's boosters on nine tenths of the rows, adopts both, audits them, and
explains the 200 most uncertain of the other rows with the settings that `clue explain` has by itself. The cost is
H + 0.03 d, with d the l1 distance between encoded rows.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import tomllib

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from onnxmltools import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType as BoosterInput
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.ensemble import RandomForestClassifier

ROWS, LAMBDA = 200, 0.03
clue, data = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
table = pd.read_csv(data).drop(columns="ID").rename(columns={"default.payment.next.month": "late"})
order = np.random.default_rng(seed).permutation(len(table))
train, test = table.iloc[order[:27000]], table.iloc[order[27000:]]
x, y = train.drop(columns="late").astype(float), train["late"]


def encoded(rows, schema):
    columns = []
    for feature in schema["features"]:
        values = rows[feature["name"]]
        if "mean" in feature:
            columns.append((values - feature["mean"]) / feature["deviation"])
        else:
            words = feature["categories"][1:] if feature["kind"] == "binary" else feature["categories"]
            columns += [(values.astype(str) == word).astype(float) for word in words]
    return np.stack([column.to_numpy(np.float32) for column in columns], 1)


def entropy(p):
    p = np.clip(p, 1e-12, 1)
    return -(p * np.log(p)).sum(-1)


def race(name, files, probabilities, folder):
    start = time.perf_counter()
    run = ["--data", "train.csv", "--test", "test.csv", "--target", "late", "--out", name, "-q"]
    subprocess.run([clue, "adopt", "--predictor", *files, *run], cwd=folder, check=True)
    subprocess.run([clue, "audit", name, "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    audited = time.perf_counter() - start
    explain = [clue, "explain", name, "--method", "clue", "--out", "clues", "-q"]
    subprocess.run([*explain, "--top", "1"], cwd=folder, stdout=subprocess.DEVNULL)  # what is kept in the run is made once
    start = time.perf_counter()
    subprocess.run([*explain, "--top", str(ROWS)], cwd=folder, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    document = json.loads((folder / "clues/explanations.json").read_text())
    schema = tomllib.loads((folder / name / "schema.toml").read_text())
    h, rows, below = entropy(probabilities), encoded(train, schema), document["settings"]["threshold"]
    ours, row = [], []
    for explanation in document["explanations"]:
        costs = [c["uncertainty"]["total"] + LAMBDA * c["distance"]["input"] for c in explanation["clues"] if c["accepted"]]
        if costs:
            ours.append(min(costs))
            distance = np.abs(rows - np.array(explanation["input"]["x"], np.float32)).sum(1)
            row.append(np.where(h < below, h + LAMBDA * distance, np.inf).min())
    print(
        f"{name}: {100 * len(ours) / len(document['explanations']):.1f} % accepted below {below:.2f}, cost {np.mean(ours):.4f}, "
        f"row of least cost {np.mean(row):.4f}, ratio {np.mean(ours) / np.mean(row):.3f}; adopt and audit {audited:.0f} s, "
        f"{1000 * seconds / ROWS:.0f} ms an input with the start of the program"
    )


with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    forest = RandomForestClassifier(300, random_state=seed, n_jobs=2).fit(x, y)
    file = to_onnx(forest, initial_types=[("x", FloatTensorType([None, 23]))], options={"zipmap": False})
    (folder / "forest.onnx").write_bytes(file.SerializeToString())
    boosters = []
    for member in range(5):
        settings = dict(n_estimators=100, subsample=0.7, subsample_freq=1, colsample_bytree=0.8, verbose=-1, n_jobs=2)
        boosters.append(LGBMClassifier(random_state=100 * seed + member, **settings).fit(x, y))
        file = convert_lightgbm(boosters[-1], initial_types=[("x", BoosterInput([None, 23]))], zipmap=False)
        (folder / f"booster_{member}.onnx").write_bytes(file.SerializeToString())
    race("forest", ["forest.onnx"], forest.predict_proba(x), folder)
    race("boosters", ["booster_*.onnx"], np.mean([booster.predict_proba(x) for booster in boosters], 0), folder)
