#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian's packages on the HCAs of one `hca serve`.

check_attach.py HCA FOLDER_OF_SCENARIOS CASE [...]: each program within a limit of real time; without CASE all of them.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from served import LIMIT, Failed, Served, finish, free_port, listens, run_cases, run_pair, wants

SKIPPED = 77

ROCE = ["--set", "connection.framing=rocev2_ip4"]
ROCE6 = ["--set", "connection.framing=rocev2_ip6"]
PART = ["--set", "verbs.vendor_part_id=4129"]
XRC = ["--set", "hca.transport.xrc=true"]

# Two ends of one program, the second with the address of the first: what it is given, what the simulation is given, what its output has.
PINGPONG = r"\d+ iters in .* usec/iter"
XSRQ = "^success$"  # and no figures
PERFTEST = r"^ *\d+ +\d+ +[0-9.]+"
PAIRS = {
    "rc_pingpong": ("ibv_rc_pingpong -n 100", [], PINGPONG),
    "rc_pingpong_events": ("ibv_rc_pingpong -n 50 -e", [], PINGPONG),
    "rc_pingpong_checked": ("ibv_rc_pingpong -n 50 -c", [], PINGPONG),
    "rc_pingpong_new_api": ("ibv_rc_pingpong -n 50 -N", [], PINGPONG),
    "rc_pingpong_long": ("ibv_rc_pingpong -n 100 -s 1000000 -c", [], PINGPONG),
    "rc_pingpong_roce": ("ibv_rc_pingpong -n 50 -g 3 -c", ROCE, PINGPONG),
    "rc_pingpong_times": ("ibv_rc_pingpong -n 50 -t", [], "completion clock cycles"),
    "rc_pingpong_times_events": ("ibv_rc_pingpong -n 50 -t -e", [], "completion clock cycles"),
    "uc_pingpong_roce": ("ibv_uc_pingpong -n 50 -g 3 -c", ROCE, PINGPONG),
    "ud_pingpong_roce": ("ibv_ud_pingpong -n 50 -s 1024 -g 3 -c", ROCE, PINGPONG),
    "srq_pingpong_roce": ("ibv_srq_pingpong -n 50 -g 3 -c", ROCE, PINGPONG),
    "uc_pingpong": ("ibv_uc_pingpong -n 50 -c", [], PINGPONG),
    "ud_pingpong": ("ibv_ud_pingpong -n 50 -s 1024 -c", [], PINGPONG),
    "ud_pingpong_events": ("ibv_ud_pingpong -n 50 -s 1024 -e", [], PINGPONG),
    "srq_pingpong": ("ibv_srq_pingpong -n 50 -c", [], PINGPONG),
    "srq_pingpong_events": ("ibv_srq_pingpong -n 50 -e", [], PINGPONG),
    "write_bw": ("ib_write_bw -n 100 -F", [], PERFTEST),
    "send_bw": ("ib_send_bw -n 100 -F", [], PERFTEST),
    "read_bw": ("ib_read_bw -n 100 -F", [], PERFTEST),
    "atomic_bw": ("ib_atomic_bw -n 100 -F", [], PERFTEST),
    "write_lat": ("ib_write_lat -n 100 -F", [], PERFTEST),
    "send_lat": ("ib_send_lat -n 100 -F", [], PERFTEST),
    "read_lat": ("ib_read_lat -n 100 -F", [], PERFTEST),
    "atomic_lat": ("ib_atomic_lat -n 100 -F", [], PERFTEST),
    "send_bw_events": ("ib_send_bw -n 100 -F -e", [], PERFTEST),
    "send_lat_ud": ("ib_send_lat -n 100 -F -c UD -s 1024", [], PERFTEST),
    "write_bw_uc": ("ib_write_bw -n 100 -F -c UC", [], PERFTEST),
    "write_bw_qps": ("ib_write_bw -n 50 -F -q 4 -s 4096", [], PERFTEST),
    "write_bw_both": ("ib_write_bw -n 50 -F -b -s 4096", [], PERFTEST),
    "send_bw_srq": ("ib_send_bw -n 100 -F --use-srq -s 4096", [], PERFTEST),
    "write_lat_inline": ("ib_write_lat -n 100 -F -I 64 -s 64", [], PERFTEST),
    "send_bw_lists": ("ib_send_bw -n 160 -F -l 16 -s 4096", [], PERFTEST),
    "write_bw_moderated": ("ib_write_bw -n 160 -F --cq-mod 16 -s 4096", [], PERFTEST),
    "send_bw_group": ("ib_send_bw -g -n 50 -F -s 1024", [], PERFTEST),
    "send_lat_group": ("ib_send_lat -g -n 50 -F -s 1024", [], PERFTEST),
    "send_bw_group_roce": ("ib_send_bw -g -n 50 -F -s 1024 -x 0", ROCE6, PERFTEST),
    "send_lat_group_roce": ("ib_send_lat -g -n 50 -F -s 1024 -x 0", ROCE6, PERFTEST),
    "send_lat_new_api": ("ib_send_lat -n 100 -F", PART, r"Max inline data +: 236"),
    "write_bw_new_api": ("ib_write_bw -n 100 -F", PART, r"ibv_wr\* API +: ON"),
    "xsrq_pingpong": ("ibv_xsrq_pingpong -n 50", XRC, XSRQ),
    "xsrq_pingpong_events": ("ibv_xsrq_pingpong -n 50 -e", XRC, XSRQ),
    "xsrq_pingpong_roce": ("ibv_xsrq_pingpong -n 50 -g 3", [*XRC, *ROCE], XSRQ),
    **{f"{name}_xrc": (f"ib_{name} -n 100 -F -c XRC", XRC, PERFTEST) for name in
       ("send_bw", "write_bw", "read_bw", "atomic_bw", "send_lat", "write_lat", "read_lat", "atomic_lat")},
    "send_bw_xrc_both": ("ib_send_bw -n 100 -F -c XRC -b -q 4 -s 4096", XRC, PERFTEST),
    "send_bw_xrc_roce": ("ib_send_bw -n 100 -F -c XRC -x 3", [*XRC, *ROCE], PERFTEST),
    "send_lat_xrc_new_api": ("ib_send_lat -n 100 -F -c XRC", [*XRC, *PART], r"ibv_wr\* API +: ON"),
    "write_bw_xrc_new_api": ("ib_write_bw -n 100 -F -c XRC", [*XRC, *PART], r"ibv_wr\* API +: ON"),
}


