#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_rdma_core.py HCA SCENARIO COUNTS LINK_LAYER [--time sim|wall]: Debian's tests of rdma-core, which come with python3-pyverbs, on hca0 of one
`hca serve`. No test fails, as many pass as COUNTS has, the others are skipped for reasons that it lists. Exits 77 if the tests are not there."""
import argparse
import collections
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

from check_attach import ROCE, XRC
from served import Failed, Served

TESTS = "/usr/share/doc/rdma-core/tests"
LIMIT = 400  # seconds
RESULT = re.compile(r"\.\.\. (ok|FAIL|ERROR|skipped ['\"](.*)['\"])$", re.MULTILINE)


def unpack(folder):
    """They are packed one by one."""
    target = os.path.join(folder, "tests")
    shutil.copytree(TESTS, target)
    for name in os.listdir(target):
        if name.endswith(".gz"):
            packed = os.path.join(target, name)
            with gzip.open(packed) as source, open(packed[:-len(".gz")], "wb") as file:
                shutil.copyfileobj(source, file)
            os.remove(packed)


def read_counts(path):
    """Passes by link layer; reasons."""
    passes, reasons = {}, []
    with open(path) as file:
        for line in file:
            kind, _, rest = line.strip().partition(" ")
            if kind == "pass":
                layer, _, count = rest.partition(" ")
                passes[layer] = int(count)
            elif kind == "skip":
                reasons.append(re.compile(rest.rpartition(" = ")[0]))
    return passes, reasons


def run(given):
    settings = XRC + (ROCE if given.link_layer == "roce" else [])
    with tempfile.TemporaryDirectory() as folder, Served(os.path.abspath(given.hca), given.scenario, settings) as served:
        unpack(folder)
        process = served.start("", ["/usr/bin/python3", "tests/run_tests.py", "-v", "--dev", "hca0"], given.time, folder=folder)
        output, _ = process.communicate(timeout=LIMIT)
    return output


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("hca")
    arguments.add_argument("scenario")
    arguments.add_argument("counts")
    arguments.add_argument("link_layer", choices=["infiniband", "roce"])
    arguments.add_argument("--time", default="sim", choices=["sim", "wall"])
    given = arguments.parse_args()
    if not os.path.isdir(TESTS):
        print(f"there is no {TESTS}: it comes with python3-pyverbs")
        sys.exit(77)
    passes, reasons = read_counts(given.counts)
    output = run(given)
    found = collections.Counter()
    unlisted = []
    for result, reason in RESULT.findall(output):
        found[result.split()[0]] += 1
        if reason and not any(known.search(reason) for known in reasons):
            unlisted.append(reason)
    print(f"{given.link_layer}, {given.time}: {found['ok']} pass, {found['FAIL'] + found['ERROR']} fail, {found['skipped']} are skipped")
    if found["FAIL"] or found["ERROR"] or not re.search(r"^OK", output, re.MULTILINE):
        raise Failed(output)
    if unlisted:
        raise Failed("skipped for a reason that is not listed:\n" + "\n".join(unlisted))
    if found["ok"] != passes[given.link_layer]:
        raise Failed(f"{found['ok']} pass, {given.counts} has {passes[given.link_layer]}")


if __name__ == "__main__":
    try:
        main()
    except (Failed, subprocess.TimeoutExpired) as error:
        sys.exit(str(error))
