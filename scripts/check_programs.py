#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs of others see of the HCAs of an `hca serve`, and whether they work on them.

check_programs.py HCA FOLDER_OF_SCENARIOS CASE [...]: each program within a limit of real time; without CASE all of them. Exits 77, with a
reason as the last line, where a package is missing. Beside the cases: `table [sim|wall]` runs all programs on all link layers and prints a row for each.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from served import Failed, Served, finish, free_port, listens, main_of_cases, wants

SKIPPED = 77
LAYERS = {
    "InfiniBand": [],
    "RoCEv1": ["--set", "connection.framing=rocev1"],
    "RoCEv2 over IPv4": ["--set", "connection.framing=rocev2_ip4"],
    "RoCEv2 over IPv6": ["--set", "connection.framing=rocev2_ip6"],
}
# As root too, and more ranks than processors.
MPI = {
    "openmpi": (["mpirun.openmpi", "--oversubscribe", "--mca", "pml", "ucx", "--mca", "osc", "ucx", "-n"], "mpicc.openmpi"),
    "mpich": (["mpirun.mpich", "-n"], "mpicc.mpich"),
}
# By the HCA alone: no shared memory, no TCP.
TRANSPORTS = {"UCX_TLS": "rc_v,ud_v,self", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Tests of ucx_perftest: name, size of a message, iterations; those of its lower layer take a device's name from the client:
# both ends are on one HCA.
LOWER = "put_lat", "put_bw", "get", "am_lat", "am_bw", "add_mr", "fadd", "cswap"
UCX = [("ucp_put_lat", 8, 50), ("ucp_put_bw", 4096, 100), ("ucp_get", 4096, 100), ("ucp_am_lat", 64, 100), ("ucp_am_bw", 4096, 100), ("tag_lat", 8, 100),
       ("tag_bw", 4096, 100), ("tag_sync_lat", 8, 100), ("stream_lat", 8, 100), ("stream_bw", 4096, 100), ("ucp_add", 8, 100), ("ucp_fadd", 8, 100),
       ("ucp_swap", 8, 100), ("ucp_cswap", 8, 100), ("tag_bw", 1 << 20, 20), *((test, 4096 if test == "get" else 8, 100) for test in LOWER)]
HCAS = "hca0", "hca1"


def needs(*programs):
    if missing := [program for program in programs if not shutil.which(program)]:
        print(f"skipped: {', '.join(missing)} not installed (scripts/setup.sh tests)")
        sys.exit(SKIPPED)


def said_by(served, device, arguments, clock="wall", options=(), code=0):
    return finish(served.start(device, arguments, clock, options), arguments[0], code)


def carried(served):
    """Packets that each HCA has sent, as the files of its port say."""
    files = [f"/sys/class/infiniband/{hca}/ports/1/counters/port_xmit_packets" for hca in HCAS]
    return [int(line) for line in said_by(served, "", ["cat", *files]).splitlines() if line.isdigit()]


# ---- What is seen
def without_note(text):
    return "".join(line for line in text.splitlines(True) if not line.startswith("hca: "))


def files(hca, scenario):
    """Each way to look at a file or folder, by programs that use different functions of the C library."""
    python = ("import glob,os,stat;p='/sys/class/infiniband/';print(sorted(os.listdir(p)),sorted(glob.glob(p+'*/ports/1')),os.readlink(p+'hca0'),"
              "os.path.realpath(p+'hca1/device'),sep='\\n');s=os.stat('/dev/infiniband/uverbs1');print(stat.S_ISCHR(s.st_mode),os.major(s.st_rdev),"
              "os.minor(s.st_rdev),os.access('/dev/infiniband/uverbs0',os.R_OK|os.W_OK),os.path.islink('/dev/infiniband/uverbs0'));"
              "f=os.open('/dev/infiniband/uverbs0',os.O_RDWR);print(os.minor(os.fstat(f).st_rdev));os.close(f);"
              "f=os.open('/dev/null',os.O_RDWR);print(os.minor(os.fstat(f).st_rdev))")
    listed = ("['hca0', 'hca1']\n['/sys/class/infiniband/hca0/ports/1', '/sys/class/infiniband/hca1/ports/1']\n"
              "../../devices/pci8000:00/8000:00:01.0/infiniband/hca0\n/sys/devices/pci8000:00/8000:00:02.0\nTrue 231 193 True False\n192\n3\n")
    port = "/sys/class/infiniband/hca1/ports/1/"
    rows = [
        (["python3", "-c", python], listed, 0),
        (["cat", port + "state", port + "gids/0", port + "gid_attrs/types/0", port + "pkeys/0", port + "lid", port + "rate"],
         "4: ACTIVE\nfe80:0000:0000:0000:0000:0000:0000:0002\nIB/RoCE v1\n0xffff\n0x2\n100 Gb/sec (4X EDR)\n", 0),
        (["sh", "-c", "cd /sys/class/infiniband && echo * && cd hca0/ports && cat 1/link_layer && pwd -P"],
         "hca0 hca1\nInfiniBand\n/sys/devices/pci8000:00/8000:00:01.0/infiniband/hca0/ports\n", 0),
        (["cat", "/sys//class/./net/../infiniband/hca0/node_guid"], "0200:00ff:fe00:0001\n", 0),
        (["find", "/dev/infiniband/", "-name", "uverbs*", "-newermt", "1970-01-02", "-printf", "%f\n"], None, 0),
        (["stat", "-c", "%F %t %T", "/dev/infiniband/uverbs0"], "character special file e7 c0\n", 0),
        (["realpath", "/sys/dev/char/231:193/device"], "/sys/devices/pci8000:00/8000:00:02.0\n", 0),
        (["sh", "-c", "echo 1 > " + port + "state"], None, 2),
        (["cat", "/sys/class/infiniband/hca7/node_guid"], "cat: /sys/class/infiniband/hca7/node_guid: No such file or directory\n", 1),
    ]
    with Served(hca, scenario, []) as served:
        for options in [], ["--library=replace"]:
            for arguments, expected, code in rows:
                said = without_note(said_by(served, "", arguments, "wall", options, code))
                if expected is not None and said != expected:
                    raise Failed(f"{arguments} says {said!r} instead of {expected!r}")
        if without_note(said_by(served, "hca1", ["ls", "/sys/class/infiniband", "/dev/infiniband"])) != (
                "/dev/infiniband:\nuverbs1\n\n/sys/class/infiniband:\nhca1\n"):
            raise Failed("--device hca1 shows another one")
        folder = served.socket + ".files"
        if not os.path.isdir(folder):
            raise Failed(f"there is no {folder}")
    if os.path.exists(folder):
        raise Failed(f"{folder} is left behind")
    with Served(hca, scenario, LAYERS["RoCEv2 over IPv4"]) as served:
        said = said_by(served, "", ["cat", port + "gids/3", port + "gid_attrs/types/3", port + "link_layer", port + "sm_lid"])
        wants(said, r"^0000:0000:0000:0000:0000:ffff:[0-9a-f:]{9}\nRoCE v2\nEthernet\n0x0$")


def live(hca, scenario):
    """What changes: counters of a port, its state when the cable breaks; in both kinds of time."""
    with Served(hca, scenario, []) as served:
        for clock in "wall", "sim":
            before = carried(served)
            port = free_port()
            program = ["ibv_rc_pingpong", "-n", "50", "-s", "4096", "-p", str(port)]
            ends = [served.start("hca0", program, clock)]
            listens(port, ends[0])
            ends.append(served.start("hca1", [*program, "127.0.0.1"], clock))
            for end in ends:
                finish(end, "ibv_rc_pingpong")
            sent = [after - first for first, after in zip(before, carried(served))]
            if sent != [50 * 4 + 50] * 2:  # each way 50 messages at its path MTU of 1024, and an ACK for each of the others
                raise Failed(f"the counters say that {sent} packets were sent")
    with Served(hca, scenario, ["--set", "wire.down_from=1ms", "--set", "wire.down_for=1000s"]) as served:
        watch = served.start("hca1", ["stdbuf", "-oL", "ibv_asyncwatch"])  # in wall time the break lasts
        try:
            wants("".join(watch.stdout.readline() for _ in range(2)), "PORT_ERR")
            wants(said_by(served, "", ["ibstat"]) if shutil.which("ibstat") else "State: Down", r"State: Down")
            wants(said_by(served, "", ["cat", "/sys/class/infiniband/hca0/ports/1/state"]), r"^1: DOWN$")
        finally:
            watch.terminate()
            watch.communicate()


def tools(hca, scenario):
    """ibstat, ibstatus and ibv_devinfo agree, on each link layer."""
    needs("ibstat", "ibv_devinfo")
    words = {"PORT_ACTIVE (4)": "active", "Active": "active", "4: ACTIVE": "active"}
    for layer, settings in LAYERS.items():
        with Served(hca, scenario, settings) as served:
            for device in HCAS:
                seen = set()
                for program, patterns in (("ibstat", (r"State: (.*)", r"Base lid: (\d+)", r"SM lid: (\d+)", r"Link layer: (\w+)")),
                                          ("ibstatus", (r"state:\s+(4: .*)", r"base lid:\s+(0x\w+)", r"sm lid:\s+(0x\w+)", r"link_layer:\s+(\w+)")),
                                          ("ibv_devinfo", (r"state:\s+(.*)", r"port_lid:\s+(\d+)", r"sm_lid:\s+(\d+)", r"link_layer:\s+(\w+)"))):
                    said = said_by(served, device, [program])
                    found = [re.search(pattern, said) for pattern in patterns]
                    if None in found:
                        raise Failed(f"{program} of {layer}: no {patterns[found.index(None)]!r} in\n{said}")
                    state, lid, sm, link = (match[1] for match in found)
                    seen.add((words.get(state, state), int(lid, 0), int(sm, 0), link))
                    if re.search("hca[01]", said)[0] != device or said.count("ort 1") + said.count("port:\t1") < 1:
                        raise Failed(f"{program} shows another device than {device}:\n{said}")
                if len(seen) != 1:
                    raise Failed(f"{layer}: they say {seen}")
                print(f"{layer}, {device}: {seen.pop()}")


def topology(hca, scenario):
    """hwloc finds the HCAs."""
    needs("lstopo-no-graphics")
    with Served(hca, scenario, []) as served:
        said = said_by(served, "", ["lstopo-no-graphics", "--of", "console"])
        for device in HCAS:
            wants(said, f'OpenFabrics "{device}"')


# ---- Told at once
def told(hca, scenario):
    """A program that cannot load the libraries, or that opens no device, is named in one line."""
    with Served(hca, scenario, []) as served, tempfile.TemporaryDirectory() as folder:
        for name, clause in ("true", "it has not asked for one"), ("ibv_devices", "it has listed the devices"):
            wants(said_by(served, "", [name]), f"^hca: '{name}' has ended without having opened a device: {clause}$")
        if "hca: " in said_by(served, "", ["ibv_devinfo"]):
            raise Failed("a program that has opened a device is told that it has not")
        wants(said_by(served, "", ["sh", "-c", "exit 7"], code=7), "it has not asked for one")
        killed = said_by(served, "", ["sh", "-c", "kill -KILL $$"], code=-signal.SIGKILL)
        wants(killed, r"^hca: 'sh' has ended by signal 9 \(Killed\) without having opened a device: ")
        program, source, script = (os.path.join(folder, name) for name in ("program", "program.c", "script"))
        with open(source, "w") as file:
            file.write("int main(void) { return 0; }\n")
        with open(script, "w") as file:
            file.write(f"#!{program} -x\n")
        os.chmod(script, 0o755)
        for flags in ["-static"], ["-static-pie"]:
            subprocess.run(["gcc", *flags, source, "-o", program], check=True)
            for what in program, script:
                said = said_by(served, "", [what], code=2)
                wants(said, f"^hca: --attach: '{what}' is statically linked: the verbs cannot be loaded into it$")


def flags(hca, scenario):
    """--wait and --timeout, and that the program's end is that of `hca run`."""
    with Served(hca, scenario, []) as served:
        started = time.monotonic()
        said = said_by(served, "", ["sh", "-c", "sleep 60 & wait"], options=["--timeout", "0.5"], code=124)
        wants(said, "^hca: --timeout: 'sh' was ended after 0.5 s$")
        if time.monotonic() - started > 10:  # the pipe is closed when all that it has started is gone
            raise Failed("what the program has started goes on")
        said_by(served, "", ["sh", "-c", "kill -SEGV $$"], code=-11)
        said_by(served, "", ["sh", "-c", "exit 3"], options=["--timeout", "60"], code=3)
        sleeper = served.start("", ["sh", "-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.1; done"])
        if sleeper.stdout.readline() != "ready\n":
            raise Failed("the program is not ready")
        sleeper.terminate()  # is passed on
        finish(sleeper, "sh", 9)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s")
        early = subprocess.Popen([hca, "run", "--attach", path, "--wait", "30", "--", "ibv_devices"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(0.3)
        server = subprocess.Popen([hca, "serve", scenario, "--socket", path], stdout=subprocess.DEVNULL)
        try:
            wants(finish(early, "ibv_devices"), r"hca0\s+020000fffe000001")
        finally:
            server.terminate()
            server.wait()
        late = subprocess.run([hca, "run", "--attach", path, "--wait", "0.2", "--", "true"], capture_output=True, text=True)
        if late.returncode != 2 or "no simulation serves the socket" not in late.stderr:
            raise Failed(f"without a server: {late}")


def sanitized(hca, scenario):
    """A program built with AddressSanitizer, whose library wants to be the first, in all forms; it opens libibverbs by itself."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with Served(hca, scenario, []) as served, tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run(["g++", "-std=c++20", "-fsanitize=address", os.path.join(root, "testbench/tests/programs/verbs_library/by_name.cpp"), "-o", program, "-ldl"],
                       check=True)
        for clock in "wall", "sim":
            for form in "preload", "replace":
                said = said_by(served, "", [program], clock, [f"--library={form}"])
                if said != "hca0\nhca1\n":
                    raise Failed(f"{clock}, {form}: {said!r}")


def script(hca, _):
    """The script of docs/manual/reference/verbs.md for CI: data go over the wire, and are in its capture."""
    needs("tshark", "ibv_rc_pingpong")
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(root, "docs/manual/reference/verbs.md")) as file:
        text = re.search(r"^## In CI$.*?```sh\n(.*?)```", file.read(), re.DOTALL | re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder:
        text = text.replace("build/release/hca", hca).replace("/tmp/hca-ci", os.path.join(folder, "s"))
        said = finish(subprocess.Popen(["bash", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=root), "the script")
        wants(said, r"100 iters in")
        wants(said, r"hca0/ports/1/counters/port_xmit_packets:\d{3,}$")
        sent = int(re.search(r"hca1/ports/1/counters/port_xmit_packets:(\d+)", said)[1])
        capture = os.path.join(folder, "s-out", "run.pcap")
        frames = subprocess.run(["tshark", "-r", capture, "-T", "fields", "-e", "frame.number"], check=True, capture_output=True, text=True).stdout.splitlines()
        with open(os.path.join(folder, "s-out", "counters.csv")) as file:
            counted = int(re.search(r"^hca1.port.tx_packets,(\d+)$", file.read(), re.MULTILINE)[1])
        if len(frames) != 2 * sent or counted != sent:
            raise Failed(f"{len(frames)} frames in the capture, hca1 sent {sent}, or {counted}")
    for knob, said in (("pcap", "needs a directory"), ("vcd", "writes only captures and counters")):
        refused = subprocess.run([hca, "serve", os.path.join(root, "testbench/scenarios/verbs.yaml"), "--socket", "/nonexistent/s", "--set", f"run.{knob}=true"],
                                 capture_output=True, text=True)
        if refused.returncode != 2 or said not in refused.stderr:
            raise Failed(f"run.{knob} is not refused: {refused}")


# ---- UCX
def ucx_pair(served, test, size, iterations, clock, limit=60):
    """The line of the result."""
    port = free_port()
    arguments = ["ucx_perftest", "-t", test, "-s", str(size), "-n", str(iterations), "-w", "5", "-p", str(port)]
    options = ["--timeout", str(limit)]
    ends = []
    lower = ["-d", "hca0:1", "-x", "rc_verbs", "-D", "zcopy" if test == "get" else "short"] if test in LOWER else []
    for device, peer in ("hca0", []), ("hca0" if lower else "hca1", ["127.0.0.1"]):
        ends.append(served.start(device, [*arguments, *lower, *peer], clock, options))
        if not peer:
            listens(port, ends[0])
    said = [end.communicate()[0] for end in ends]
    line = re.search(r"^Final:.*", said[1], re.MULTILINE)
    if any(end.returncode for end in ends) or not line:
        raise Failed(f"{test} of {size} B: {[end.returncode for end in ends]}\n" + "".join(said))
    return line[0]


def ucx_info(served, clock):
    said = said_by(served, "", ["ucx_info", "-d"], clock)
    for device in HCAS:
        for transport in "rc_verbs", "ud_verbs":
            wants(said, rf"Transport: {transport}\n#\s+Device: {device}:1")


def ucx(hca, scenario):
    """UCX finds both HCAs and has messages carried by them."""
    needs("ucx_info", "ucx_perftest")
    os.environ.update(TRANSPORTS)
    with Served(hca, scenario, []) as served:
        ucx_info(served, "wall")
        before = carried(served)
        for test, size, iterations in ("tag_lat", 8, 100), ("tag_bw", 1 << 20, 20):
            print(f"{test}, {size} B: {ucx_pair(served, test, size, iterations, 'wall')}")
        sent = [after - first for first, after in zip(before, carried(served))]
        if min(sent) < 200 or max(sent) < 20 * (1 << 20) // 4096:
            raise Failed(f"the HCAs have sent {sent} packets: they have not carried it")


# ---- MPI
def build_mpi(kind, folder):
    compiler = MPI[kind][1]
    source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testbench/tests/programs/verbs_library/mpi/ring.c")
    program = os.path.join(folder, kind)
    subprocess.run([compiler, "-O1", source, "-o", program], check=True)
    return program


def mpi_run(served, kind, program, ranks, clock, limit=60):
    before = carried(served)
    command = [*MPI[kind][0], str(ranks), program, "with a window"]
    said = said_by(served, "", command, clock, ["--timeout", str(limit)])
    wants(said, f"^{ranks} ranks: as it should be$")
    sent = sum(after - first for first, after in zip(before, carried(served)))
    # The ring alone: each rank sends 1 MiB and more, in packets of 4096 bytes.
    if sent < ranks * (1 << 20) // 4096:
        raise Failed(f"the HCAs have sent {sent} packets: they have not carried it")
    return sent


def mpi(kind):
    def case(hca, scenario):
        needs(MPI[kind][0][0], MPI[kind][1])
        os.environ.update(TRANSPORTS)
        with Served(hca, scenario, []) as served, tempfile.TemporaryDirectory() as folder:
            print(f"{kind}, 2 ranks: right data, {mpi_run(served, kind, build_mpi(kind, folder), 2, 'wall')} packets")
    return case


# ---- The table
def table(hca, scenario, clocks):
    """Every program, link layer and kind of time; goes on after what fails."""
    needs("ucx_perftest", *(program for kind in MPI.values() for program in (kind[0][0], kind[1])))
    os.environ.update(TRANSPORTS)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        programs = {kind: build_mpi(kind, folder) for kind in MPI}
        for clock in clocks:
            for layer, settings in LAYERS.items():
                rows = [("ucx_info -d", lambda served, clock: ucx_info(served, clock) or "both HCAs")]
                rows += [(f"ucx_perftest -t {test}, {size} B", lambda served, clock, row=(test, size, iterations): ucx_pair(served, *row, clock, 20))
                         for test, size, iterations in UCX]
                rows += [(f"{kind}, {ranks} ranks", lambda served, clock, kind=kind, ranks=ranks:
                          f"{mpi_run(served, kind, programs[kind], ranks, clock, 30)} packets") for kind in MPI for ranks in (2, 4)]
                with Served(hca, scenario, settings) as served:
                    for name, row in rows:
                        try:
                            verdict = "good: " + " ".join(str(row(served, clock)).split())
                        except Failed as error:
                            bad += 1
                            verdict = "FAILED: " + re.sub(r"\s+", " ", str(error))[-160:]
                        print(f"| {name} | {clock} | {layer} | {verdict} |", flush=True)
    if bad:
        raise Failed(f"{bad} rows")


CASES = {"files": files, "live": live, "tools": tools, "topology": topology, "told": told, "flags": flags, "sanitized": sanitized, "script": script, "ucx": ucx, "openmpi": mpi("openmpi"),
         "mpich": mpi("mpich")}


def main():
    main_of_cases(CASES, table)


if __name__ == "__main__":
    main()
