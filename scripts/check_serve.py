#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user does with a running `hca serve`: its faults, what it writes, what stays of programs that have gone, which programs time waits for.

check_serve.py HCA FOLDER_OF_SCENARIOS CASE [...]: without CASE all of them. The program that says what happens to it is hca_verbs_told.
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from served import LIMIT, Failed, Served, finish, free_port, listens, run_cases, wants

OK = "receive posted, send posted, success, success"


def told(hca, *arguments):
    return [os.path.join(os.path.dirname(hca), "hca_verbs_told"), *map(str, arguments)]


def equal(what, got, wanted):
    if got != wanted:
        raise Failed(f"{what}: {got!r}, not {wanted!r}")


def faults(served, *entries, code=0):
    """What `hca faults` says."""
    process = subprocess.run([served.hca, "faults", "--attach", served.socket, *entries], capture_output=True, text=True, timeout=LIMIT)
    if process.returncode != code:
        raise Failed(f"hca faults {entries} ends with {process.returncode}: {process.stdout}{process.stderr}")
    return process.stdout + process.stderr


def sends(served, hca, count, clock):
    lines = finish(served.start("", told(hca, "send", count), clock), "hca_verbs_told").splitlines()
    return [line.partition(": ")[2] for line in lines[:-1]], lines[-1]


def frames(hca, scenario):
    """Faults of frames, given, shown, cleared while the server runs."""
    for clock in "wall", "sim":
        with Served(hca, scenario, []) as served:
            equal("at first", faults(served), "no faults\n")
            equal("one more", faults(served, "{action: drop, from: 0, occurrence: 2}"), "faults[0]: {action: drop, occurrence: 2}: 0 frames matched, 0 hit\n")
            equal("sends", sends(served, hca, 3, clock)[0], 3 * [OK])
            # Three sends, and the second of them once more.
            wants(faults(served), r"^faults\[0\]: .*: 4 frames matched, 1 hit$")
            equal("another", faults(served, "faults: [{action: corrupt, from: 1}, {action: delay, delay: 1 us}]").count("\n"), 3)
            equal("instead", faults(served, "--clear", "{action: drop, from: 1, per_million: 1000000}").count("\n"), 1)
            wants("\n".join(sends(served, hca, 1, clock)[0]), "transport retries exceeded")
            equal("none", faults(served, "--clear"), "no faults\n")
            equal("sends", sends(served, hca, 2, clock)[0], 2 * [OK])


def calls(hca, scenario):
    """Calls that fail, and completions: by the scenario and by `hca faults`."""
    entry = "fail: {verb: post_send, nth: 2, status: ENOMEM}"
    settings = [word for key in ("verb=post_send", "nth=2", "status=ENOMEM") for word in ("--set", "fail." + key)]
    for clock in "wall", "sim":
        for given in [], settings:
            with Served(hca, scenario, given) as served:
                if not given:
                    faults(served, entry)
                equal("the second send", sends(served, hca, 3, clock), ([OK, "receive posted, send Cannot allocate memory", OK], "states 3 3"))
                wants(faults(served), r"^fail\[0\]: \{verb: post_send, nth: 2, status: ENOMEM\}: 3 calls, 1 failed$")
                faults(served, "--clear", "fail: [{verb: post_recv, nth: 1, times: 2, status: EINVAL}]")
                got, _ = sends(served, hca, 3, clock)
                equal("two receives", [line.split(",")[0] for line in got], ["receive Invalid argument", "receive Invalid argument", "receive posted"])
        with Served(hca, scenario, []) as served:
            faults(served, "fail: {verb: post_send, nth: 2, status: RETRY_EXC_ERR}")
            got, states = sends(served, hca, 4, clock)
            equal("the first", got[0], OK)
            wants(got[1], "send posted, transport retries exceeded, success")
            wants(got[2], "send posted, work request flushed")
            wants(got[3], "send posted, work request flushed")
            wants(states, "^states 6 ")
            wants(faults(served), r": \d completions, 1 failed$")
            faults(served, "--clear", "fail: {verb: reg_mr, nth: 1, status: EPERM}", "fail: {verb: create_qp, nth: 11, status: ENOSPC}")
            wants(finish(served.start("", told(hca, "register", 4096), clock), "hca_verbs_told", 2), "^ibv_reg_mr: Operation not permitted$")
            faults(served, "--clear", "fail: {verb: create_qp, nth: 11, status: ENOSPC}")
            equal("queue pairs", finish(served.start("", told(hca, "make", 20), clock), "hca_verbs_told", 2), "ibv_create_qp: No space left on device\n")
            wants(faults(served), r": 11 calls, 1 failed$")