def pair(hca, scenario, name, clock="wall"):
    program, settings, pattern = PAIRS[name]
    output = "".join(run_pair(hca, scenario, program, settings, clock)[:2])
    wants(output, pattern)
    line = next(line for line in reversed(output.splitlines()) if re.search("|".join((PINGPONG, XSRQ, PERFTEST)), line))
    print(f"{program}: {line.strip()}")


def devices(hca, scenario):
    with Served(hca, scenario, PART) as served:
        output = finish(served.start("", ["ibv_devices"]), "ibv_devices")
        wants(output, r"hca0\s+020000fffe000001\n\s+hca1\s+020000fffe000002")
        output = finish(served.start("hca1", ["ibv_devinfo", "-v"]), "ibv_devinfo -v")
        for pattern in (r"hca_id:\s+hca1", r"vendor_part_id:\s+4129", r"state:\s+PORT_ACTIVE", r"port_lid:\s+2", r"link_layer:\s+InfiniBand",
                        r"active_speed:\s+25.0 Gbps", r"max_qp:\s+\d{3,}"):
            wants(output, pattern)
        if "hca0" in output:
            raise Failed(f"--device hca1 shows hca0:\n{output}")


def refused(hca, arguments, pattern):
    process = subprocess.run([hca, *arguments], capture_output=True, text=True, timeout=LIMIT)
    text = process.stdout + process.stderr
    if process.returncode == 0 or not re.fullmatch(pattern + "\n", text):
        raise Failed(f"hca {' '.join(arguments)} ends with {process.returncode} and says:\n{text}")


def no_server(hca, scenario):
    refused(hca, ["run", "--attach", "/nonexistent/s", "--", "ibv_devices"], r"hca: .*'/nonexistent/s'.*")
    with Served(hca, scenario, []) as served:
        refused(hca, ["run", "--attach", served.socket, "--device", "hca7", "--", "ibv_devices"], r"hca: --device: 'hca7' is none of hca0, hca1")
        refused(hca, ["run", "--attach", served.socket, "--", "/nonexistent/p"], r"hca: --attach: '/nonexistent/p': .*")
        refused(hca, ["serve", scenario, "--socket", served.socket], r"hca: --socket: .*another simulation serves it")
        with tempfile.NamedTemporaryFile() as file:
            refused(hca, ["serve", scenario, "--socket", file.name], r"hca: --socket: .*is a file, and no socket")
            if not os.path.exists(file.name):
                raise Failed("the file is gone")
        finish(served.start("", ["sh", "-c", "exit 7"]), "sh", 7)


