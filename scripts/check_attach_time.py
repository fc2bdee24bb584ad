#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs of Debian's packages print in simulated time on the HCAs of one `hca serve`, beside what the model reports.

check_attach_time.py HCA FOLDER_OF_SCENARIOS CASE [...]: without CASE all of them. `--runs N`: of those that must not differ, 3.
"""
import argparse
import contextlib
import ctypes
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

from check_attach import PART, PERFTEST, PINGPONG, killed_client, killed_server, pair
from served import LIMIT, Failed, Served, finish, free_port, listens, run_pair, wants

# Programs whose turns are of another kind: they sleep until events, spin in memory, use datagrams, another API.
PROGRAMS = ["rc_pingpong_events", "rc_pingpong_times_events", "rc_pingpong_long", "send_bw_group_roce", "rc_pingpong_new_api", "rc_pingpong_roce",
            "ud_pingpong_events", "srq_pingpong_events", "uc_pingpong", "write_lat", "send_bw_events", "send_lat_ud", "write_bw_qps",
            "write_bw_both", "send_bw_srq", "write_bw_new_api", "atomic_bw", "read_bw"]
MTU = 4096  # that of perftest on InfiniBand
MEBI = 1 << 20


def near(what, value, wanted, tolerance):
    print(f"{what}: {value:.4g}, wanted {wanted:.4g} +- {tolerance:.2g}")
    if abs(value - wanted) > tolerance:
        raise Failed(f"{what} is {value}, not {wanted} +- {tolerance}")


def numbers(output):
    """The last row of perftest's table."""
    rows = [line.split() for line in output.splitlines() if re.search(PERFTEST, line)]
    if not rows:
        raise Failed(f"perftest prints no result:\n{output}")
    return [float(number) for number in rows[-1]]


def perftest(hca, scenario, program, settings=()):
    said, answered, _ = run_pair(hca, scenario, program + " -F", list(settings), "sim")
    if "Conflicting CPU" in said + answered:
        raise Failed(f"perftest does not believe its clock:\n{said}")
    return numbers(said)


def bandwidth(hca, scenario, settings=()):  # bits a second
    average = 3
    return perftest(hca, scenario, "ib_write_bw -s 65536 -n 1000", settings)[average] * MEBI * 8


def latency(hca, scenario, program, settings=()):  # us
    typical, deviation = 4, 6
    row = perftest(hca, scenario, program, settings)
    if row[deviation] > 0.01 * row[typical]:
        raise Failed(f"{program}: a deviation of {row[deviation]} us of {row[typical]} us")
    return row[typical]


def reported(hca, workload):
    """Row of `hca run` for this workload alone."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = os.path.join(folder, "flow.yaml")
        with open(scenario, "w") as file:
            file.write(f"connection: {{framing: ib_local, path_mtu: {MTU}}}\nworkload:\n  - {workload}\n")
        subprocess.run([hca, "run", scenario, "--out", folder], check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
        with open(os.path.join(folder, "summary.json")) as file:
            return json.load(file)


def same(hca, scenario, program, runs):
    """Lines of results, and the simulated times at which the programs end."""
    found = set()
    for _ in range(runs):
        said, answered, simulation = run_pair(hca, scenario, program, [], "sim")
        ends = sorted(re.findall(r"hca\d: a program ends at \d+ ns", simulation))
        if len(ends) != 2:
            raise Failed(f"two programs have ended, and the simulation says {simulation!r}")
        results = [line for line in (said + answered).splitlines() if re.search(PINGPONG + "|" + PERFTEST + "|Mbit/sec", line)]
        found.add("\n".join([*results, *ends]))
    print("\n---\n".join(found))
    if len(found) != 1:
        raise Failed(f"{program}: {len(found)} results of {runs} runs")


def same_pingpong(hca, scenario, runs):
    same(hca, scenario, "ibv_rc_pingpong -n 500", runs)


def same_latency(hca, scenario, runs):
    same(hca, scenario, "ib_send_lat -n 300 -F", runs)


def write_bandwidth(hca, scenario, _):
    model = reported(hca, "{operation: write, size: 64 KiB, messages: 1000}")["sizes"][0]["bandwidth"]["gbit_per_s"] * 1e9
    full = bandwidth(hca, scenario)
    near("bandwidth beside the model's, Gb/s", full / 1e9, model / 1e9, 0.005 * model / 1e9)
    small = "ib_write_bw -s 8 -n 5000 -Q 1"  # what the host's posts and polls take limits it
    rate = reported(hca, "{operation: write, size: 8 B, messages: 5000}")["sizes"][0]["bandwidth"]["mmsg_per_s"]
    near(f"{small}: million messages a second", perftest(hca, scenario, small)[-1], rate, 0.04 * rate)
    half = bandwidth(hca, scenario, ["--set", "hca.port.link_rate=50Gb/s"])
    near("of a link of half the rate", half / full, 0.5, 0.005)


def latencies(hca, scenario, _):
    """Of ib_send_lat one that posts a receive for each that it takes, as the model's test does: by itself it posts all of 300 before."""
    for program, operation in ("ib_send_lat -r 8", "send"), ("ib_read_lat", "read"), ("ib_atomic_lat", "fetch_add"):
        for size in (8,) if operation == "fetch_add" else (8, 64):
            workload = f"{{operation: {operation}, size: {size} B, test: latency, messages: 300}}"
            model = reported(hca, workload)["sizes"][0]["latency"]["p50_us"]
            command = f"{program} -n 300" + ("" if operation == "fetch_add" else f" -s {size}")
            near(f"{command}, us", latency(hca, scenario, command), model, 0.01 * model)


