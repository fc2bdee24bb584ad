#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes each wake-up of the blocks once (docs/design/engine.md) and expects their tests to fail.

Places are found, so that none is forgotten: each call that arranges a tick (wake, wake_at, wake_when_free) in
model/blocks and model/systemc/hca.cpp; and by name each reader of a link or mailbox, each writer that a full link refuses and
each taker that an empty budget refuses. All are compiled into one copy of the sources, and an environment variable says
which of them is removed. Prints what each removal drew; exits with 1 if one went unnoticed.

    scripts/block_wakeups.py [--only TEXT] [--jobs N] [--cxx g++] [--places]
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCKS, ENGINE, TESTS = "model/blocks/", "model/engine/", "testbench/tests/blocks/"
PARTS = [BLOCKS, ENGINE, TESTS, "model/proto/", "model/device/"]
FILES = ["model/systemc/hca.cpp", "testbench/tests/catch_session.h", "testbench/tests/catch_session.cpp",
         "testbench/tests/catch_main.cpp"]

# The tests that judge, the quickest first, and the processor time in seconds after which one hangs: a removal is
# noticed when one of them fails.
JUDGES = [("~[wakeup]~[hash]~[timing]~[moments]~[slow]", 30), ("[wakeup][hash]", 30), ("[wakeup]~[hash]~[slow]", 60),
          ("[moments]", 60), ("[timing]", 60), ("[wakeup][slow]", 90), ("[hash]~[wakeup]~[slow]", 90),
          ("[slow]~[wakeup]", 600)]
# The memory of a chip that is gone serves the next one: most of the time of a test is new pages otherwise.
MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "4000000000"}

# What asks for room or wakes without a name of its own in chip.cpp; by name in `connect`.
CALL = re.compile(r"(?<!void )(?:\b[\w\.]+(?:\([^()]*\))?(?:\.|->))*\b(wake|wake_at|wake_when_free|wake_from_outside)\(")
NAMED = re.compile(r"\b(?:connect|connect_through|add_client)\((?:[^;\"]|\n)*?\"([^\"]+)\"\)", re.S)

# Links whose writer never asks for room: it has reserved it.
RESERVED = {
    "command DMA": "one command at a time",
    "turns without reads": "a turn has its buffer",
    "request packets without reads": "a packet has its buffer",
    "fetched turns": "a turn has its buffer",
    "receive WQEs": "a batch has its room",
}

# Links and budgets whose names are put together: all that end so.
SEVERAL = ["reader of ATOMIC value", "taker of *'s packet buffers", "taker of *'s response buffers",
           "taker of * cache misses"]

REMOVED = """
#include <string_view>
namespace hca::engine {
inline const char* const kRemoved = std::getenv("REMOVED_WAKE") ? std::getenv("REMOVED_WAKE") : "";
inline bool removed(const char* place) { return std::string_view(place) == kRemoved; }
inline bool removed(const char* kind, const char* name) {
  const std::string_view all(kRemoved), k(kind), n(name);
  if (!all.starts_with(k)) return false;
  const std::string_view rest = all.substr(k.size());
  return rest.starts_with('*') ? n.ends_with(rest.substr(1)) : n == rest;
}
// Not of what stands in a test for the neighbours of a block.
inline bool reader_removed(const char* name, std::string_view reader) {
  return reader != "taker" && reader != "memory" && removed("reader of ", name);
}
}
"""
# How a link, a mailbox and a budget lose a wake-up by their name.
ENGINE_CHANGES = [
    ("cycle.h", "namespace hca::engine {", REMOVED + "namespace hca::engine {"),
    ("link.h", "domain_ = writer.domain,", "if (reader_removed(name, reader.name())) reader.block = 0;\n"
     "quiet_ = removed(\"writer of \", name);\ndomain_ = writer.domain,"),
    ("link.h", "      return true;\n    wake_when_free();", "      return true;\n    if (!quiet_) wake_when_free();"),
    ("link.h", "  std::array<Slot, kCapacity> own_{};", "  bool quiet_ = false;\n  std::array<Slot, kCapacity> own_{};"),
    ("mailbox.h", "reader_ = reader,", "if (reader_removed(name, reader.name())) reader.block = 0;\nreader_ = reader,"),
    ("budget.h", "taker_ = taker,", "quiet_ = removed(\"taker of \", name);\ntaker_ = taker,"),
    ("budget.h", "    if (!pending_)\n", "    if (quiet_) return false;\n    if (!pending_)\n"),
    ("budget.h", "  Waker taker_;", "  bool quiet_ = false;\n  Waker taker_;"),
]


def closing(text, opening):
    """The index behind the parenthesis that closes the one at `opening`."""
    depth = 0
    for i in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return i + 1
    raise SystemExit("a parenthesis is not closed")


def function_of(text, at):
    """The function that holds text[at], for a person."""
    heads = re.findall(r"^[\w:&<>\*\[\] ]*?(\w+)\([^;{]*\)[^;{}]*\{", text[:at], re.M)
    return heads[-1] if heads else "?"


