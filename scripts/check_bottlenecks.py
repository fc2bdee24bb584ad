#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the limit that is named the one whose improvement gains most?

check_bottlenecks.py HCA [COUNT [FIRST]]: `hca run --check-bottleneck` for COUNT scenarios (10 if not given, 60 are all that are written
here; more are made at random) from number FIRST on. Prints a line for each, and the whole output of those that are wrong.
Fails if fewer than 95 % are right.
"""
import random
import subprocess
import sys
import tempfile

LIMIT = 600  # seconds for a scenario and its trials
WANTED = 0.95

SMALL = "{operation: write, size: 64 B, messages: 2000}"
LARGE = "{operation: write, size: 16 KiB, messages: 100}"
# (name, scenario). The first ten are of CI: causes by construction, a mix, threads, nothing at all.
WRITTEN = [
    ("link", f"hca: {{port: {{link_rate: 50 Gb/s}}}}\nworkload: [{LARGE}]\n"),
    ("one core", f"host0: {{post_send: 1 us}}\nworkload: [{SMALL}]\n"),
    ("one core beside sixteen", "workload:\n  - {operation: write, size: 8 B, inline_below: 9 B, threads: 1, qps: 16, depth: 128, list: 16, messages: 6000}\n"
     "  - {operation: write, size: 8 B, inline_below: 9 B, threads: 16, qps: 16, depth: 128, list: 16, messages: 6000}\n"),
    ("read tags", f"pcie: {{read_tags: 2}}\nworkload: [{LARGE}]\n"),
    ("depth", "wire: {latency: 50 us}\nhca: {link_control: {buffer: 2 MiB}}\nworkload: [{operation: write, size: 16 KiB, messages: 100, depth: 4}]\n"),
    ("max_rd_atomic", "connection: {max_rd_atomic: 2}\nworkload: [{operation: read, size: 64 B, messages: 500}]\n"),
    ("mix", "workload: [{mix: {write: 1, read: 1}, size: 4 KiB, qps: 8, messages: 1500}]\n"),
    ("threads", "workload: [{operation: write, size: 64 B, qps: 8, threads: 8, inline_below: 65 B, messages: 8000}]\n"),
    ("schedule kept", "workload: [{operation: write, size: 64 B, message_rate: 100000, messages: 300}]\n"),
    ("ATOMICs", "workload: [{operation: compare_swap, messages: 1000, qps: 8}]\n"),
    ("one of sixteen threads", "workload:\n  - {operation: write, size: 8 B, inline_below: 9 B, threads: 1, qps: 16, depth: 128, list: 16, messages: 20000}\n"),
    ("window behind cores", "hca: {core: {clock: 1 GHz}, port: {link_rate: 400 Gb/s}, packetizer: {buffers: 256}, responder_execute: {responses: 256}}\n"
     "pcie: {generation: 5, lanes: 16, read_tags: 512, split: by_address}\nconnection: {path_mtu: 4096}\n"
     "workload: [{operation: read, size: 8 B, threads: 16, qps: 16, depth: 16, list: 16, messages: 20000}]\n"),
    ("buffers that change nothing", "hca: {core: {clock: 1 GHz}, port: {link_rate: 800 Gb/s}, icrc_unit: {beat_bytes: 128 B}, requester: {interval: 1 cycle}, "
     "qp_scheduler: {interval: 1 cycle, batch: 16, turns: 8, slots: 256}, packetizer: {buffers: 256}, responder_execute: {responses: 256}}\n"
     "pcie: {generation: 6, lanes: 16, read_tags: 1024}\nhost: {post_send: 5 ns, completion: 1 ns, post_recv: 2 ns}\nconnection: {path_mtu: 4096}\n"
     "workload: [{operation: write, size: 8 B, inline_below: 9 B, threads: 16, qps: 64, depth: 128, list: 16, signal_every: 16, messages: 60000, direction: both}]\n"),
    ("SRQ", "hca: {core: {clock: 800 MHz}, port: {link_rate: 200 Gb/s}}\npcie: {generation: 4, read_tags: 256}\nconnection: {path_mtu: 4096, srq: true}\n"
     "workload: [{operation: send, size: 64 B, inline_below: 65 B, depth: 64, qps: 64, threads: 8, messages: 20000}]\n"),
    ("large SENDs to eight cores", "hca: {core: {clock: 800 MHz}, port: {link_rate: 200 Gb/s}}\npcie: {generation: 4, read_tags: 256}\nconnection: {path_mtu: 4096}\n"
     "workload: [{operation: send, size: 4 KiB, depth: 16, qps: 64, threads: 8, messages: 8000}]\n"),
    ("lost tail", "connection: {timeout: 10}\nfaults: [{action: drop, from: 0, per_million: 3000}]\n"
     "workload: [{operation: write, size: 4 KiB, depth: 1, messages: 400}]\n"),
    ("lane buffers", f"hca: {{packetizer: {{lane_buffers: 2}}}}\nworkload: [{LARGE}]\n"),
    ("packet buffers", f"hca: {{packetizer: {{buffers: 2}}}}\nworkload: [{LARGE}]\n"),
    ("responses", "hca: {responder_execute: {responses: 2}}\nworkload: [{operation: read, size: 16 KiB, messages: 100}]\n"),
    ("turns", f"hca: {{qp_scheduler: {{turns: 1, batch: 1}}}}\nworkload: [{SMALL}]\n"),
    ("scheduler", f"hca: {{qp_scheduler: {{interval: 400 cycles, batch: 1}}}}\nworkload: [{SMALL}]\n"),
    ("contexts", f"hca: {{qp_context: {{interval: 100 cycles}}}}\nworkload: [{SMALL}]\n"),
    ("keys", f"hca: {{protection: {{interval: 100 cycles}}}}\nworkload: [{SMALL}]\n"),
    ("READ interval", "hca: {responder_execute: {read_interval: 400 cycles}}\nworkload: [{operation: read, size: 64 B, messages: 1000}]\n"),
    ("receive WQEs", "hca1: {responder_execute: {batch: 1}}\npcie1: {memory_latency: 1 us}\nworkload: [{operation: send, size: 64 B, messages: 500}]\n"),
    ("posted credits", f"pcie1: {{root_posted_headers: 2}}\nworkload: [{LARGE}]\n"),
    ("non-posted credits", f"pcie0: {{root_nonposted_headers: 2}}\nworkload: [{LARGE}]\n"),
    ("memory", f"pcie1: {{memory_rate: 10 Gb/s}}\nworkload: [{LARGE}]\n"),
    ("one cache line", "pcie1: {same_line_interval: 200 ns}\nworkload: [{operation: read, size: 8 B, qps: 8, depth: 8, messages: 4000, read_addresses: 1}]\n"),
    ("page walks", f"pcie1: {{iommu_entries: 4, iommu_walk: 2 us}}\nworkload: [{LARGE}]\n"),
    ("PCIe line", f"pcie: {{generation: 2, lanes: 4}}\nworkload: [{LARGE}]\n"),
    ("receiving core", "host1: {post_recv: 1 us}\nconnection: {min_rnr_timer: 1}\nworkload: [{operation: send, size: 64 B, messages: 4000}]\n"),
    ("completion buffers", "hca: {completion: {buffers: 1}}\npcie: {latency: 1 us}\nworkload: [{operation: write, size: 8 B, messages: 2000, qps: 4}]\n"),
    ("rate limit", "connection: {rate_limit: 1 Gb/s}\nworkload: [{operation: write, size: 64 B, messages: 1000, qps: 4}]\n"),
    ("link credits", "hca: {link_control: {mode: credits, buffer: 8 KiB}}\nconnection: {framing: ib_local}\nwire: {latency: 5 us}\n"
     f"workload: [{LARGE}]\n"),
    ("slow core", f"hca: {{core: {{clock: 100 MHz, allow_slow_core: true}}}}\nworkload: [{LARGE}]\n"),
    ("default, small", "workload: [{operation: write, size: 64 B, messages: 4000}]\n"),
    ("default, large", "workload: [{operation: write, size: 64 KiB, messages: 200}]\n"),
    ("default, READ", "workload: [{operation: read, size: 64 KiB, messages: 200}]\n"),
    ("default, SEND", "workload: [{operation: send, size: 2 KiB, messages: 2000}]\n"),
    ("both ways", "workload: [{operation: write, size: 4 KiB, qps: 4, messages: 2000, direction: both}]\n"),
    ("connectx3", "preset: connectx3\nworkload: [{operation: write, size: 64 B, qps: 4, messages: 4000}]\n"),
    ("connectx4", "preset: connectx4\nworkload: [{operation: send, size: 32 KiB, messages: 200}]\n"),
    ("connectx5", "preset: connectx5\nworkload: [{operation: write, size: 16 B, qps: 8, threads: 4, messages: 8000}]\n"),
    ("connectx6", "preset: connectx6\nworkload: [{operation: read, size: 64 B, qps: 16, threads: 16, messages: 16000}]\n"),
]


def made(number):
    """A scenario at random, the same for the same number."""
    r = random.Random(number)
    threads = r.choice([1, 1, 2, 4, 8])
    operation = r.choice(["write", "send", "read", "write"])
    size = r.choice([8, 64, 256, 1024, 4096, 16384, 65536])
    entry = f"operation: {operation}, size: {size} B, threads: {threads}, qps: {threads * r.choice([1, 2, 4, 8])}, depth: {r.choice([1, 4, 16, 64, 128])}, "
    entry += f"messages: {max(100, min(6000, (8 << 20) // max(size, 512)))}, direction: {r.choice(['forward', 'forward', 'both'])}"
    return f"random {number}", (
        f"hca: {{core: {{clock: {r.choice([400, 800, 1000])} MHz}}, port: {{link_rate: {r.choice([25, 50, 100])} Gb/s}}, "
        f"packetizer: {{buffers: {r.choice([8, 32, 128])}}}, responder_execute: {{responses: {r.choice([8, 32, 128])}}}, "
        "link_control: {buffer: 1 MiB}}\n"  # enough for the longest cable
        f"pcie: {{generation: {r.choice([2, 3, 4])}, lanes: {r.choice([4, 8, 16])}, read_tags: {r.choice([8, 32, 256])}}}\n"
        f"host: {{post_send: {r.choice([10, 40, 200])} ns}}\nwire: {{latency: {r.choice([100, 1000, 10000])} ns}}\n"
        f"workload: [{{{entry}}}]\n")


def main():
    hca, count, first = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10, int(sys.argv[3]) if len(sys.argv) > 3 else 0
    right = 0
    for number in range(first, first + count):
        name, text = WRITTEN[number] if number < len(WRITTEN) else made(number)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            run = subprocess.run([hca, "run", file.name, "--check-bottleneck"], capture_output=True, text=True, timeout=LIMIT)
        named = [line.split(" (")[0].removeprefix("  named ").strip() for line in run.stdout.splitlines() if line.startswith("  named")]
        right += run.returncode == 0
        print(f"{number:3} {'right' if run.returncode == 0 else 'WRONG'} {name}: {'; '.join(named) or 'nothing is named'}", flush=True)
        if run.returncode:
            print("\n".join("    " + line for line in (text + run.stdout + run.stderr).splitlines() if not line.startswith("run: ")), flush=True)
    print(f"{right} of {count} are right")
    sys.exit(right < WANTED * count)


if __name__ == "__main__":
    main()
