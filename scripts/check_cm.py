#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of rdma_cm on the HCAs of an `hca serve`: connections made by datagrams of communication management.

check_cm.py HCA FOLDER_OF_SCENARIOS CASE [...]; without CASE all of them. Exits 77, with a reason as the last line, where a package is missing.
Beside the cases: `table [sim|wall]` runs all programs on all link layers and prints a row for each.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from served import Failed, Served, finish, main_of_cases, wants

SKIPPED = 77
LAYERS = {
    "InfiniBand": [],
    "RoCEv1": ["--set", "connection.framing=rocev1"],
    "RoCEv2 over IPv4": ["--set", "connection.framing=rocev2_ip4"],
    "RoCEv2 over IPv6": ["--set", "connection.framing=rocev2_ip6"],
}
SERVER, CLIENT = "10.0.0.1", "10.0.0.2"  # of hca0 and hca1
# Name: arguments of the server, of the client, what the client says.
PROGRAMS = {
    "rping": ("rping -s -C 5 -V -S 4096", f"rping -c -a {SERVER} -C 5 -V -S 4096 -v", r"ping data: rdma-ping-4"),
    "rping to the machine": ("rping -s -C 5", "rping -c -a 127.0.0.1 -C 5 -v", r"ping data: rdma-ping-4"),
    "rping over IPv6": ("rping -s -a fe80::1 -C 5", "rping -c -a fe80::1 -C 5 -v", r"ping data: rdma-ping-4"),
    "ucmatose": ("ucmatose -c 2 -C 10", f"ucmatose -s {SERVER} -c 2 -C 10", r"return status 0"),
    "udaddy": ("udaddy -c 2 -C 10", f"udaddy -s {SERVER} -c 2 -C 10", r"return status 0"),
    "ib_write_bw -R": ("ib_write_bw -R -F -n 100", f"ib_write_bw -R -F -n 100 {SERVER}", r"^ 65536\s+100"),
    "ib_read_lat -R": ("ib_read_lat -R -F -n 100", f"ib_read_lat -R -F -n 100 {SERVER}", r"^ 2\s+100"),
    "ib_send_lat -R": ("ib_send_lat -R -F -n 100", f"ib_send_lat -R -F -n 100 {SERVER}", r"^ 2\s+100"),
    "ib_send_bw -R -q 4": ("ib_send_bw -R -F -q 4 -n 100", f"ib_send_bw -R -F -q 4 -n 100 {SERVER}", r"^ 65536\s+400"),
    "ib_send_bw -R -c UD": ("ib_send_bw -R -F -c UD -s 1024 -n 100", f"ib_send_bw -R -F -c UD -s 1024 -n 100 {SERVER}", r"^ 1024\s+100"),
    "fi_pingpong -e msg": ("fi_pingpong -p verbs -e msg -I 20", "fi_pingpong -p verbs -e msg -I 20 127.0.0.1", r"^1m\s+20"),
    "fio --ioengine=rdma": (f"fio --name=s --ioengine=rdma --hostname={SERVER} --port=9900 --verb=recv --iodepth=4 --bs=4k --size=1m --rw=read --thread",
                            f"fio --name=c --ioengine=rdma --hostname={SERVER} --port=9900 --verb=send --iodepth=4 --bs=4k --size=1m --rw=write --thread",
                            r"WRITE: bw="),
    "rstream": ("rstream -S 65536 -I 5 -C 10 -T v", f"rstream -s {SERVER} -S 65536 -I 5 -C 10 -T v", r"^custom\s+64k"),
    "rstream -T b": ("rstream -S 64 -I 200 -C 1 -T b", f"rstream -s {SERVER} -S 64 -I 200 -C 1 -T b", r"^custom\s+64"),
    "rstream -T a": ("rstream -S 4096 -I 20 -C 4 -T a", f"rstream -s {SERVER} -S 4096 -I 20 -C 4 -T a", r"^custom\s+4k"),
    "mckey": (f"mckey -m 239.1.1.1 -b {SERVER} -c 1 -C 5", f"mckey -m 239.1.1.1 -b {CLIENT} -s -c 1 -C 5", r"return status 0"),
    "cmtime": ("cmtime -c 20", f"cmtime -s {SERVER} -c 20", r"^connect\s+:"),
}
MORE = {"cmtime, 100 connections": ("cmtime -c 100", f"cmtime -s {SERVER} -c 100", r"^connect\s+:")}  # beside the table
SETTLED = {"fio --ioengine=rdma": 3}  # seconds: a client that is refused does not end
ONLY = {"fio --ioengine=rdma": "sim"}  # it wants receivers to be quick: it does not send again what finds no receive
HCAS = "hca0", "hca1"
ENDLESS = {"cmtime", *MORE}  # whose server goes on


