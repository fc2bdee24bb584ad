#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes each wake-up of the engine, or of the blocks, once (docs/design/engine.md) and expects their tests to fail.

    scripts/try_wakeups.py engine|blocks [--only TEXT] [--jobs N] [--cxx g++] [--places]

Which ones: mistaken_wakeups.py. All are compiled into one copy of the sources, and an environment variable says which
of them is removed. Prints what each removal drew; exits with 1 if one went unnoticed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from mistake_form import Refused
from mistaken_wakeups import SUBJECTS, Wakeups

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINE, BLOCKS = "model/engine/", "model/blocks/"
ENGINE_TESTS, BLOCK_TESTS = "testbench/tests/engine/", "testbench/tests/blocks/"
SHARED = ["testbench/mutants/removed.h", "testbench/tests/catch_session.h", "testbench/tests/catch_session.cpp",
          "testbench/tests/catch_main.cpp"]


class Engine:
    folders = [ENGINE, ENGINE_TESTS]
    files = ["model/proto/types.h", *SHARED]
    compiled = {ENGINE + "domain.cpp", ENGINE + "run.cpp", ENGINE + "probe.cpp", ENGINE_TESTS + "test_chip.cpp",
                ENGINE_TESTS + "same_results_test.cpp"}
    judges = [("[wakeup]", 120)]

    @staticmethod
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


class Blocks:
    folders = [BLOCKS, ENGINE, BLOCK_TESTS, "model/proto/", "model/device/"]
    files = ["model/systemc/hca.cpp", *SHARED]
    compiled = None  # all of the folders
    # The tests that judge, the quickest first, and the processor time in seconds after which one hangs: a removal is
    # noticed when one of them fails.
    judges = [("~[wakeup]~[hash]~[timing]~[moments]~[slow]", 30), ("[wakeup][hash]", 30), ("[wakeup]~[hash]~[slow]", 60),
              ("[moments]", 60), ("[timing]", 60), ("[wakeup][slow]", 90), ("[hash]~[wakeup]~[slow]", 90),
              ("[slow]~[wakeup]", 600)]

    @staticmethod
    def message(out, err):
        """The broken invariant, who waits since when, or the test that failed."""
        if broken := re.search(r"^cycle \d+, block .*$", err, re.M):
            return broken.group()
        if oldest := re.search(r"since cycle \d+: .*", out):
            return "all sleep, " + oldest.group()
        name = re.search(r"^-{70,}\n((?:(?!-{70,}).+\n)+)-{70,}", out, re.M)
        return "fails: " + " ".join((name.group(1) if name else (out + err)[-120:]).split())


SETS = dict(zip(SUBJECTS, (Engine, Blocks)))
# The memory of a chip that is gone serves the next one: most of the time of a test is new pages otherwise.
MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "4000000000"}


class Workshop:
    def __init__(self, folder, cxx, subject):
        self.tree, self.cxx, self.subject = pathlib.Path(folder), cxx, subject

    def prepare(self, texts):
        """A copy of the sources with all removals in them."""
        for part in self.subject.folders:
            shutil.copytree(ROOT / part, self.tree / part)
        for file in self.subject.files:
            (self.tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.tree / file)
        for file, text in texts.items():
            (self.tree / file).write_text(text)

    def compile(self, source):
        target = self.tree / (source.replace("/", "_") + ".o")
        subprocess.run([self.cxx, "-std=c++20", "-O1", "-w", f"-I{self.tree}", f'-DHCA_SOURCE_DIR="{ROOT}"', "-c",
                        str(self.tree / source), "-o", str(target)], check=True)
        return target

    def build(self, jobs):
        found = [path.relative_to(self.tree).as_posix() for part in self.subject.folders for path in sorted((self.tree / part).rglob("*.cpp"))]
        sources = [file for file in found if not self.subject.compiled or file in self.subject.compiled]
        sources += [file for file in SHARED if file.endswith(".cpp")]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            objects = list(pool.map(self.compile, sources))
        subprocess.run([self.cxx, *map(str, objects), "-lisal", "-o", str(self.tree / "tests")], check=True)

    def judge(self, place):
        """What the first judge that fails says; nothing if none does."""
        for tests, seconds in self.subject.judges:
            try:
                done = subprocess.run(["prlimit", f"--cpu={seconds}:", str(self.tree / "tests"), "--abort", tests],
                                      capture_output=True, text=True, check=False, timeout=10 * seconds,
                                      env=os.environ | MEMORY | {"REMOVED_WAKE": place})
            except subprocess.TimeoutExpired:
                return f"waited for more than {10 * seconds} s"
            if done.returncode == -signal.SIGXCPU:
                return f"ran for more than {seconds} s"
            if done.returncode:
                return self.subject.message(done.stdout, done.stderr)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--only", default="", help="removals whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--places", action="store_true", help="only find the places")
    args = parser.parse_args()
    wakeups = Wakeups(ROOT, args.subject)
    chosen = [name for name in wakeups.names if args.only in name]
    if args.places:
        print(f"{len(chosen)} places")
        return 0 if chosen else 1
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        workshop = Workshop(folder, args.cxx, SETS[args.subject])
        workshop.prepare(wakeups.texts)
        workshop.build(args.jobs)
        if failed := workshop.judge("none"):
            raise SystemExit(f"the tests fail without any removal: {failed}")
        unnoticed = 0
        for name, drew in zip(chosen, pool.map(workshop.judge, chosen)):
            unnoticed += drew is None
            print(f"{wakeups.names[name] + name:88}  {drew or 'NOT NOTICED'}", flush=True)
    print(f"{len(chosen)} removals, {len(chosen) - unnoticed} noticed")
    return 1 if unnoticed or not chosen else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as error:
        sys.exit(f"try_wakeups.py: {error}")
