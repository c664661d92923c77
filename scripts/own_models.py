"""Runs the examples of docs/own-model.md as a reader would: Python blocks write models, shell blocks adopt them. Behind
them come those of the section "From PyTorch" of docs/run-folder.md.

    python scripts/own_models.py path/to/clue [heading …]

All sections share one folder, in which the first block leaves a table. A block that fails ends the run with its output.
Python blocks run in the Python that runs this script.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
RUN = re.compile(r"^(##+ .+?)\n|^```(python|sh)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def blocks():
    """Section, language and text of each block."""
    for page in ("own-model.md", "run-folder.md"):
        section = ""
        for heading, language, text in RUN.findall((DOCS / page).read_text()):
            if heading:
                section = heading.lstrip("# ")
            elif page == "own-model.md" or section == "From PyTorch":
                yield f"{page}, {section}", language, text


def main():
    clue, wanted = pathlib.Path(sys.argv[1]).resolve(), [name.lower() for name in sys.argv[2:]]
    surroundings = os.environ | {"PATH": f"{clue.parent}{os.pathsep}{os.environ['PATH']}"}
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for at, (section, language, text) in enumerate(blocks()):
            if at > 0 and wanted and not any(name in section.lower() for name in wanted):
                continue
            command = [sys.executable, "-W", "ignore", "-c", text] if language == "python" else ["bash", "-ec", text]
            start = time.perf_counter()
            done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=900)
            print(f"{section}: {language} block {'failed' if done.returncode else 'passed'}, {time.perf_counter() - start:.0f} s")
            if done.returncode or language == "sh":
                print("    " + (done.stderr + done.stdout).strip().replace("\n", "\n    "))
            if done.returncode:
                sys.exit(f"docs/{section}: a block ended with {done.returncode}:\n{text}")
            passed += 1
    print(f"{passed} passed, 0 failed")


main()
