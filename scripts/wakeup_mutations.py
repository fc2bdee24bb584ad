#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Removes each wake, subscription and re-arm of the wake-up contract once (docs/design/engine.md) and expects the engine tests
tagged [wakeup] to fail. Prints what each removal drew; exits with 1 if one went unnoticed.

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

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINE, TESTS = "model/engine/", "testbench/tests/engine/"
LINK, BUDGET, MAILBOX = ENGINE + "link.h", ENGINE + "budget.h", ENGINE + "mailbox.h"
BLOCKS = TESTS + "test_blocks.h"

# (rule of the contract, what is removed, file, text, what stands there instead)
MUTATIONS = [
    (1, "link: an item counts in the cycle of its push", LINK,
     "from = now + latency_ + extra_latency;", "from = now + extra_latency;"),
    (1, "link: room counts in the cycle of the pop", LINK,
     "front_->from = now + latency_;", "front_->from = now;"),
    (1, "budget: counts one cycle early", BUDGET, "later_[place] = at;", "later_[place] = at - 1;"),
    (1, "memory: gives a tag back for its own cycle", BLOCKS,
     "tags_.give(now() + config_.memory_latency / 4);", "tags_.give(now());"),
    (2, "wheel: wake-ups beyond the horizon", ENGINE + "domain.cpp", "wheel_.set_far(blocks, at);", ""),
    (2, "wheel: a second wake-up replaces the first", ENGINE + "wheel.h", "due_[slot] |= blocks;", "due_[slot] = blocks;"),
    (3, "link: a refused push subscribes", LINK, "wake_when_free(); return false;", "return false;"),
    (3, "link: the flag of a writer that waits for a pop", LINK, "return wait_for_room();", "return;"),
    (3, "budget: the flag of a refused taker", BUDGET, "if (!pending_) wait();", "if (!pending_) return false;"),
    (4, "link: the timer when room is known", LINK,
     "domain_->wake(writer_, std::max(free_from_, domain_->now() + 1));", ""),
    (4, "link: a pop wakes the waiting writer", LINK, ", domain_->wake(writer_, free_from_);", ";"),
    (4, "budget: the timer when the return is known", BUDGET, ", taker_.wake(later_[head_]);", ";"),
    (4, "budget: a return wakes the waiting taker", BUDGET, ", taker_.wake_from_outside(at);", ";"),
    (5, "link: a push wakes the reader", LINK, "show(from);", "seen_from_ = std::max(from, held_until_);"),
    (5, "link: a pop that leaves an item wakes the reader", LINK, "show(front_->from);",
     "seen_from_ = std::max(front_->from, held_until_);"),
    (5, "mailbox: mail wakes the reader", MAILBOX, "reader_.wake_from_outside(seen_from_);", ";"),
    (5, "mailbox: a pop that leaves mail wakes the reader", MAILBOX,
     ", reader_.wake(seen_from_);", ";"),
    (5, "arbiter: another input waits", BLOCKS, "if (items_in[next_].can_pop()) items_out->wake_when_free();", ""),
    (6, "server: an entry of its own is free", BLOCKS, "if (items_in.can_pop()) wake_at(now() + 1);", ""),
    (7, "source: more to send", BLOCKS, "return; } items_out->wake_when_free();", "return; }"),
    (8, "source: the timer of a pause", BLOCKS, "wake_at(next_at_);", ""),
    (8, "source: the first wake-up", TESTS + "test_chip.cpp", "source.self.wake(1);", "(void)source;"),
    (9, "arbiter: a step without a grant", BLOCKS, "// No input has an item.", "next_ = 1 - next_;"),
    (9, "source: a random number in each tick", BLOCKS, "if (sent_ == config_.items ||",
     "random_(); if (sent_ == config_.items ||"),
    (11, "domain: a sleeping host is told", ENGINE + "domain.h", "if (at < armed_) rearm_(host_, at);", ""),
    (11, "port: mail arrives before the wire's latency", BLOCKS, "deliver(now() + config_.wire_latency,",
     "deliver(now() + 1,"),
    (11, "mailbox: mail in the order of its cycles", MAILBOX, "i != head_ && slot(i).before(slot(i - 1))", "false"),
    (11, "mailbox: mail of one cycle in the order of sources", MAILBOX,
     "|| (at == o.at && source < o.source)", ""),
    (12, "run: judged when all domains have run", ENGINE + "run.h",
     "domain->run_until(end); for (const Domain* domain : domains) asleep = asleep && domain->asleep();",
     "domain->run_until(end), asleep = asleep && domain->asleep();"),
]
SOURCES = [ENGINE + "domain.cpp", ENGINE + "run.cpp", ENGINE + "probe.cpp", TESTS + "test_chip.cpp"]
MAIN = ["testbench/tests/catch_main.cpp", "testbench/tests/catch_session.cpp"]
UNCHANGED = [*MAIN, TESTS + "same_results_test.cpp"]