def cable(hca, scenario, _):
    longer = ["--set", "wire.latency=1005ns"]  # 1 us more than without
    for program, more in ("ib_send_lat -s 64 -n 300", 1), ("ib_read_lat -s 64 -n 300", 2):
        added = latency(hca, scenario, program, longer) - latency(hca, scenario, program)
        near(f"{program}: us that 1 us of cable adds", added, more, 0.02)


def programs(hca, scenario, _):
    for name in PROGRAMS:
        pair(hca, scenario, name, "sim")


def new_api(hca, scenario, _):
    """Each program of perftest by ibv_wr_*, with as much inline data as it requests from such a device."""
    for name in (f"{operation}_{measures}" for operation in ("write", "send", "read", "atomic") for measures in ("bw", "lat")):
        said, _, _ = run_pair(hca, scenario, f"ib_{name} -n 100 -F", PART, "sim")
        wants(said, r"ibv_wr\* API +: ON\n(.*\n)*" + PERFTEST[1:])


def all_sizes(hca, scenario, _):
    """From 2 B to 8 MiB. Who spins in memory is asked now and then whether what has come is what it waits for, and not for each byte."""
    for name in "write_bw", "send_bw", "read_bw", "send_lat", "read_lat", "write_lat":
        program = f"ib_{name} -a -n 5 -F"
        said, answered, _ = run_pair(hca, scenario, program, [], "sim")
        sizes = [int(line.split()[0]) for line in said.splitlines() if re.search(PERFTEST, line)]
        if sizes != [2 << i for i in range(23)]:
            raise Failed(f"{program} has results for {sizes}:\n{said}")
        print(f"{program}: {numbers(said)}")
    begun = processor_seconds()
    send, write = (latency(hca, scenario, f"ib_{name}_lat -s 1048576 -n 20") for name in ("send", "write"))
    near("ib_write_lat of a megabyte beside ib_send_lat, us", write, send, 0.01 * send)
    near("its processor seconds", processor_seconds() - begun, 0, 25)


def killed(hca, scenario, _):
    killed_client(hca, scenario, "sim")
    killed_server(hca, scenario, "sim")


def children(hca, scenario, _):
    """A program of a shell, which a program has started whose counter of time stamps is its own."""
    with Served(hca, scenario, []) as served:
        port = free_port()
        server = served.start("hca0", ["sh", "-c", f"ib_send_lat -F -n 50 -p {port}; true"], "sim")
        listens(port, server)
        client = served.start("hca1", ["sh", "-c", f"ib_send_lat -F -n 50 -p {port} 127.0.0.1; true"], "sim")
        wants(finish(client, "the client"), PERFTEST)
        wants(finish(server, "the server"), PERFTEST)


def processor_seconds():
    """Of the programs that have ended, simulations among them: no other program on the machine makes them more."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def crowded(is_crowded):
    """On one processor, beside a program that computes: a woken thread continues milliseconds later."""
    before = os.sched_getaffinity(0)
    if not is_crowded:
        yield
        return
    os.sched_setaffinity(0, {min(before)})
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        other.kill()
        other.wait()
        os.sched_setaffinity(0, before)


# Processor seconds that one of them may take, if not 5: `computes` computes, `numbers` sleeps for 3000 s, 3 million steps of the server.
LONGER = {"computes": 15, "numbers": 15}


def wakened(hca, scenario, runs):
    """Threads that wake each other in many ways, children with devices of their own, timers, commands beside posts, both devices: the same in
    each run, the first of which is not beside a program that computes."""
    program = os.path.join(os.path.dirname(hca), "hca_verbs_clocks")
    for name in "threads", "locks", "semaphores", "child", "children", "timers", "commands", "pace", "devices", "pipes", "events", "forked", "queues", \
            "barriers", "barrier", "readers", "writers", "crowd", "faults", "signals", "c11", "computes", "waits", "early", "drains", "futexes", "numbers", "allocates":
        found = set()
        for run in range(runs):
            begun = processor_seconds()
            with crowded(run > 0), Served(hca, scenario, []) as served:
                found.add(finish(served.start("", [program, name], "sim"), name))
            if not run:
                near("processor seconds of a run", processor_seconds() - begun, 0, LONGER.get(name, 5))
        print(f"{name}:\n" + "---\n".join(found))
        if len(found) != 1:
            raise Failed(f"{name}: {len(found)} results of {runs} runs")
        wants(found.pop(), r"^\d+ passed, 0 failed$")


CLOCKS = """
import ctypes, os, subprocess, time
verbs = ctypes.CDLL(None)
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_open_device.restype = ctypes.c_void_p
verbs.ibv_open_device(ctypes.c_void_p(verbs.ibv_get_device_list(None)[0]))
clocks = time.time, time.monotonic, time.perf_counter, lambda: os.times().elapsed
before = [clock() for clock in clocks]
time.sleep(1000)
print([round(clock() - start) for clock, start in zip(clocks, before)], subprocess.run(["echo", "child"], capture_output=True).stdout)
"""


def clocks(hca, scenario, _):
    """They show the same time, a sleep of 1000 s takes none that is real."""
    with Served(hca, scenario, []) as served:
        begun = time.monotonic()
        output = finish(served.start("hca0", ["/usr/bin/python3", "-c", CLOCKS], "sim"), "python3")
        wants(output, r"^\[1000, 1000, 1000, 1000\] b'child\\n'$")
        near("real seconds", time.monotonic() - begun, 0, LIMIT / 2)


def threads_of(process):
    with contextlib.suppress(FileNotFoundError):
        return [int(thread) for thread in os.listdir(f"/proc/{process}/task")]
    return []


QUESTION = 16  # SIGSTKFLT


def handles_question(process):
    """The library of clocks has been set up in it."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{process}/status") as file:
        caught = re.search(r"^SigCgt:\t(\w+)$", file.read(), re.MULTILINE)
        return bool(caught and int(caught[1], 16) >> (QUESTION - 1) & 1)
    return False