def wrong(hca, scenario):
    """A wrong entry is reported with its key and the allowed values, and nothing changes."""
    with Served(hca, scenario, []) as served:
        for entry, said in (
            ("{action: dorp}", r"faults\[0\].action: .*allowed: none \| drop"),
            ("{action: delay}", r"faults\[0\].action: is delay, without a delay; allowed: with delay: 1 ps"),
            ("{action: drop, port: 2}", r"faults\[0\].port: .*allowed: port 1"),
            ("{action: drop, psn: 20000000}", r"faults\[0\].psn: .*out of range; allowed: 0 .. 16777216"),
            ("{action: drop, occurrence: 1, per_million: 4}", r"faults\[0\].occurrence: conflicts with per_million"),
            ("fail: {verb: post_sent}", r"fail.verb: .*did you mean \"post_send\""),
            ("fail: {verb: create_qp, status: RETRY_EXC_ERR}", r"fail.status: .*create_qp, which has no completions; allowed: EPERM"),
            ("fail: {verb: post_send, nth: 0}", r"fail.nth: .*allowed: 1 .."),
            ("fail: {verb: post_send, status: EWRONG}", r"fail.status: \"EWRONG\" .*allowed: EPERM"),
            ("wire.latency: 1 us", r"wire.latency: cannot change while the server runs; allowed: faults, fail"),
            ("", "has no entry; allowed: "),
            ("missing_file", "missing_file: cannot be read"),
        ):
            wants(faults(served, "{action: drop}", entry, code=2), said)
        equal("what is there", faults(served), "no faults\n")
        faults(served, *["fail: {verb: post_send, nth: 1}"] * 32)
        wants(faults(served, "fail: {verb: post_send, nth: 1}", code=2), "the server refuses it: it has too many")


