#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""hca run and hca config from outside: exit codes, files, and that a run can be repeated.

usage: check_run.py HCA SCENARIO_DIRECTORY
"""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

# tshark guesses at payloads with these and marks good SENDs malformed.
HEURISTICS = ["rpcrdma_infiniband", "mellanox_eoib", "eth_over_ib", "fc_infiniband"]

failures = []


def check(good, what):
    if not good:
        failures.append(what)


def run(hca, *arguments):
    return subprocess.run([hca, *arguments], capture_output=True, text=True, check=False)


def scenario(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def check_example(hca, scenarios, directory):
    example = os.path.join(scenarios, "streams.yaml")
    outs = [os.path.join(directory, name) for name in ("a", "b")]
    for out in outs:
        result = run(hca, "run", example, "--out", out)
        check(result.returncode == 0, f"streams.yaml: exit {result.returncode}: {result.stdout[-500:]}")
        check("measured whole" in result.stdout or " faults: " in result.stdout, "streams.yaml: no report")
    for name in ("summary.json", "run.pcap"):
        with open(os.path.join(outs[0], name), "rb") as a, open(os.path.join(outs[1], name), "rb") as b:
            check(a.read() == b.read(), f"{name} differs between two runs of one scenario")
    with open(os.path.join(outs[0], "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    check(summary["succeeded"] and summary["messages_checked"] > 0, "summary.json: nothing checked")
    check_capture(os.path.join(outs[0], "run.pcap"), summary)


def check_capture(path, summary):
    switches = [word for name in HEURISTICS for word in ("--disable-heuristic", name)]
    command = ["tshark", "-r", path, *switches, "-T", "fields", "-e", "frame.time_epoch", "-e", "_ws.malformed"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = result.stdout.splitlines()
    check(result.returncode == 0 and len(lines) > 1000, "tshark does not open run.pcap")
    # A dropped frame does not reach the far end; a duplicate would be there twice.
    dropped = sum(fault["action"] == "drop" for fault in summary["faults"])
    check(len(lines) == summary["frames"] - dropped, "run.pcap: not every frame is there")
    times = [line.split("\t")[0] for line in lines]
    check(times == sorted(times, key=float), "run.pcap: frames are not in the order of time")
    malformed = [line for line in lines if line.split("\t")[1:] not in ([], [""])]
    # A flipped bit may well be one of a header.
    corrupt = sum(fault["action"] == "corrupt" for fault in summary["faults"])
    check(len(malformed) <= corrupt, f"tshark: malformed frames {malformed[:5]}")


def check_quantum(hca, directory):
    """How far a chip runs ahead of the kernel changes no byte of the capture. The two clocks differ, so that
    frames of both ends reach their ports at the same time now and then."""
    captures = set()
    for quantum in ("1 cycle", "7 cycles", "0 cycles"):
        path = scenario(directory, "quantum.yaml",
                        f"run: {{pcap: true, quantum: {quantum}}}\nhca1.core.clock: 250 MHz\nworkload:\n"
                        "  - {operation: write, from: 2 B, to: 8 KiB, messages: 60}\n"
                        "  - {operation: send, from: 64 B, to: 1 KiB, messages: 300}\n")
        out = os.path.join(directory, "quantum")
        result = run(hca, "run", path, "--out", out)
        check(result.returncode == 0, f"quantum.yaml: exit {result.returncode}")
        with open(os.path.join(out, "run.pcap"), "rb") as file:
            captures.add(file.read())
    check(len(captures) == 1, "run.pcap depends on run.quantum")


def check_files(hca, scenarios, directory):
    """The files that `run:` requests are written, and no others; a setting beside the file overrides it."""
    scene, out = os.path.join(scenarios, "loss.yaml"), os.path.join(directory, "files")
    asked = [word for key in ("events", "vcd") for word in ("--set", f"run.{key}=true")]
    result = run(hca, "run", scene, "--set", "workload[0].messages=20", *asked, "--out", out)
    check(result.returncode == 0, f"loss.yaml: exit {result.returncode}: {result.stdout[-500:]}{result.stderr}")
    written = set(os.listdir(out)) - {"report.html"}  # a program may be built without the page
    check(written == {"events.csv", "run.vcd", "series.csv", "stalls.csv", "summary.json"}, f"files: {written}")
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        check(json.load(file)["messages_checked"] == 20, "--set: not 20 messages")
    check_series(os.path.join(out, "series.csv"))
    result = run(hca, "run", scene, "--set", "workload[0].messages=20", "--out", out)  # into the same folder
    written = set(os.listdir(out)) - {"report.html"}
    check(written == {"series.csv", "stalls.csv", "summary.json"}, f"files of an earlier run stay: {written}")
    result = run(hca, "run", scene, "--out", "")
    check(result.returncode == 2 and "empty name" in result.stderr, f"--out of no name: {result.stderr}")
    result = run(hca, "run", scene, "--out", os.path.join(out, "summary.json"))
    check(result.returncode == 2 and "--out: " in result.stderr, f"--out that is a file: {result.stderr}")
    result = run(hca, "run", scene, "--set", "run.vcd=true")
    check(result.returncode == 2 and "--out DIR" in result.stderr, "run.vcd without --out")
    result = run(hca, "run", scene, "--set", "workload[0].depth=8193")
    check(result.returncode == 2 and "--set: workload[0].depth" in result.stderr, "--set with a value out of range")


def check_series(path):
    """Each line has the fields that the first one names, and no share is more than all of the time."""
    with open(path, encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    check(len(rows) > 10 and all(len(row) == len(names) for row in rows), "series.csv: fields without a name")
    check(len(set(names)) == len(names), "series.csv: two columns of one name")
    for name, *values in zip(names, *rows):
        if name.endswith("(%)"):
            check(max(map(float, values)) <= 100, f"series.csv: {name}: {max(map(float, values))}")


def check_errors(hca, directory):
    bad = scenario(directory, "bad.yaml", "hca:\n  requestr: {latency: 4 cycles}\npcie: {lanes: 99}\n")
    result = run(hca, "run", bad)
    check(result.returncode == 2, f"bad.yaml: exit {result.returncode}")
    for text in (f"{bad}:2: hca.requestr.latency", "hca.requester.latency", f"{bad}:3: pcie.lanes", "1 .. 16"):
        check(text in result.stderr, f"bad.yaml: stderr lacks {text!r}: {result.stderr}")
    check(run(hca, "run", "/nonexistent.yaml").returncode == 2, "a file that is not there: exit code")
    check(run(hca, "run", "--nonsense").returncode == 2, "an unknown option: exit code")
    result = run(hca, "run", "")
    check(result.returncode == 2 and "empty name" in result.stderr, f"an empty name: {result.stderr}")
    dead = scenario(directory, "dead.yaml",
                    "connection: {timeout: 4, retry_count: 1}\n"
                    "workload:\n  - {operation: write, from: 64 B, to: 64 B, messages: 5}\n"
                    "faults:\n  - {action: drop, occurrence: 0, per_million: 1000000}\n")
    result = run(hca, "run", dead)
    check(result.returncode == 1, f"dead.yaml: exit {result.returncode}")
    check("FAILED: " in result.stdout, "dead.yaml: no FAILED line")


def check_shrink(hca, directory):
    """A search that a signal ends leaves the best so far, which fails as the run did."""
    many = scenario(directory, "many.yaml",
                    "connection: {qps: 4, retry_count: 0, timeout: 3}\n"
                    "workload:\n  - {operation: write, size: 1 KiB, messages: 20000, depth: 8}\n"
                    "faults:\n  - {action: duplicate, from: 0, per_million: 20000}\n"
                    "  - {action: drop, from: 0, per_million: 300}\n")
    out = os.path.join(directory, "shrink")
    shrunk = os.path.join(out, "shrunk.yaml")
    with subprocess.Popen([hca, "run", many, "--shrink", "--out", out], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as search:
        end = time.monotonic() + 120
        while not os.path.exists(shrunk) and search.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        search.send_signal(signal.SIGTERM)
        text = search.communicate()[0]
    check(search.returncode == 1, f"--shrink and SIGTERM: exit {search.returncode}")
    check("To repeat it: " in text, f"--shrink and SIGTERM: no last line: {text[-300:]}")
    result = run(hca, "run", shrunk)
    check(result.returncode == 1 and "FAILED: " in result.stdout, f"shrunk.yaml: exit {result.returncode}: {result.stderr}")


def check_config(hca):
    result = run(hca, "config")
    lines = [line for line in result.stdout.splitlines() if not line.startswith("#")]
    check(result.returncode == 0 and len(lines) > 80, f"hca config: {len(lines)} knobs")
    for knob in ("hca.requester.latency", "pcie.lanes", "wire.latency", "workload[].depth", "workload[].mix.read",
                 "workload[].sizes[].weight", "connection.max_rd_atomic", "run.vcd", "faults[].psn"):
        check(any(line.startswith(knob + " ") for line in lines), f"hca config lacks {knob}")


def main():
    hca, scenarios = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        check_example(hca, scenarios, directory)
        check_quantum(hca, directory)
        check_files(hca, scenarios, directory)
        check_errors(hca, directory)
        check_shrink(hca, directory)
    check_config(hca)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
