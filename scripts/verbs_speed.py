#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast programs of the verbs run on `hca serve`, beside `hca run` of the same work: what attaching costs.

verbs_speed.py HCA SCENARIO [TASK ...]: of all tasks, or of these.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

from served import LIMIT, Failed, Served, finish, run_pair

# Work is done twice, much of it and little; the difference counts. Of each: its unit, the program, its pieces, and the same for `hca run`.
TASKS = {
    "control calls": ("commands", "{}", 10000, None),
    "posts and polls": ("writes", "{}", 10000, "{{operation: write, size: 8 B, messages: {}, depth: 1}}"),
    "of 2 threads": ("writes", "{} 2", 10000, "{{operation: write, size: 8 B, messages: {}, depth: 1, qps: 2, threads: 2}}"),
    "of 4 threads": ("writes", "{} 4", 10000, "{{operation: write, size: 8 B, messages: {}, depth: 1, qps: 4, threads: 4}}"),
    "pingpongs": ("pair", "ibv_rc_pingpong -n {} -m 4096", 4000, "{{operation: send, size: 4096 B, test: latency, messages: {}}}"),
    "packets": ("pair", "ib_write_bw -F -n {} -m 4096", 1000, "{{operation: write, size: 64 KiB, messages: {}, depth: 128}}"),
}
PIECES = {"control calls": 2, "packets": 16}  # of an allocation, of a message of 64 KiB


def attached(hca, scenario, task, count, clock):
    kind, program, _, _ = TASKS[task]
    begun = time.monotonic()
    if kind == "pair":
        run_pair(hca, scenario, program.format(count), [], clock)
        return time.monotonic() - begun
    with Served(hca, scenario, []) as served:
        begun = time.monotonic()
        finish(served.start("", [os.path.join(os.path.dirname(hca), "hca_verbs_speed"), kind, *program.format(count).split()], clock), kind)
        return time.monotonic() - begun


def model(hca, workload, count):
    with tempfile.TemporaryDirectory() as folder:
        scenario = os.path.join(folder, "flow.yaml")
        with open(scenario, "w") as file:
            file.write(f"connection: {{framing: ib_local, path_mtu: 4096}}\nworkload:\n  - {workload.format(count)}\n")
        begun = time.monotonic()
        subprocess.run([hca, "run", scenario], check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
        return time.monotonic() - begun


def cost_of_one(measure, count, times=3):
    """Real seconds, and those of all processors: the least of a few, for other programs only make it longer."""
    def costs(pieces):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        real = measure(pieces)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return real, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    much, little = (list(map(min, zip(*(costs(pieces) for _ in range(times))))) for pieces in (count, count // 10))
    return [max(one - other, 1e-9) / (count - count // 10) for one, other in zip(much, little)]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("hca")
    arguments.add_argument("scenario")
    arguments.add_argument("task", nargs="*", help=", ".join(TASKS))
    given = arguments.parse_args()
    for task in set(given.task) - set(TASKS):
        arguments.error(f"no task is '{task}'; allowed: {', '.join(TASKS)}")
    print(f"{'':16}{'a second':^36}   {'us of processors':^36}")
    print(f"{'':16}" + 2 * f"{'wall time':>12}{'simulated':>12}{'hca run':>12}   ")
    for task, (_, _, count, workload) in TASKS.items():
        pieces = PIECES.get(task, 1)
        if given.task and task not in given.task:
            continue
        found = [cost_of_one(lambda n: attached(given.hca, given.scenario, task, n, clock), count) for clock in ("wall", "sim")]
        if workload:
            found.append(cost_of_one(lambda n: model(given.hca, workload, n), count))
        columns = [[f"{pieces / real:12.0f}" for real, _ in found], [f"{busy / pieces * 1e6:12.1f}" for _, busy in found]]
        print(f"{task:16}" + "   ".join(f"{''.join(column):36}" for column in columns), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(str(error))
