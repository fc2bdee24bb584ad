#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""hca sweep from outside: a sweep that is killed and goes on, points that fail, and what it refuses.

usage: check_sweep.py HCA
"""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# 12 points, one of which is no scenario: a datagram of more than the path MTU.
SWEEP = """\
scenario: {workload: [{operation: send, size: 64 B, messages: 20000}]}
axes:
  - {knob: connection.service, values: [rc, ud]}
  - {knob: 'workload[0].size', values: [64 B, 2 KiB]}
  - {knob: run.seed, from: 1, to: 3, step: 1}
columns: {frames: /frames}
"""
POINTS, FAILING = 12, 3
ROOT = pathlib.Path(__file__).resolve().parent.parent
failures = []


def check(good, what):
    if not good:
        failures.append(what)


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def rows_of(out):
    with open(out / "sweep.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_whole(hca, sweep, out):
    """An undisturbed run, which every other one must equal."""
    result = run(hca, "sweep", sweep, "--out", out, "-j", "2")
    check(result.returncode == 1, f"a sweep with failing points: exit code {result.returncode}: {result.stderr}")
    rows = rows_of(out)
    check(len(rows) == POINTS, f"{len(rows)} lines")
    bad = [row for row in rows if row["connection.service"] == "ud" and row["workload[0].size"] == "2 KiB"]
    check(len(bad) == FAILING and all(row["state"] == "failed" and "path_mtu" in row["reason"] and not row["gbit_s"] for row in bad),
          f"failing points: {bad}")
    for row in rows:
        good = row not in bad
        check((row["state"] == "done") == good and (out / ("points" if good else "failed") / row["point"]).is_dir(), f"{row}")
        if good:
            summary = json.loads((out / "points" / row["point"] / "summary.json").read_text(encoding="utf-8"))
            bandwidth = summary["sizes"][0]["bandwidth"]
            check(float(row["gbit_s"]) == bandwidth["gbit_per_s"] and int(row["frames"]) == summary["frames"], f"{row}")
            check(summary["knobs"]["run.seed"] == row["run.seed"], f"the knob of {row}")
    page = (out / "sweep.html").read_text(encoding="utf-8")
    check("http://" not in page.replace("http://www.w3.org", "") and "https://" not in page, "sweep.html needs a network")
    return (out / "sweep.csv").read_bytes()


def check_reasons(hca, sweep, out):
    """A point with two mistakes: the reason has both."""
    sweep.write_text("""\
