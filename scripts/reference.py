#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a build of the model gives, kept, so that another build can be compared with it byte by byte.

reference.py keep FOLDER [--hca PROGRAM]
reference.py compare FOLDER [--hca PROGRAM] [--names FILE]

Kept are, of each scenario in each framing with each of two seeds, hash, summary with all counters, and stalls; the reports of
all vectors and captures; the curves of the calibration. `compare` exits with 1 if one of them is another one, or is not there
on one side, and shows where. FILE holds names that have changed by intent, a line each: `old new`; `old -` for one that is
gone. A name is a whole one: key, part of a dotted name, or cell of a table.
"""
import argparse
import collections
import concurrent.futures
import gzip
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCENARIOS = os.path.join(ROOT, "testbench", "scenarios")
FRAMINGS = "ib_local", "ib_global", "rocev1", "rocev2_ip4", "rocev2_ip6"
SEEDS = 1, 2
MOST_SHOWN = 5  # places of one item
ON_A_CLOCK = "wall_seconds", "version", "date"  # keys whose values are of this machine and this day


def clean(value):
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items() if key not in ON_A_CLOCK}
    return [clean(item) for item in value] if isinstance(value, list) else value


def read_json(path):
    with open(path) as file:
        return clean(json.load(file))


def run(program, *arguments):
    return subprocess.run([program, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def of_scenario(hca, name, framing, seed):
    with tempfile.TemporaryDirectory() as folder:
        settings = [word for setting in ("run.hash=true", f"connection.framing={framing}", f"run.seed={seed}") for word in ("--set", setting)]
        done = run(hca, "run", os.path.join(SCENARIOS, name + ".yaml"), "--out", folder, *settings)
        item = {"exit code": done.returncode}
        if not os.path.exists(os.path.join(folder, "summary.json")):
            if "--help" in done.stdout:
                sys.exit(f"reference.py: {name}: {done.stdout}")
            item["refused"] = done.stdout.splitlines()  # such a scenario, in this framing
            return item
        item["summary"] = read_json(os.path.join(folder, "summary.json"))
        with open(os.path.join(folder, "stalls.csv")) as file:
            item["stalls"] = [line.rstrip("\n").split(",") for line in file]
        return item


def of_report(hca, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        done = run(hca, *arguments, "--json", path)
        report = read_json(path) if os.path.exists(path) else done.stdout.splitlines()
        return {"exit code": done.returncode, "report": report}


def items():
    """Name, and what makes it of a program."""
    scenarios = sorted(file[:-5] for file in os.listdir(SCENARIOS) if file.endswith(".yaml"))
    # The long ones first, so that no processor waits for the last.
    for name, framing, seed in sorted(itertools.product(scenarios, FRAMINGS, SEEDS), key=lambda one: not one[0].startswith("soak")):
        yield f"{name}.{framing}.{seed}", lambda hca, name=name, framing=framing, seed=seed: of_scenario(hca, name, framing, seed)
    yield "vectors", lambda hca: of_report(hca, "replay", "vectors")
    yield "calibration", lambda hca: of_report(hca, "calibrate")


def made_by(hca):
    """Each item, in any order."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        coming = {workers.submit(make, hca): name for name, make in items()}
        while coming:  # what has been taken is not kept: all of them are some GiB
            for done in concurrent.futures.wait(coming, return_when=concurrent.futures.FIRST_COMPLETED).done:
                yield coming.pop(done), done.result()


def place_of(folder, name):
    return os.path.join(folder, name + ".json.gz")


def keep(hca, folder):
    os.makedirs(folder, exist_ok=True)
    count = 0
    for count, (name, item) in enumerate(made_by(hca), 1):
        with gzip.open(place_of(folder, name), "wt", compresslevel=6) as file:
            json.dump(item, file, sort_keys=True)
    return count


def names_in(path):
    """Old name: new one, None for one that is gone."""
    found = {}
    with open(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 2:
                sys.exit(f"{path}:{number}: a line is `old new`, or `old -`")
            found[words[0]] = None if words[1] == "-" else words[1]
    return found


def renamed(value, names, used):
    def one(word):
        if word in names:
            used[word] += 1
            return names[word]
        whole = ".".join(filter(None, (one_part(part) for part in word.split("."))))
        return whole if word else word

    def one_part(part):
        if part in names:
            used[part] += 1
            return names[part]
        return part

    def walk(item):
        if isinstance(item, dict):
            return {new: walk(value) for key, value in item.items() if (new := one(key)) is not None}
        if isinstance(item, list):
            return [walk(value) for value in item]
        return one(item) if isinstance(item, str) and re.fullmatch(r"[\w.\[\]]+", item) else item

    return walk(value) if names else value


def differences(before, after, where=""):
    """Places at which they differ, in words."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            if key not in before or key not in after:
                yield f"{where}.{key}: {'is new' if key in after else 'is gone'}"
            else:
                yield from differences(before[key], after[key], f"{where}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after)):
            yield from differences(one, other, f"{where}[{i}]")
    elif before != after:
        yield f"{where}: {json.dumps(before)[:80]} -> {json.dumps(after)[:80]}"


def compare(hca, folder, names):
    different = 0
    used = collections.Counter()
    left = {file[: -len(".json.gz")] for file in os.listdir(folder) if file.endswith(".json.gz")}
    count = 0
    for count, (name, item) in enumerate(made_by(hca), 1):
        if name not in left:
            print(f"{name}: was not kept")
            different += 1
            continue
        left.discard(name)
        with gzip.open(place_of(folder, name), "rt") as file:
            kept = renamed(json.load(file), names, used)
        found = list(itertools.islice(differences(kept, json.loads(json.dumps(item))), MOST_SHOWN + 1))
        different += bool(found)
        for place in found[:MOST_SHOWN]:
            print(f"{name}{place}")
        if len(found) > MOST_SHOWN:
            print(f"{name}: and more")
    for name in sorted(left):
        print(f"{name}: was kept, and is not made any more")
    for name in sorted(names.keys() - used.keys()):
        print(f"name without use: {name}")
    return count, different + len(left)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=("keep", "compare"))
    arguments.add_argument("folder")
    arguments.add_argument("--hca", default=os.path.join(ROOT, "build", "release", "hca"))
    arguments.add_argument("--names")
    given = arguments.parse_args()
    if not os.access(given.hca, os.X_OK):
        sys.exit(f"reference.py: no program {given.hca}")
    begun = time.monotonic()
    if given.what == "keep":
        print(f"{keep(given.hca, given.folder)} kept in {given.folder}, {time.monotonic() - begun:.0f} s")
        return
    if not os.path.isdir(given.folder):
        sys.exit(f"reference.py: no folder {given.folder}: `keep` makes it")
    count, different = compare(given.hca, given.folder, names_in(given.names) if given.names else {})
    print(f"{count} compared, {different} differ, {time.monotonic() - begun:.0f} s")
    sys.exit(different != 0)


if __name__ == "__main__":
    main()
