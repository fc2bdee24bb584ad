#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `hca run` records, `hca replay` accepts: framing x service x operation x what the wires do, without a JSON.

Each run is short and has a seed of its own. A recording must be legal, every packet of ours judged, and where the model
stands in for an end it must send what was recorded. Prints one line for each that is not; exits 1 if there is one.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import zlib

FRAMINGS = ("ib_local", "ib_global", "rocev1", "rocev2_ip4", "rocev2_ip6")
RELIABLE = ("write", "send", "read", "write_immediate", "send_immediate", "send_invalidate", "compare_swap", "fetch_add")
OPERATIONS = {
    "rc": RELIABLE,
    "xrc": RELIABLE,
    "rd": tuple(operation for operation in RELIABLE if operation != "send_invalidate"),
    "uc": ("write", "send", "write_immediate", "send_immediate"),
    "ud": ("send", "send_immediate"),
}
ATOMICS = ("compare_swap", "fetch_add")
# Often enough for a short run to have some.
WIRES = {
    "clean": [],
    "loss": [{"action": "drop", "from": end, "per_million": 60000} for end in (0, 1)],
    "duplicates": [{"action": "duplicate", "from": end, "per_million": 100000} for end in (0, 1)],
}


def scenario(framing, service, operation, faults, both):
    size = 8 if operation in ATOMICS else 900 if service == "ud" else 2500
    workload = {"operation": operation, "size": f"{size} B", "messages": 12, "depth": 4}
    if both:
        workload["direction"] = "both"
    connection = {"framing": framing, "service": service}
    if service in ("rc", "xrc", "rd"):
        connection |= {"timeout": 8, "min_rnr_timer": 1}
    if service == "xrc":
        # Packets do not name the queue pair that sends them: with losses the pairs would be guessed.
        connection |= {"qps": 1 if faults else 3, "xrc_srqs": 2}
    if service == "rd":
        connection |= {"qps": 3}  # over one EE context
    return {"hca": {"transport": {option: service == option for option in ("xrc", "rd")}}, "connection": connection, "workload": [workload], "faults": faults}


def check(hca, folder, case, both):
    """What is wrong with it; nothing: it is accepted."""
    framing, service, operation, wire = case
    file = folder / "scenario.yaml"
    file.write_text(json.dumps(scenario(framing, service, operation, WIRES[wire], both)), encoding="utf-8")
    seed = zlib.crc32(" ".join(case).encode()) % 1000 + 1
    out = folder / "out"
    run = subprocess.run([hca, "run", file, "--out", out, "--set", "run.pcap=true", "--set", f"run.seed={seed}"],
                         capture_output=True, text=True, check=False)
    captures = sorted(out.glob("*.pcap*"))
    if run.returncode or not captures:
        return f"hca run: {run.stderr.strip() or run.stdout[-300:]}"
    reports = folder / "reports.json"
    replay = subprocess.run([hca, "replay", "--runner", "functional", "--json", reports, *captures], capture_output=True,
                            text=True, check=False)
    if replay.returncode:
        return f"exit {replay.returncode}: {replay.stdout[:600]}{replay.stderr[:300]}"
    told = json.loads(reports.read_text(encoding="utf-8"))
    judged = told["judged"]
    wrong = [j["verdict"] for j in judged if j["verdict"] != "legal" or j["frames_judged"] != j["frames"]]
    if not judged or wrong:
        return f"verdicts {wrong}"
    strays = [r["difference"]["where"] + ": " + r["difference"]["what"] for r in told["reports"] if "difference" in r]
    return "the model is not followed: " + strays[0] if strays and wire == "clean" else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also both directions at once")
    parser.add_argument("--service", choices=OPERATIONS, help="only this one")
    parser.add_argument("hca", type=pathlib.Path)
    arguments = parser.parse_args()
    cases = [(framing, service, operation, wire) for framing, wire in itertools.product(FRAMINGS, WIRES)
             for service, operations in OPERATIONS.items() if arguments.service in (None, service) for operation in operations]
    bad = 0
    for case, both in itertools.product(cases, (False, True) if arguments.full else (False,)):
        with tempfile.TemporaryDirectory() as folder:
            if why := check(arguments.hca.resolve(), pathlib.Path(folder), case, both):
                bad += 1
                print(" ".join(case), "both ways" if both else "", why, flush=True)
    print(f"{len(cases)} recordings{' each way and both' if arguments.full else ''}, {bad} not accepted")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