def mark(text, file, places):
    """`text` with each wake-up in it made removable; their names go to `places`."""
    out, at, count = [], 0, {}
    for call in CALL.finditer(text):
        line = text[text.rfind("\n", 0, call.start()) + 1:call.start()]
        if "//" in line or call.start() < at:
            continue
        end = closing(text, call.end() - 1)
        expression = text[call.start():end]
        name = f"{pathlib.Path(file).name} {function_of(text, call.start())}: {' '.join(expression.split())}"
        count[name] = count.get(name, 0) + 1
        if count[name] > 1:
            name += f" ({count[name]})"
        places.append(name)
        out += [text[at:call.start()], f'(hca::engine::removed("{name}") ? void() : {expression})']
        at = end
    return "".join(out) + text[at:]


def replace_once(path, old, new):
    text = path.read_text()
    if text.count(old) != 1:
        raise SystemExit(f"{path.name}: {text.count(old)} places look like: {old}")
    path.write_text(text.replace(old, new))


class Workshop:
    def __init__(self, folder, cxx):
        self.tree, self.cxx = pathlib.Path(folder), cxx

    def prepare(self):
        """A copy of the sources with all places marked; returns their names."""
        for part in PARTS:
            shutil.copytree(ROOT / part, self.tree / part)
        for file in FILES:
            (self.tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.tree / file)
        places = []
        sources = sorted((self.tree / BLOCKS).rglob("*.cpp")) + sorted((self.tree / BLOCKS).rglob("*.h"))
        for path in [*sources, self.tree / "model/systemc/hca.cpp"]:
            path.write_text(mark(path.read_text(), path.name, places))
        for file, old, new in ENGINE_CHANGES:
            replace_once(self.tree / ENGINE / file, old, new)
        return places + self.named()

    def named(self):
        """Links, mailboxes and budgets by the names that chip.cpp gives them."""
        text = (self.tree / BLOCKS / "chip.cpp").read_text()
        names = [m.group(1) for m in NAMED.finditer(text)]
        budgets = set(re.findall(r"(?:turns|buffers|responses)\.connect\([^\"]*\"([^\"]+)\"", text))
        # A link that dma writes never refuses: its reader has reserved the room.
        reserved = set(RESERVED) | set(re.findall(r"\.connect\(\s*dma\.self,[^\"]*\"([^\"]+)\"", text))
        reserved |= set(re.findall(r"connect\(dma, [^\"]*\"([^\"]+)\"", text))
        mail = set(re.findall(r"\w+_in\.connect\([\w\.]+\.self, \"([^\"]+)\"", text))
        places = list(SEVERAL)
        for name in dict.fromkeys(names):
            if name in budgets:
                places.append("taker of " + name)
                continue
            places.append("reader of " + name)
            if name not in reserved | mail:
                places.append("writer of " + name)
        return places

    def compile(self, source):
        target = self.tree / (source.replace("/", "_") + ".o")
        subprocess.run([self.cxx, "-std=c++20", "-O1", "-w", f"-I{self.tree}", f'-DHCA_SOURCE_DIR="{ROOT}"', "-c",
                        str(self.tree / source), "-o", str(target)], check=True)
        return target

    def build(self, jobs):
        files = [str(p.relative_to(self.tree)) for part in PARTS
                 for p in sorted((self.tree / part).rglob("*.cpp"))]
        files += [f for f in FILES if f.endswith(".cpp") and f != "model/systemc/hca.cpp"]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            objects = list(pool.map(self.compile, files))
        subprocess.run([self.cxx, *map(str, objects), "-lisal", "-o", str(self.tree / "tests")],
                       check=True)

    def judge(self, place):
        """What the first judge that fails says; nothing if none does."""
        for tests, seconds in JUDGES:
            done = subprocess.run(["prlimit", f"--cpu={seconds}:", str(self.tree / "tests"), "--abort", tests],
                                  capture_output=True, text=True, check=False,
                                  env=os.environ | MEMORY | {"REMOVED_WAKE": place})
            if done.returncode == -signal.SIGXCPU:
                return f"ran for more than {seconds} s"
            if done.returncode:
                return message(done.stdout, done.stderr)
        return None


def message(out, err):
    """The broken invariant, who waits since when, or the test that failed."""
    if broken := re.search(r"^cycle \d+, block .*$", err, re.M):
        return broken.group()
    if oldest := re.search(r"since cycle \d+: .*", out):
        return "all sleep, " + oldest.group()
    name = re.search(r"^-{70,}\n((?:(?!-{70,}).+\n)+)-{70,}", out, re.M)
    return "fails: " + " ".join((name.group(1) if name else (out + err)[-120:]).split())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="removals whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--places", action="store_true", help="only find the places")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(folder, args.cxx)
        places = [p for p in workshop.prepare() if args.only in p]
        if args.places:
            print(f"{len(places)} places")
            return 0 if places else 1
        workshop.build(args.jobs)
        if failed := workshop.judge("none"):
            raise SystemExit(f"the tests fail without any removal: {failed}")
        unnoticed = 0
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for place, drew in zip(places, pool.map(workshop.judge, places)):
                unnoticed += drew is None
                print(f"{place:88}  {drew or 'NOT NOTICED'}", flush=True)
    print(f"{len(places)} removals, {len(places) - unnoticed} noticed")
    return 1 if unnoticed or not places else 0


if __name__ == "__main__":
    sys.exit(main())