scenario: {workload: [{operation: send, size: 64 B, messages: 20}]}
axes: [{knob: hca.link_control.mode, values: [credits]}, {knob: hca.core.clock, values: [10 MHz]}]
""", encoding="utf-8")
    result = run(hca, "sweep", sweep, "--out", out)
    reason = rows_of(out)[0]["reason"] if result.returncode == 1 else result.stderr
    check("connection.framing" in reason and "hca.core.allow_slow_core" in reason, f"of two mistakes: {reason}")


def check_stopped(hca, sweep, out, how, wanted):
    """Stopped when two points are done; the same command goes on and gives the same table."""
    with subprocess.Popen([hca, "sweep", sweep, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while len(list(out.glob("points/*"))) < 2 and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        process.send_signal(how)
    there = len(list(out.glob("points/*")))
    check(2 <= there < POINTS - FAILING, f"{how.name}: {there} points before the stop")
    if how == signal.SIGTERM:
        check(process.returncode == 1 and any(row["state"] == "missing" for row in rows_of(out)), "no table of a stopped sweep")
    stamps = {p: os.stat(p / "summary.json").st_mtime_ns for p in out.glob("points/*")}
    result = run(hca, "sweep", sweep, "--out", out, "-j", "2")
    check(f"of {POINTS} points are there already" in result.stderr, f"{how.name}: {result.stderr}")
    check(all(os.stat(p / "summary.json").st_mtime_ns == stamp for p, stamp in stamps.items()), "a point that was done was run again")
    check((out / "sweep.csv").read_bytes() == wanted, f"{how.name}: another table than undisturbed")
    check(not list(out.glob("work/*")), "something is left in work/")


def check_one_by_one(hca, sweep, out, wanted):
    """As the tasks of an array job do it."""
    for point in range(POINTS):
        result = run(hca, "sweep", sweep, "--out", out, "--point", str(point))
        check(result.returncode in (0, 1), f"--point {point}: {result.stderr}")
    check(run(hca, "sweep", sweep, "--out", out, "--collect").returncode == 1, "--collect with failed points")
    check((out / "sweep.csv").read_bytes() == wanted, "points one by one: another table")
    check(run(hca, "sweep", sweep, "--out", out, "--point", str(POINTS)).returncode == 2, "--point after the last")


def check_crash(hca, folder):
    """A point that dies touches no other; --retry runs it again."""
    sweep, out = folder / "crash.yaml", folder / "crash"
    sweep.write_text("scenario: {workload: [{operation: write, size: 4 KiB, messages: 300000}]}\n"
                     "axes:\n  - {knob: 'workload[0].messages', values: [300000, 10]}\n", encoding="utf-8")
    with subprocess.Popen([hca, "sweep", sweep, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not list(out.glob("work/*/log")):  # the program runs
            time.sleep(0.005)
        os.kill(int(children.read_text(encoding="ascii").split()[0]), signal.SIGSEGV)
        process.wait()
    states = [(row["state"], row["reason"]) for row in rows_of(out)]
    check(process.returncode == 1 and states == [("failed", "ended by signal 11 (Segmentation fault)"), ("done", "")], f"crash: {states}")
    check(run(hca, "sweep", sweep, "--out", out, "--retry").returncode == 0, "--retry")
    check([row["state"] for row in rows_of(out)] == ["done", "done"], "--retry: not all done")


def check_changes(hca, sweep, out, folder):
    """Results of another sweep, scenario or program are not mixed with these."""
    changed = folder / "changed.yaml"
    for old, new, what in (("to: 3", "to: 2", "points"), ("20000", "20001", "scenario")):
        changed.write_text(SWEEP.replace(old, new), encoding="utf-8")
        result = run(hca, "sweep", changed, "--out", out)
        check(result.returncode == 2 and f": {what} changed" in result.stderr, f"changed {what}: {result.stderr}")
    program = folder / "hca"
    shutil.copy(hca, program)
    with open(program, "ab") as file:
        file.write(b"\n")
    result = run(program, "sweep", sweep, "--out", out)
    check(result.returncode == 2 and ": program changed" in result.stderr, f"changed program: {result.stderr}")
    changed.write_text(SWEEP.replace("to: 3", "to: 1").replace("rc, ud", "rc"), encoding="utf-8")
    result = run(hca, "sweep", changed, "--out", out, "--restart")
    check(result.returncode == 0 and len(rows_of(out)) == 2, f"--restart: {result.stderr}")


def check_columns(hca, folder):
    """A column that no point has is a mistake, one that some have is not."""
    sweep = folder / "columns.yaml"
    sweep.write_text("scenario: {workload: [{operation: write, size: 64 B, messages: 10}]}\naxes: [{knob: run.seed, values: [1, 2]}]\n"
                     "columns:\n  frames: /frames\n  none: /counters/hca9.none\n", encoding="utf-8")
    result = run(hca, "sweep", sweep, "--out", folder / "columns")
    check(result.returncode == 1 and result.stderr.endswith("columns.yaml:5: columns.none: no point has /counters/hca9.none in its summary.json\n"),
          f"a column of no point: {result.returncode} {result.stderr}")
    check("columns.frames" not in result.stderr and [row["state"] for row in rows_of(folder / "columns")] == ["done", "done"], "columns.yaml")


def check_calls(hca, folder):
    bad = folder / "bad.yaml"
    bad.write_text("axes: [{knob: run.seed, values: [1]}]\n", encoding="utf-8")
    for arguments, word in (((bad, "--out", folder / "x"), "bad.yaml:1: scenario: "), ((folder / "none.yaml", "--out", "x"), "cannot be read"),
                            ((bad,), "--out"), ((bad, "--out", "x", "--wait"), "--slurm"), ((bad, "--out", "x", "-j", "0"), "-j")):
        result = run(hca, "sweep", *arguments)
        check(result.returncode == 2 and word in result.stderr, f"{arguments}: {result.returncode} {result.stderr}")


def check_seeds_and_compare(hca, folder):
    scenario = folder / "seeds.yaml"
    scenario.write_text("workload: [{operation: send, size: 64 B, messages: 100}]\n", encoding="utf-8")
    result = run(hca, "run", scenario, "--seeds", "3", "--out", folder / "seeds")
    summary = json.loads((folder / "seeds/summary.json").read_text(encoding="utf-8"))
    check(result.returncode == 0 and "Seeds 1 .. 3: mean" in result.stdout, f"--seeds: {result.stderr}")
    page = folder / "seeds/report.html"  # a program may be built without it
    check(not page.exists() or '"half_width_95"' in page.read_text(encoding="utf-8"), "report.html: no confidence intervals")
    check((folder / "seeds/series.csv").exists() and len(summary["recording"]["phases"]) == 1, "--seeds: the first run was not recorded")
    check("Bottleneck, " in result.stdout or "Nothing is busy" in result.stdout, "--seeds: nothing limits")
    check([len(f["samples"]) for f in summary["seeds"]["figures"]] == [3, 3], "summary.json: not three samples of both rates")
    check(run(hca, "run", scenario, "--seeds", "2", "--set", "run.pcap=true", "--out", folder / "y").returncode == 2, "--seeds with a capture")
    check(run(hca, "run", scenario, "--seeds", "2", "--shrink").returncode == 2, "--seeds with --shrink")
    check(run(hca, "compare", folder / "seeds", folder / "seeds/summary.json").returncode == 0, "compare of one result with itself")
    for wrong in (folder, scenario, folder / "none"):
        check(run(hca, "compare", folder / "seeds", wrong).returncode == 2, f"compare with {wrong}")


def check_documented(hca, folder):
    """The table and the comparison of docs/manual/reference/sweeps.md are what is printed."""
    text = (ROOT / "docs/manual/reference/sweeps.md").read_text(encoding="utf-8")
    out = folder / "documented"
    check(run(hca, "sweep", ROOT / "testbench/sweeps/wire_and_depth.yaml", "--out", out, "-j", "2").returncode == 0, "the documented sweep")
    check((out / "sweep.csv").read_text(encoding="utf-8") in text, "docs/manual/reference/sweeps.md has another sweep.csv")
    compared = run(hca, "compare", out / "points/0000", out / "points/0005").stdout
    check(compared.strip() and compared.strip() in text, f"docs/manual/reference/sweeps.md has another comparison than\n{compared}")


def main():
    hca = os.path.realpath(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sweep = folder / "sweep.yaml"
        sweep.write_text(SWEEP, encoding="utf-8")
        wanted = check_whole(hca, sweep, folder / "whole")
        for how in (signal.SIGKILL, signal.SIGTERM):
            check_stopped(hca, sweep, folder / how.name, how, wanted)
        check_one_by_one(hca, sweep, folder / "tasks", wanted)
        check_reasons(hca, folder / "reasons.yaml", folder / "reasons")
        check_crash(hca, folder)
        check_changes(hca, sweep, folder / "whole", folder)
        check_columns(hca, folder)
        check_calls(hca, folder)
        check_seeds_and_compare(hca, folder)
        check_documented(hca, folder)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