def needs(*programs):
    if missing := [program for program in programs if not shutil.which(program)]:
        print(f"skipped: {', '.join(missing)} not installed (scripts/setup.sh tests)")
        sys.exit(SKIPPED)


def pair(served, name, clock, options=(), devices=("hca0", "hca1"), settled=0):
    """The output of the client. A client that comes before the server listens is refused and tries again; `settled`: seconds before it."""
    first, second, wanted = {**PROGRAMS, **MORE}[name]
    limit = ["--timeout", "60", *options]
    server = served.start(devices[0], first.split(), clock, limit)
    try:
        time.sleep(settled or SETTLED.get(name, 0.3))
        attempts = []
        for attempt in range(40):
            client = served.start(devices[1], second.split(), clock, limit)
            said = client.communicate()[0]
            attempts.append(f"attempt {attempt}, exit code {client.returncode}:\n{said}")
            if not client.returncode or server.poll() is not None:
                break
            time.sleep(0.3)
        if client.returncode or not re.search(wanted, said, re.MULTILINE):
            raise Failed(f"{name}, {clock}: the client ends with {client.returncode}:\n{''.join(attempts)}")
        if name in ENDLESS:
            server.terminate()
            server.communicate()
        else:
            finish(server, f"{name}, the server")
    finally:
        if server.poll() is None:
            server.kill()
            server.communicate()
    return said


def programs(hca, scenario):
    """rping, ucmatose, udaddy and rstream, in both kinds of time; rping with the libraries that replace the system's, too."""
    needs("rping", "ucmatose", "udaddy", "rstream")
    with Served(hca, scenario, []) as served:
        for clock in "wall", "sim":
            for name in "rping", "rping to the machine", "ucmatose", "udaddy", "rstream":
                pair(served, name, clock)
            pair(served, "rping", clock, ["--library=replace"])
        pair(served, "rping", "wall", devices=("hca0", "hca0"))  # to itself
        pair(served, "rping to the machine", "wall", devices=("", ""))  # who sees both


def calls(hca, scenario):
    """What the man pages of rdma_cm promise, by a program of our own."""
    program = os.path.join(os.path.dirname(hca), "hca_verbs_connections")
    for layer in "InfiniBand", "RoCEv2 over IPv4":
        for clock, options in ("wall", []), ("sim", []), ("sim", ["--library=replace"]):
            with Served(hca, scenario, LAYERS[layer]) as served:
                said = finish(served.start("", [program], clock, ["--timeout", "100", *options]), "the program")
                wants(said, r"^10 groups: \d{3} passed, 0 failed$")
                print(f"{layer}, {clock}{''.join(' ' + option for option in options)}: {said.splitlines()[-1]}")