def knobs(hca, scenario):
    """Keys that a server does not support are refused, with their place."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.yaml")
        for line, key in (
            ("workload: [{operation: write, size: 64 B}]", "workload"), ("connection.qps: 4", "connection.qps"), ("connection.service: uc", "connection.service"),
            ("connection.timeout: 10", "connection.timeout"), ("host1.wait: event", "host1.wait"), ("host.warm_up: 1 us", "host.warm_up"),
            ("host.push_line: 1 ns", "host.push_line"), ("host.doorbell_lock: 1 ns", "host.doorbell_lock"), ("run.vcd: true", "run.vcd"),
            ("run.events: true", "run.events"), ("run.hash: true", "run.hash"), ("run.pcap: true", "run.pcap")):
            with open(path, "w") as file:
                file.write(f"connection.framing: ib_local\n{line}\n")
            process = subprocess.run([hca, "serve", path, "--socket", os.path.join(folder, "s")], capture_output=True, text=True, timeout=LIMIT)
            if process.returncode != 2 or not re.search(rf"s.yaml:2: {re.escape(key)}: .*; allowed: ", process.stderr):
                raise Failed(f"{line}: {process}")
        process = subprocess.run([hca, "serve", scenario, "--socket", os.path.join(folder, "s"), "--set", "connection.qps=2"], capture_output=True, text=True)
        wants(process.stderr, "^hca: --set: connection.qps: ")
        with open(path, "w") as file:
            file.write("connection: {framing: ib_local, path_mtu: 2048}\nrun: {vcd: false, seed: 3, quantum: 8 cycles}\nfaults: []\nfail: []\n")
        with Served(hca, path, []) as served:
            wants(finish(served.start("hca0", ["ibv_devinfo"]), "ibv_devinfo"), r"active_mtu:\s+2048")
        with open(path, "w") as file:
            file.write("fail: {verb: post_send, nth: 3}\n")
        process = subprocess.run([hca, "run", path], capture_output=True, text=True, timeout=LIMIT)
        wants(process.stderr, "s.yaml:1: fail.verb: is of programs that attach")


def written(folder):
    with open(os.path.join(folder, "summary.json")) as file:
        summary = json.load(file)
    with open(os.path.join(folder, "counters.csv")) as file:
        counters = {row["counter"]: int(row["value"]) for row in csv.DictReader(file)}
    with open(os.path.join(folder, "faults.csv")) as file:
        return summary, counters, list(csv.DictReader(file))


def records(hca, scenario):
    """What it writes is there while it serves, and `hca replay` accepts the captures."""
    for framing in "ib_local", "rocev2_ip4":
        with tempfile.TemporaryDirectory() as folder:
            with Served(hca, scenario, ["--out", folder, "--set", f"connection.framing={framing}"]) as served:
                faults(served, "{action: drop, from: 0, occurrence: 5}", "fail: {verb: post_send, nth: 7, status: ENOMEM}")
                sends(served, hca, 20, "sim")
                time.sleep(1)
                summary, counters, done = written(folder)
                equal("programs", (summary["serves"], summary["programs"]), (True, {"attached": [], "ended": 1}))
                sent = counters["hca0.port.tx_packets"]
                # Those of link control are on the wire too.
                equal("frames sent", sent + counters["hca0.link_control.told"], summary["ports"][0]["frames_sent"])
                equal("sends and one again", sent >= 20, True)
                equal("what faults did", [(row["action"], row["from"], row["port"]) for row in done], [("drop", "0", "1")])
                equal("the same", (summary["faults"][0]["hit"], summary["fail"][0]["failed"], summary["frames_hit_by_faults"]), (1, 1, 1))
                capture = os.path.join(folder, "run.pcap")
                live = os.path.getsize(capture)
                finish(subprocess.Popen([hca, "replay", capture], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True), "hca replay, meanwhile")
                waits = served.start("", told(hca, "await", 100_000, os.path.join(folder, "file")), "wall")
                waits.stdout.readline()
                time.sleep(1)
                attached = written(folder)[0]["programs"]["attached"]
                equal("attached", [(one["devices"], one["simulated_time"]) for one in attached], [(["hca0"], False), (["hca1"], False)])
                waits.terminate()
                waits.communicate()
            equal("the capture", os.path.getsize(capture), live)
            equal("at the end", written(folder)[0]["serves"], False)
            finish(subprocess.Popen([hca, "replay", capture], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True), "hca replay")


def conversations(hca, scenario):
    """Captures of programs one after the other, and of both ports, are accepted as well."""
    for settings, name, count, arguments in ([], "run.pcap", 70, ""), (["--set", "hca.core.ports=2"], "run.pcapng", 1, " -i 2"):
        with tempfile.TemporaryDirectory() as folder:
            with Served(hca, scenario, ["--out", folder, *settings]) as served:
                for _ in range(count):
                    between(served, "ibv_rc_pingpong -n 2" + arguments, "sim")
            finish(subprocess.Popen([hca, "replay", os.path.join(folder, name)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True), "hca replay")


def between(served, program, clock):
    """Both ends of a program: what the second says."""
    port = free_port()
    server = served.start("hca0", [*program.split(), "-p", str(port)], clock)
    listens(port, server)
    said = finish(served.start("hca1", [*program.split(), "-p", str(port), "127.0.0.1"], clock), "the client")
    finish(server, "the server")
    return said


def load(hca, scenario):
    """Beside six programs that compute a message takes milliseconds no more."""
    if os.cpu_count() > 8:
        print("there are more processors than programs: nothing is shown")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
    try:
        with Served(hca, scenario, []) as served:
            took = min(float(re.search(r"= ([0-9.]+) usec/iter", between(served, "ibv_rc_pingpong -n 300 -s 64", "wall"))[1]) for _ in range(3))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print(f"{took} us a round trip")
    if took > 8000:
        raise Failed("that is as slow as turns of the others are long")


def pages(served):
    with open(f"/proc/{served.process.pid}/statm") as file:
        return int(file.read().split()[1])


def leaks(hca, scenario):
    """Nothing stays of programs that have gone."""
    for clock, count, rounds in ("wall", 3, 200), ("sim", 3, 200), ("sim", 400, 24):
        with Served(hca, scenario, []) as served:
            seen = []
            for number in range(rounds):
                finish(served.start("hca0" if number % 2 else "", told(hca, "make", count), clock), "hca_verbs_told")
                seen.append(pages(served))
            # The fewest of eight programs: the buffers of one that is about to go may still be there. A leak raises them all.
            half, end = min(seen[rounds // 2 - 8:rounds // 2]), min(seen[-8:])
            print(f"{clock}, {count} queue pairs: {half} pages after {rounds // 2} programs, {end} after {rounds}")
            if end > half + 4 + count // 16:
                raise Failed(f"{seen}")


def many(hca, scenario):
    """20 000 queue pairs, again and again."""
    with Served(hca, scenario, ["--set", "hca.core.max_qps=65536"]) as served:
        seen = []
        for _ in range(4):
            finish(served.start("", told(hca, "make", 20_000), "wall"), "hca_verbs_told")
            seen.append(pages(served))
        print(f"pages: {seen}")
        if seen[-1] > seen[1] + 64:
            raise Failed(f"{seen}")


def starting(hca, scenario):
    """Simulated time waits for programs that start, and not for ever."""
    with tempfile.TemporaryDirectory() as folder:
        with Served(hca, scenario, []) as served:  # one that takes 3 s, while another waits for 200 ms of its clock
            file = os.path.join(folder, "one")
            late = served.start("hca1", told(hca, "late", 3000, file), "sim")
            time.sleep(0.5)
            equal("there in time", finish(served.start("hca0", told(hca, "await", 200, file), "sim"), "the first"), "waits\nthere\n")
            finish(late, "the second")
        with Served(hca, scenario, []) as served:  # one that opens nothing: 10 s at the longest
            idle = served.start("", ["sleep", "60"], "sim")
            time.sleep(0.5)
            begun = time.monotonic()
            finish(served.start("hca0", told(hca, "await", 200, os.path.join(folder, "never")), "sim"), "the first", 1)
            took = time.monotonic() - begun
            idle.terminate()
            idle.communicate()
            equal("it waited so long", 5 < took < 40, True)
        wants(served.said, "^a program of `hca run` has not opened a device for 10 s: simulated time continues$")
        with Served(hca, scenario, ["--programs", "2"]) as served:  # for a program not started yet
            file = os.path.join(folder, "two")
            first = served.start("hca0", told(hca, "await", 200, file), "sim")
            first.stdout.readline()
            time.sleep(2)
            equal("it waits", first.poll(), None)
            finish(served.start("hca1", told(hca, "late", 0, file), "sim"), "the second")
            equal("there in time", finish(first, "the first"), "there\n")


def strict(hca, scenario):
    """A thread that simulated time goes on without is named, and fails a strict run."""
    with Served(hca, scenario, []) as served:
        said = finish(served.start("hca0", told(hca, "sleep", 1000), "sim", ["--strict-time"]), "it", 125)
        wants(said, r"^hca: --strict-time: simulated time went on 1 time without a thread of '.*/hca_verbs_told' that had its turn, first thread \d+ "
              r"\(hca_verbs_told\) of process \d+ in (rt_sigtimedwait\(\)|system call 128) at [\w.]+\+0x[0-9a-f]+$")
        wants(finish(served.start("", told(hca, "spin", 8), "sim", ["--strict-time"]), "it", 125),
              r"^it came\nhca: --strict-time: .* first thread \d+ \(hca_verbs_told\) of process \d+ at hca_verbs_told\+0x[0-9a-f]+$")
        finish(served.start("hca0", told(hca, "sleep", 1000), "sim"), "it")
        finish(served.start("hca0", told(hca, "register", 4096), "sim", ["--strict-time"]), "it")
        wants(finish(served.start("hca0", ["true"], "wall", ["--strict-time"]), "it", 2), "--strict-time: is given with --time=wall; allowed: --time=sim")


def costs(hca, scenario):
    """Registration and creation take what the knobs say."""
    pages_of = 1 << 20
    for settings, wanted in ([], (10_000 + 250 * pages_of, 30_000, 100_000)), (
            ["--set", "host.register=1us", "--set", "host.register_page=10ns", "--set", "host.modify=2us", "--set", "host.create=3us"],
            (1000 + 10 * pages_of, 2000, 3000)):
        with Served(hca, scenario, settings) as served:
            said = finish(served.start("hca0", told(hca, "register", 4096 * pages_of), "sim"), "it")
        got = tuple(map(int, re.match(r"register (\d+) deregister (\d+) create (\d+)$", said).groups()))
        for one, other in zip(got, wanted):
            if not other <= one <= other + 3000:  # and the command of the HCA
                raise Failed(f"{got}, not {wanted}")


def presets(hca, scenario):
    """Programs run on the HCAs of each preset."""
    folder = os.path.join(os.path.dirname(scenario), "..", "presets")
    devices = [name for name in sorted(os.listdir(folder)) if "dma_client:" not in open(os.path.join(folder, name)).read()]
    if len(devices) < 4:
        raise Failed(f"only {devices} are presets of HCAs")
    for name in devices:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(f"preset: {name.removesuffix('.yaml')}\n")
            file.flush()
            with Served(hca, file.name, []) as served:
                equal(name, sends(served, hca, 2, "sim")[0], 2 * [OK])


CASES = {
    "frames": frames, "calls": calls, "wrong": wrong, "knobs": knobs, "records": records, "conversations": conversations, "leaks": leaks, "many": many,
    "starting": starting, "strict": strict, "costs": costs, "load": load,
    "presets": presets}


def main():
    hca, folder, *chosen = sys.argv[1:]

    def run(name):
        CASES[name](hca, os.path.join(folder, "verbs.yaml"))
        print(f"{name}: as expected")

    run_cases(chosen or CASES, run)


if __name__ == "__main__":
    main()
