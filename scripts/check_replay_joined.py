#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Replays recordings of several queue pairs that work at the same time: captures joined at random (join_captures.py), from
both ends, on every runner. Prints same / tried and what differs; exits 1 if anything does.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from random import Random

from check_replay_sharp import Capture
from join_captures import join

MOST = 5
SPREADS_US = (0, 200, 2_000, 20_000, 200_000)


def is_joinable(capture):
    """One connection of two devices; a destroy_qp names no queue pair and would take all."""
    kinds = [e["ev"] for e in capture.text["events"]]
    return (capture.records and all(kind not in kinds for kind in ("srq", "post_srq_recv", "ud_ready", "fake_peer", "destroy_qp"))
            and all(e["type"] in ("RC", "UC") for e in capture.text["events"] if e["ev"] == "qp") and kinds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joins", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("hca")
    parser.add_argument("captures", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    captures = [c for c in map(Capture, arguments.captures) if is_joinable(c)]
    random, same = Random(arguments.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        for n in range(arguments.joins):
            chosen, spread = random.sample(captures, random.randint(2, MOST)), random.choice(SPREADS_US)
            text, records = join(chosen, [random.randint(0, spread) for _ in chosen])
            path = pathlib.Path(folder) / f"joined{n}.pcap"
            text["case"] = path.stem
            chosen[0].write(path, records, text)
            report = path.with_suffix(".report")
            run = subprocess.run([arguments.hca, "replay", path, "--json", report], capture_output=True, text=True, check=False)
            is_same = run.returncode == 0 and not json.loads(report.read_text())["waiting"]
            same += is_same
            if not is_same:
                print(f"{' + '.join(c.text['case'] for c in chosen)}, begun within {spread} us:\n{run.stdout}{run.stderr}")
    print(f"{same} / {arguments.joins} the same")
    return 0 if same == arguments.joins and same else 1


if __name__ == "__main__":
    sys.exit(main())