def killed(hca, scenario):
    """A client that is killed: the server hears of it. A server of the simulation that is killed: programs end, and say why."""
    needs("rping")
    for clock in "wall", "sim":
        with Served(hca, scenario, []) as served:
            server = served.start("hca0", ["rping", "-s", "-v"], clock, ["--timeout", "60"])
            time.sleep(1)
            client = served.start("hca1", ["stdbuf", "-oL", "rping", "-c", "-a", SERVER, "-v"], clock, ["--timeout", "60"])
            if "ping data" not in (first := client.stdout.readline()):
                raise Failed(f"{clock}: the client says {first!r}\n{client.communicate()[0]}")
            with open(f"/proc/{client.pid}/task/{client.pid}/children") as file:
                for child in file.read().split():
                    os.kill(int(child), signal.SIGKILL)
            client.communicate()
            # By the event or, in the midst of a message, by a completion with an error.
            wants(finish(server, "the server", None), r"server DISCONNECT EVENT|cq completion failed")
        with Served(hca, scenario, []) as served:
            server = served.start("hca0", ["rping", "-s"], clock, ["--timeout", "60"])
            time.sleep(1)
            served.process.kill()
            said = server.communicate(timeout=30)[0]
            if not server.returncode or server.returncode == 124:
                raise Failed(f"{clock}: the program ends with {server.returncode} when the simulation is gone:\n{said}")
        without = subprocess.run([hca, "run", "--attach", served.socket, "--", "rping", "-s"], capture_output=True, text=True)
        if without.returncode != 2:
            raise Failed(f"without a simulation: {without}")


def many(hca, scenario):
    """Several programs on each HCA at once, and 100 connections of one."""
    needs("rping", "cmtime")
    for clock in "wall", "sim":
        with Served(hca, scenario, []) as served:
            servers = [served.start(HCAS[i % 2], ["rping", "-s", "-p", str(7200 + i), "-C", "20"], clock, ["--timeout", "100"]) for i in range(4)]
            time.sleep(2)
            clients = [served.start(HCAS[1 - i % 2], ["rping", "-c", "-a", "127.0.0.1", "-p", str(7200 + i), "-C", "20", "-v"], clock,
                                    ["--timeout", "100"]) for i in range(4)]
            for client in clients:
                wants(finish(client, "a client"), r"ping data: rdma-ping-19")
            for server in servers:
                finish(server, "a server")
            pair(served, "cmtime, 100 connections", clock)


def ports(hca, scenario):
    """HCAs with two ports: connections use the first one."""
    needs("rping")
    with Served(hca, scenario, ["--set", "hca.core.ports=2"]) as served:
        for clock in "wall", "sim":
            pair(served, "rping", clock)


def by_name(hca, scenario):
    """A program that opens librdmacm by itself, which Python is."""
    program = ("import ctypes as c\nl=c.CDLL('librdmacm.so.1',use_errno=True)\nl.rdma_get_devices.restype=c.POINTER(c.c_void_p)\nn=c.c_int()\n"
               "l.rdma_get_devices(c.byref(n))\ni=c.c_void_p()\nprint(n.value,l.rdma_create_id(None,c.byref(i),None,0x106),l.rdma_listen(i,1),"
               "l.rdma_destroy_id(i))")
    with Served(hca, scenario, []) as served:
        for clock in "wall", "sim":
            for form in "preload", "replace":
                said = finish(served.start("", ["/usr/bin/python3", "-c", program], clock, [f"--library={form}"]), "the program")
                if said != "2 0 0 0\n":
                    raise Failed(f"{clock}, {form}: {said!r}")


def same(hca, scenario, runs=5):
    """rping and ucmatose end at the same simulated time in each run."""
    needs("rping", "ucmatose")
    for name in "rping", "ucmatose":
        seen = set()
        for _ in range(runs):
            with Served(hca, scenario, []) as served:
                pair(served, name, "sim", settled=2)
            seen.add(served.said)
        if len(seen) != 1:
            raise Failed(f"{name} ends differently:\n" + "\n".join(sorted(seen)))
        print(name + ": " + " ".join(seen.pop().split("\n")))


# Each message, which of the datagrams of its sender it is, and how often it is then on the wire: lost ones are not.
MESSAGES = {"ConnectRequest": (1, 1), "ConnectReply": (0, 1), "ReadyToUse": (1, 2), "DisconnectRequest": (1, 3), "DisconnectReply": (0, 2)}