def killed_client(hca, scenario, clock="wall"):
    """Objects of a program that is killed vanish: its number can be taken again, the peer's retries run out."""
    with Served(hca, scenario, []) as served:
        port = free_port()
        arguments = ["ib_write_bw", "-F", "-D", "30", "-p", str(port)]
        server = served.start("hca0", arguments, clock)
        listens(port, server)
        client = served.start("hca1", [*arguments, "127.0.0.1"], clock)
        time.sleep(0.5)
        server.send_signal(signal.SIGKILL)
        server.communicate()
        output, _ = client.communicate(timeout=LIMIT)
        if client.returncode == 0:
            raise Failed(f"the client of a server that was killed ends well:\n{output}")
        wants(finish(served.start("hca0", ["ibv_devinfo"]), "ibv_devinfo"), "PORT_ACTIVE")


def killed_server(hca, scenario, clock="wall", program="ibv_rc_pingpong -n 100000000"):
    """Without a simulation the programs end, with an error."""
    with Served(hca, scenario, []) as served:
        port = free_port()
        arguments = [*program.split(), "-p", str(port)]
        ends = [served.start("hca0", arguments, clock)]
        listens(port, ends[0])
        ends.append(served.start("hca1", [*arguments, "127.0.0.1"], clock))
        time.sleep(0.5)
        served.process.kill()
        for end in ends:
            output, _ = end.communicate(timeout=LIMIT)
            if end.returncode == 0:
                raise Failed(f"a program without its simulation ends well:\n{output}")


def without_server(hca, scenario, group, clock, code=0):
    """What a group of cases says whose simulation is killed in its midst."""
    with Served(hca, scenario, []) as served:
        program = served.start("", [case_program(hca), group], clock)
        if program.stdout.readline() != "ready\n":
            raise Failed("the program is not ready")
        served.process.kill()
        return finish(program, "the program", code)


def spinning(hca, scenario):
    """Without a simulation a program that spins in its memory is ended."""
    for clock in "wall", "sim":
        wants(without_server(hca, scenario, "spinning", clock, 1), r"^hca: the simulation at '.*/s' is gone; .* is ended$")
        killed_server(hca, scenario, clock, "ib_write_lat -F -n 5000000")


def one_hca(hca, scenario):
    """Both ends on the same HCA: what they send does not leave it."""
    for device, program, settings in ("hca0", "ibv_rc_pingpong -n 50 -c", []), ("hca1", "ibv_ud_pingpong -n 50 -s 1024 -c", []), (
            "hca1", "ibv_rc_pingpong -n 50 -g 3 -c", ROCE), ("hca0", "ib_read_bw -n 100 -F", []), ("hca0", "ib_write_bw -b -n 100 -F", []), (
            "hca0", "ib_send_bw -g -n 50 -F -s 1024", []), ("hca1", "ib_send_lat -g -n 50 -F -s 1024 -x 0", ROCE6):
        output, _, _ = run_pair(hca, scenario, program, settings, "wall", (device, device))
        wants(output, PINGPONG + "|" + PERFTEST)


def user(number):
    """In front of a command: one without any right of root's."""
    return ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]


def ordinary_user(hca, scenario):
    """Simulation and programs belong to an ordinary user, or to two users with access to the socket."""
    nobody, another = ([], []) if os.getuid() else (user(65534), user(65533))
    if subprocess.run([*nobody, hca, "--help"], capture_output=True).returncode:
        print(f"skipped: no command can be run by {' '.join(nobody)}")
        sys.exit(SKIPPED)
    for program in "ibv_rc_pingpong -n 50 -c", "ib_write_bw -n 50 -F":
        for clock in "wall", "sim":
            output, _, _ = run_pair(hca, scenario, program, [], clock, as_user=nobody)
            wants(output, PINGPONG + "|" + PERFTEST)
    with Served(hca, scenario, [], nobody) as served:
        if nobody:
            os.chmod(served.socket, 0o777)
        served.as_user = another
        who = finish(served.start("", ["id", "-u"]), "id")
        if who.strip() == "0":
            raise Failed("programs are root's")
        wants(finish(served.start("hca1", [case_program(hca), "memory", "completions"]), "the program"), r"^2 groups: \d+ passed, 0 failed$")


REPLACE = ["--library=replace"]