def descendants_of(process):
    found = []
    for thread in threads_of(process):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{process}/task/{thread}/children") as file:
            for child in map(int, file.read().split()):
                found += [child, *descendants_of(child)]
    return found


def addresses(hca, scenario, runs):
    """The stack of a program is where it was in each run: the pages that a buffer lies on decide what registering it takes."""
    if subprocess.run(["setarch", "--addr-no-randomize", "true"], capture_output=True).returncode:
        print("the kernel lets nobody switch address space randomization off: not tried")
        return
    with Served(hca, scenario, []) as served:
        stacks = {finish(served.start("", ["grep", "-F", "[stack]", "/proc/self/maps"], "sim"), "grep") for _ in range(runs)}
    if len(stacks) != 1:
        raise Failed(f"stacks of {runs} runs: {stacks}")


def asked(hca, scenario, _):
    """The signal that the server sends to a thread interrupts no call of its program, and ends none, at any moment."""
    program, libc = os.path.join(os.path.dirname(hca), "hca_verbs_clocks"), ctypes.CDLL(None)
    for name in "events", "pipes", "timers", "forked":
        with Served(hca, scenario, []) as served:
            run = served.start("", [program, name], "sim")
            while run.poll() is None:
                for child in filter(handles_question, descendants_of(run.pid)):
                    for thread in threads_of(child):
                        libc.tgkill(child, thread, QUESTION)
                time.sleep(0.02)
            wants(finish(run, name), r"^\d+ passed, 0 failed$")


def rewritten(hca, scenario, runs):
    """The instructions that read the time stamp counter are overwritten, as on a machine where they do not trap: the same figures."""
    os.environ["HCA_TIME_STAMPS"] = "rewrite"
    try:
        write_bandwidth(hca, scenario, runs)
        latencies(hca, scenario, runs)
        program = os.path.join(os.path.dirname(hca), "hca_verbs_clocks")
        with Served(hca, scenario, []) as served:
            wants(finish(served.start("", [program, "faults"], "sim"), "faults"), r"^\d+ passed, 0 failed$")
    finally:
        del os.environ["HCA_TIME_STAMPS"]


def allocators(hca, scenario, _):
    """Before the libraries of the HCA and after them: functions that an allocator calls allocate no memory."""
    program = os.path.join(os.path.dirname(hca), "hca_verbs_clocks")
    for library in "libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc_minimal.so.4":
        for preloaded in f"{library}:$LD_PRELOAD", f"$LD_PRELOAD:{library}":
            with Served(hca, scenario, []) as served:
                for name in "allocates", "locks", "child":
                    command = ["sh", "-c", f"LD_PRELOAD={preloaded} exec {program} {name}"]
                    output = finish(served.start("", command, "sim"), f"{preloaded}: {name}")
                    if "cannot be preloaded" in output:
                        raise Failed(f"no {library}:\n{output}")
                    wants(output, r"^\d+ passed, 0 failed$")


CASES = {case.__name__: case for case in (same_pingpong, same_latency, write_bandwidth, latencies, cable, programs, new_api, all_sizes, killed, children,
                                             clocks, addresses, asked, wakened, rewritten, allocators)}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("hca")
    arguments.add_argument("folder")
    arguments.add_argument("case", nargs="*")
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    scenario = os.path.join(given.folder, "verbs.yaml")
    cases = [CASES[name] for name in given.case] or list(CASES.values())
    for case in cases:
        name = case.__name__
        try:
            case(given.hca, scenario, given.runs)
        except (Failed, subprocess.TimeoutExpired) as error:
            sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main()