def lost(hca, scenario):
    """Each message is lost once: it goes again, and rping has its connection."""
    needs("rping", "tshark")
    with tempfile.TemporaryDirectory() as folder:
        for message, (sender, occurrence) in MESSAGES.items():
            faulty, out = os.path.join(folder, "faulty.yaml"), os.path.join(folder, "out")
            with open(scenario) as file, open(faulty, "w") as copy:
                copy.write(file.read() + f"faults:\n  - {{action: drop, from: {sender}, qpn: 1, occurrence: {occurrence}}}\n")
            with Served(hca, faulty, ["--out", out, "--set", "verbs.cm_response_timeout=12"]) as served:
                pair(served, "rping", "sim", settled=2)
            names = subprocess.run(["tshark", "-r", os.path.join(out, "run.pcap"), "-Y", "infiniband.mad.mgmtclass == 0x07", "-T", "fields", "-e",
                                    "_ws.col.Info"], check=True, capture_output=True, text=True).stdout.splitlines()
            missing = [each for each in MESSAGES if not any(each in name for name in names)]
            if missing not in ([], ["DisconnectReply"]) or (missing and message != "DisconnectReply"):
                raise Failed(f"{message} lost: no {missing} among {names}")
            print(f"{message} lost: {len(names)} datagrams")


def decoded(hca, scenario):
    """`hca decode` and tshark name the datagrams of a capture of `hca serve`, and their addresses of IP; a replay accepts it."""
    needs("rping", "udaddy", "tshark")
    with tempfile.TemporaryDirectory() as out:
        with Served(hca, scenario, ["--out", out]) as served:
            pair(served, "rping", "sim", settled=2)
            pair(served, "udaddy", "sim", settled=2)
        capture = os.path.join(out, "run.pcap")
        said = subprocess.run([hca, "decode", capture], check=True, capture_output=True, text=True).stdout
        for name in "REQ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP":
            wants(said, rf"CM {name}$")
        wants(said, r"DestinationIp\s+.*:?a00:1|DestinationIp\s+::10\.0\.0\.1")
        wants(said, r"IP protocol 6, port 7174")
        wants(subprocess.run([hca, "replay", capture], capture_output=True, text=True).stdout, r"frames judged\s+legal$")


def refused(hca, scenario):
    """What is not there is named, and the call fails."""
    needs("rping", "udpong", "riostream")
    with Served(hca, scenario, []) as served:
        for arguments, pattern in ((["udpong"], r"^hca: rsocket: only sockets of streams are supported$"),
                                   (["rping", "-c", "-a", "10.9.9.9"], r"rdma_resolve_addr: Network is unreachable"),
                                   (["rping", "-s", "-a", CLIENT], r"rdma_bind_addr: Cannot assign requested address"),
                                   (["rping", "-c", "-a", SERVER], r"reject|REJECTED")):
            program = served.start("hca0" if arguments[1:2] != ["-c"] else "hca1", arguments, "wall", ["--timeout", "20"])
            said = program.communicate()[0]
            if not program.returncode or program.returncode == 124:
                raise Failed(f"{arguments} ends with {program.returncode}:\n{said}")
            wants(said, pattern)


def table(hca, scenario, clocks):
    """Every program, link layer and kind of time; goes on after what fails."""
    bad = 0
    for clock in clocks:
        for layer, settings in LAYERS.items():
            for name in PROGRAMS:
                if clock not in ONLY.get(name, clock):
                    continue
                try:
                    with Served(hca, scenario, settings) as served:
                        said = pair(served, name, clock)
                    verdict = "good: " + re.search(PROGRAMS[name][2] + ".*", said, re.MULTILINE)[0].strip()[:60]
                except Failed as error:
                    bad += 1
                    verdict = "FAILED: " + re.sub(r"\s+", " ", str(error))[-160:]
                print(f"| {name} | {clock} | {layer} | {' '.join(verdict.split())[:200]} |", flush=True)
    if bad:
        raise Failed(f"{bad} rows")


CASES = {"programs": programs, "calls": calls, "same": same, "lost": lost, "decoded": decoded, "refused": refused, "killed": killed, "by_name": by_name, "many": many,
         "ports": ports}


def main():
    main_of_cases(CASES, table)


if __name__ == "__main__":
    main()