def replaced(hca, scenario):
    """One program of each kind, in each kind of time, on the library that replaces the system's."""
    with Served(hca, scenario, []) as served:
        wants(finish(served.start("hca1", ["ibv_devinfo"], "wall", REPLACE), "ibv_devinfo"), r"hca_id:\s+hca1\n(.*\n)*.*PORT_ACTIVE")
    for program in "ibv_rc_pingpong -n 50 -c", "ibv_ud_pingpong -n 50 -s 1024 -e", "ib_write_bw -n 50 -F", "ib_send_lat -n 50 -F":
        for clock in ["wall", "sim"]:
            output, _, _ = run_pair(hca, scenario, program, [], clock, options=REPLACE)
            wants(output, PINGPONG + "|" + PERFTEST)


def by_name(hca, scenario):
    """A program that opens libibverbs.so.1 itself, with both forms of the library."""
    program = [os.path.join(os.path.dirname(hca), "hca_verbs_by_name")]
    with Served(hca, scenario, []) as served:
        for clock in "wall", "sim":
            for options in [], REPLACE:
                output = finish(served.start("", program, clock, options), "the program")
                if not output.startswith("hca0\nhca1\n"):
                    raise Failed(f"it says {output!r}")


def case_program(hca):
    return os.path.join(os.path.dirname(hca), "hca_verbs_cases")


def cases(hca, scenario):
    """What the man pages promise, by a program of our own."""
    for settings in [], ROCE:
        for clock, options in ("wall", []), ("sim", []), ("sim", REPLACE):
            with Served(hca, scenario, settings) as served:
                output = finish(served.start("", [case_program(hca)], clock, options), "the program")
                wants(output, r"^22 groups: \d{4,} passed, 0 failed$")
                print(f"{clock} {' '.join(settings + options)}: {output.strip()}")
    with Served(hca, scenario, []) as served:
        wants(finish(served.start("", [case_program(hca), "limits"]), "the program"), r"^1 groups: \d+ passed, 0 failed$")


def ports(hca, scenario):
    """A program sees how a cable breaks and is mended; another uses port 2."""
    breaks = [word for knob in ("from=50ms", "for=20ms", "times=2", "every=50ms") for word in ("--set", f"wire.down_{knob}")]
    with Served(hca, scenario, breaks) as served:
        wants(finish(served.start("", [case_program(hca), "ports"], "sim"), "the program"), r"^1 groups: 46 passed, 0 failed$")
    with Served(hca, scenario, breaks) as served:
        watch = served.start("hca1", ["stdbuf", "-oL", "ibv_asyncwatch"], "sim")
        said = "".join(watch.stdout.readline() for _ in range(5))
        watch.terminate()
        watch.communicate()
        wants(said, r"FD \d+\n" + 2 * r".*PORT_ERR \(10\), port 1\n.*PORT_ACTIVE \(9\), port 1\n")
    two = ["--set", "hca.core.ports=2"]
    for settings in two, [*two, *ROCE]:
        with Served(hca, scenario, settings) as served:
            wants(finish(served.start("", [case_program(hca), "second"]), "the program"), r"^1 groups: \d+ passed, 0 failed$")
    output, _, _ = run_pair(hca, scenario, "ibv_rc_pingpong -n 50 -c -i 2", two, "sim")
    wants(output, PINGPONG)


def migration(hca, scenario):
    """A connection migrates to the second port, because the wire of the first loses one of its packets each time."""
    with tempfile.TemporaryDirectory() as folder:
        lossy = os.path.join(folder, "lossy.yaml")
        with open(scenario) as file, open(lossy, "w") as copy:
            copy.write(file.read() + "faults:\n  - {action: drop, from: 0, port: 1, psn: 20, occurrence: 0, per_million: 1000000}\n")
        two = ["--set", "hca.core.ports=2", "--set", "hca.transport.apm=true"]
        for settings in two, [*two, *ROCE]:
            for clock, options in ("sim", []), ("sim", REPLACE), ("wall", []):
                with Served(hca, lossy, settings) as served:
                    output = finish(served.start("", [case_program(hca), "migration"], clock, options), "the program")
                    wants(output, r"^1 groups: \d+ passed, 0 failed$")


