#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The program of the preset `program` lacks its parts and builds one when it is first used: check_parts.py ROOT

In a build folder of its own, which is removed: one line says what is built, the command then does what it was asked for, and the
second time it does so at once. No other part is built."""
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)


def wants(holds, what, done):
    if not holds:
        sys.exit(f"{what}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="hca-") as folder:
        build, out = pathlib.Path(folder) / "build", pathlib.Path(folder) / "out"
        for command in ("cmake", "--preset", "program", "-B", build), ("cmake", "--build", build, "--target", "hca"):
            wants((done := run(*command, cwd=root)).returncode == 0, "the build", done)
        hca = build / "hca"
        done = run(hca, "docs", "--out", out)
        line = f'hca: hca docs needs the part "docs" of this program, which is built now that it is first used, in about a minute: scripts/part.sh {build} docs\n'
        wants(done.returncode == 0 and done.stderr.startswith(line) and (out / "knobs.md").exists(), "the first hca docs", done)
        done = run(hca, "docs", "--out", out)
        wants(done.returncode == 0 and not done.stderr, "the second hca docs", done)
        wants(not re.search("replay|rtl", (build / "CMakeCache.txt").read_text().split("HCA_PARTS:")[1].split("\n")[0]), "other parts", done)
        done = run(hca, "docs", "--out", out, "--no-such-option")
        wants(done.returncode == 2 and "--no-such-option" in done.stderr, "a wrong option", done)
    print("the part was built when it was first used")


if __name__ == "__main__":
    main()