class Workshop:
    def __init__(self, folder, cxx):
        self.folder, self.cxx = pathlib.Path(folder), cxx

    def copy(self, name):
        tree = self.folder / name
        for part in (ENGINE, TESTS):
            shutil.copytree(ROOT / part, tree / part)
        for file in ("model/proto/types.h", "testbench/tests/catch_session.h", *MAIN):
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, tree / file)
        return tree

    def compile(self, tree, source):
        target = tree / (source.replace("/", "_") + ".o")
        command = [self.cxx, "-std=c++20", "-O1", "-w", f"-I{tree}", "-c", str(tree / source), "-o", str(target)]
        subprocess.run(command, check=True)
        return target

    def test(self, tree, objects):
        program = tree / "engine_tests"
        subprocess.run([self.cxx, *map(str, objects), "-o", str(program)], check=True)
        try:
            done = subprocess.run([str(program), "[wakeup]"], capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return 1, "", "ran for more than 120 s"
        return done.returncode, done.stdout, done.stderr


def mutated(file, source, text, instead):
    """`source` with the only occurrence of `text` replaced, whatever blanks and line breaks its formatting has."""
    pattern = r"\s*".join(re.escape(word) for word in re.findall(r"\w+|[^\w\s]", text))
    source, count = re.subn(pattern, lambda _: instead, source)
    if count != 1:
        raise SystemExit(f"{file}: {count} places look like: {text}")
    return source


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
    parser.add_argument("--only", default="", help="removals whose description contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--places", action="store_true", help="only see whether each place is there")
    args = parser.parse_args()
    if args.places:
        for _, _, file, text, instead in MUTATIONS:
            mutated(file, (ROOT / file).read_text(), text, instead)
        print(f"{len(MUTATIONS)} places")
        return 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        workshop = Workshop(folder, args.cxx)
        base = workshop.copy("base")
        objects = dict(zip(UNCHANGED + SOURCES, pool.map(lambda s: workshop.compile(base, s), UNCHANGED + SOURCES)))
        code, out, err = workshop.test(base, objects.values())
        if code:
            raise SystemExit(f"the tests fail without any removal:\n{out}{err}")

        def attempt(numbered):
            number, (_, _, file, text, instead) = numbered
            tree = workshop.copy(str(number))
            (tree / file).write_text(mutated(file, (tree / file).read_text(), text, instead))
            changed = [SOURCES[-1]] if file.startswith(TESTS) else SOURCES
            mine = objects | {source: workshop.compile(tree, source) for source in changed}
            return workshop.test(tree, mine.values())

        chosen = [m for m in MUTATIONS if args.only in m[1]]
        unnoticed = 0
        for (rule, what, *_), (code, out, err) in zip(chosen, pool.map(attempt, enumerate(chosen))):
            drew = message(out, err) if code else "NOT NOTICED"
            unnoticed += code == 0
            print(f"rule {rule:2}  {what:52}  {drew}", flush=True)
    print(f"{len(chosen)} removals, {len(chosen) - unnoticed} noticed")
    return 1 if unnoticed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