def documented(hca, scenario):
    """The commands of docs/manual/reference/verbs.md, but for the one that installs packages."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(root, "docs/manual/reference/verbs.md")) as file:
        commands = re.search(r"```sh\n(.*?)```", file.read(), re.DOTALL).group(1).splitlines()
    if len(commands) != 5 or "apt install" not in commands.pop(0):
        raise Failed("the commands begin with those that install packages, and are five")
    with tempfile.TemporaryDirectory() as folder:
        text = "set -m\n" + "\n".join(commands).replace("build/release/hca", hca).replace("/tmp/hca", os.path.join(folder, "hca"))
        said = finish(subprocess.Popen(["bash", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=root), "docs/manual/reference/verbs.md")
    wants(said, r"serving hca0, hca1")
    wants(said, PERFTEST)


def without_xrc(hca, scenario):
    """A program that wants what there is not says so and ends."""
    with Served(hca, scenario, []) as served:
        wants(finish(served.start("hca0", ["ibv_xsrq_pingpong"]), "ibv_xsrq_pingpong", 1), r"XRC Domain 95")  # EOPNOTSUPP
    failing = ["--set", "fail.verb=open_xrcd", "--set", "fail.status=EMFILE"]
    with Served(hca, scenario, [*XRC, *failing]) as served:
        wants(finish(served.start("hca0", ["ibv_xsrq_pingpong"]), "ibv_xsrq_pingpong", 1), r"XRC Domain 24")  # EMFILE


def xrc(hca, scenario):
    """What the man pages promise of XRC, by a program of our own: domains, sides, SRQs, and what processes share."""
    for settings in XRC, [*XRC, *ROCE]:
        for clock, options in ("wall", []), ("sim", []), ("sim", REPLACE):
            with Served(hca, scenario, settings) as served:
                groups = ["xrc", "xrc_traffic", "xrc_shared"]
                output = finish(served.start("", [case_program(hca), *groups], clock, options), "the program")
                wants(output, r"^3 groups: 2\d\d passed, 0 failed$")
                print(f"{clock} {' '.join(settings + options)}: {output.strip()}")


def xrc_told(hca, scenario):
    """A device says whether it has XRC."""
    for settings, has in ([], False), (XRC, True):
        with Served(hca, scenario, settings) as served:
            said = finish(served.start("hca0", ["ibv_devinfo", "-v"]), "ibv_devinfo -v")
            if bool(re.search(r"^\s+XRC$", said, re.MULTILINE)) != has:
                raise Failed(f"{settings}: ibv_devinfo says:\n{said}")


def three_clients(served, clock):
    """One round of ibv_xsrq_pingpong."""
    port = free_port()
    arguments = ["ibv_xsrq_pingpong", "-n", "50", "-p", str(port)]
    server = served.start("hca0", [*arguments, "-c", "3"], clock)
    listens(port, server)
    clients = [served.start("hca1", [*arguments, "127.0.0.1"], clock) for _ in range(3)]
    for client in clients:
        wants(finish(client, "a client"), XSRQ)
    wants(finish(server, "the server"), XSRQ)


def xsrq_clients(hca, scenario):
    """Three clients at once, over and over, on one simulation."""
    for clock, rounds in ("wall", 50), ("sim", 3):
        with Served(hca, scenario, XRC) as served:
            for _ in range(rounds):
                three_clients(served, clock)
        print(f"{clock}: {rounds} rounds of three clients")


def xsrq_capture(hca, scenario):
    """What three clients have sent is legal, and both models send it again."""
    with tempfile.TemporaryDirectory() as out:
        with Served(hca, scenario, [*XRC, "--out", out]) as served:
            three_clients(served, "sim")
        replay = subprocess.run([hca, "replay", os.path.join(out, "run.pcap")], capture_output=True, text=True, timeout=LIMIT)
        if replay.returncode:
            raise Failed(f"the replay ends with {replay.returncode}:\n{replay.stdout}{replay.stderr}")
        wants(replay.stdout, r"(1\d\d\d) of \1 frames judged +legal$")
        for runner in "functional", "cycle":
            for end in "A", "B":
                wants(replay.stdout, rf"{runner} +{end} .* same$")


def lost(hca, scenario):
    """What it sees when the simulation is killed."""
    for clock in "wall", "sim":
        wants(without_server(hca, scenario, "lost", clock), r"^1 groups: \d+ passed, 0 failed$")


CASES = {
    "one_hca": one_hca, "ordinary_user": ordinary_user, "ports": ports, "migration": migration, "documented": documented, "without_xrc": without_xrc,
    "xrc": xrc, "xrc_told": xrc_told, "xsrq_clients": xsrq_clients, "xsrq_capture": xsrq_capture,
    "devices": devices, "no_server": no_server, "replaced": replaced, "by_name": by_name, "killed_client": killed_client,
    "killed_server": killed_server, "cases": cases, "lost": lost, "spinning": spinning}


def main():
    hca, folder, *chosen = sys.argv[1:]
    scenario = os.path.join(folder, "verbs.yaml")

    def run(name):
        if name in PAIRS:
            pair(hca, scenario, name)
        else:
            CASES[name](hca, scenario)
            print(f"{name}: as expected")

    run_cases(chosen or [*CASES, *PAIRS], run)


if __name__ == "__main__":
    main()
