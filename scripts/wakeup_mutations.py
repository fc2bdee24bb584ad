#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes each wake, subscription and re-arm of the wake-up contract once (docs/design/engine.md) and expects the engine tests
tagged [wakeup] to fail. The removals are rows of testbench/mutants/wakeups/engine.toml, in the form of the model's mistakes
(scripts/write_mistakes.py); one copy of the sources has them all, and an environment variable says which is made. Prints what
each removal drew; exits with 1 if one went unnoticed.

    scripts/wakeup_mutations.py [--only TEXT] [--jobs N] [--cxx g++] [--places]
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import write_mistakes

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINE, TESTS = "model/engine/", "testbench/tests/engine/"
ROWS, REMOVED = "testbench/mutants/wakeups", "testbench/mutants/removed.h"
SOURCES = [ENGINE + "domain.cpp", ENGINE + "run.cpp", ENGINE + "probe.cpp", TESTS + "test_chip.cpp",
           TESTS + "same_results_test.cpp", "testbench/tests/catch_main.cpp", "testbench/tests/catch_session.cpp"]


def sources_with_removals():
    return write_mistakes.texts_with_mistakes(
        ROOT, ROWS, lambda name, file: f'::hca::mutants::is_removed("{name}")', f'#include "{REMOVED}"\n')


class Workshop:
    def __init__(self, folder, cxx):
        self.tree, self.cxx = pathlib.Path(folder), cxx

    def build(self, jobs):
        for part in (ENGINE, TESTS):
            shutil.copytree(ROOT / part, self.tree / part)
        for file in ("model/proto/types.h", "testbench/tests/catch_session.h", REMOVED, *SOURCES):
            (self.tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.tree / file)
        for file, text in sources_with_removals().items():
            (self.tree / file).write_text(text)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            objects = list(pool.map(self.compile, SOURCES))
        subprocess.run([self.cxx, *map(str, objects), "-o", str(self.tree / "engine_tests")], check=True)

    def compile(self, source):
        target = self.tree / (source.replace("/", "_") + ".o")
        command = [self.cxx, "-std=c++20", "-O1", "-w", f"-I{self.tree}", "-c", str(self.tree / source), "-o", str(target)]
        subprocess.run(command, check=True)
        return target

    def judge(self, name):
        try:
            done = subprocess.run([str(self.tree / "engine_tests"), "[wakeup]"], capture_output=True, text=True, timeout=120,
                                  env=os.environ | {"REMOVED_WAKE": name}, check=False)
        except subprocess.TimeoutExpired:
            return 1, "", "ran for more than 120 s"
        return done.returncode, done.stdout, done.stderr


def message(out, err):
    """What stood still since when, the broken invariant, or the first difference that the test names."""
    drew = []
    if "all blocks sleep, but the work is not done" in err:
        oldest = re.search(r"since cycle \d+: .*", err)
        drew.append("all sleep" + (", " + oldest.group() if oldest else ""))
    if broken := re.search(r"^cycle \d+, block .*$", err, re.M):
        drew.append(broken.group())
    if not drew and (difference := re.search(r'^\s*"((?:plain|quantum|hosts|domains|every)[^"]*)', out, re.M)):
        drew.append("; ".join(line.strip() for line in difference.group(1).splitlines()[:3]))
    return " | ".join(drew) or " ".join((out + err).split())[-200:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="removals whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--places", action="store_true", help="only see whether each place is there")
    args = parser.parse_args()
    chosen = [(row["rule"], row["name"]) for _, _, row in write_mistakes.rows_of(ROOT, ROWS) if args.only in row["name"]]
    if args.places:
        sources_with_removals()
        print(f"{len(chosen)} places")
        return 0 if chosen else 1
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        workshop = Workshop(folder, args.cxx)
        workshop.build(args.jobs)
        code, out, err = workshop.judge("none")
        if code:
            raise SystemExit(f"the tests fail without any removal:\n{out}{err}")
        unnoticed = 0
        for (rule, name), (code, out, err) in zip(chosen, pool.map(workshop.judge, [name for _, name in chosen])):
            drew = message(out, err) if code else "NOT NOTICED"
            unnoticed += code == 0
            print(f"rule {rule:2}  {name:52}  {drew}", flush=True)
    print(f"{len(chosen)} removals, {len(chosen) - unnoticed} noticed")
    return 1 if unnoticed or not chosen else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except write_mistakes.Refused as error:
        sys.exit(f"wakeup_mutations.py: {error}")
