# SPDX-License-Identifier: Apache-2.0
"""A running `hca serve`, and programs on its HCAs: what the scripts that check such programs share."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

LIMIT = 180  # seconds for a program, which takes one or two where nothing else runs


class Failed(Exception):
    pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Served:
    """A running `hca serve`."""

    def __init__(self, hca, scenario, settings, as_user=()):
        self.hca = hca
        self.as_user = list(as_user)
        self.folder = tempfile.mkdtemp(prefix="hca-")
        os.chmod(self.folder, 0o777)
        self.socket = os.path.join(self.folder, "s")
        self.complaints = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([*as_user, hca, "serve", scenario, "--socket", self.socket, *settings], stdout=subprocess.PIPE,
                                        stderr=self.complaints, text=True)
        line = self.process.stdout.readline()
        if "does not trap" in line:  # a note about this machine
            line = self.process.stdout.readline()
        if "serving hca0, hca1" not in line:
            raise Failed(f"hca serve says {line!r}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.said, _ = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed("hca serve does not end")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.complaints.seek(0)
        if complaints := self.complaints.read():
            raise Failed(f"hca serve complains:\n{complaints}")

    def start(self, device, arguments, clock="wall", options=(), folder=None):
        command = [*self.as_user, self.hca, "run", "--attach", self.socket, f"--time={clock}", *options]
        if device:
            command += ["--device", device]
        return subprocess.Popen([*command, "--", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)


def finish(process, name, code=0):
    """What it says; `code` None: it may end with any."""
    try:
        output, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        raise Failed(f"{name} is not done after {LIMIT} s:\n{output}")
    if code is not None and process.returncode != code:
        raise Failed(f"{name} ends with {process.returncode} instead of {code}:\n{output}")
    return output


def wants(output, pattern):
    if not re.search(pattern, output, re.MULTILINE):
        raise Failed(f"no {pattern!r} in:\n{output}")


def listens(port, program):
    """Waits for it to listen there, without a connection that it would take for its peer's."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and program.poll() is None:
        for table in "/proc/net/tcp", "/proc/net/tcp6":
            with open(table) as lines:
                if any(f":{port:04X} " in line and " 0A " in line for line in lines):
                    return
        time.sleep(0.02)
    raise Failed(f"nobody listens at port {port}")


def run_pair(hca, scenario, program, settings, clock, devices=("hca0", "hca1"), options=(), as_user=()):
    """What the client, the server and the simulation say."""
    with Served(hca, scenario, settings, as_user) as served:
        port = free_port()
        arguments = [*program.split(), "-p", str(port)]
        server = served.start(devices[0], arguments, clock, options)
        try:
            listens(port, server)
            client = served.start(devices[1], [*arguments, "127.0.0.1"], clock, options)
            said = finish(client, "the client")
        finally:
            if sys.exc_info()[0]:
                server.kill()
                print("the server said:\n" + server.communicate()[0])
        answered = finish(server, "the server")
    return said, answered, served.said


def run_cases(names, run):
    """Runs each case by its name; the first that fails ends the script with its words."""
    for name in names:
        try:
            run(name)
        except (Failed, subprocess.TimeoutExpired) as error:
            sys.exit(f"{name}: {error}")


def main_of_cases(cases, table):
    """`HCA FOLDER_OF_SCENARIOS CASE [...]`: without CASE all of them; `table [CLOCK ...]`: the table, by these clocks."""
    hca, folder, *chosen = sys.argv[1:]
    scenario = os.path.join(folder, "verbs.yaml")
    is_table = chosen[:1] == ["table"]

    def run(name):
        if is_table:
            table(hca, scenario, chosen[1:] or ["wall", "sim"])
            return
        cases[name](hca, scenario)
        print(f"{name}: as expected")

    run_cases(chosen[:1] if is_table else chosen or cases, run)
