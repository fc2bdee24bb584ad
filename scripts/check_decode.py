#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_decode.py HCA CAPTURES: `hca decode` as a program: its exit codes, and listing and JSON side by side."""
import json
import pathlib
import subprocess
import sys
import tempfile

# tables.md T2, vector 1, and the same with a bit of Resv7 set (which the ICRC covers).
GOOD = ("7012375C000E17D20A2024870087B1B3000DEC2A01710A1C015D400238F27A050000000E"
        "BB884D85FD5CFBA4728BC0690ED400009625B75A45FA")
BROKEN = GOOD.replace("000DEC2A", "400DEC2A")


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    hca, captures = sys.argv[1], sorted(str(p) for p in pathlib.Path(sys.argv[2]).glob("*.pcap"))
    bad = 0

    def run(code, *arguments, says=""):
        nonlocal bad
        done = subprocess.run([hca, "decode", *arguments], capture_output=True, text=True)
        if done.returncode != code or says not in done.stdout + done.stderr:
            bad += 1
            print(f"hca decode {' '.join(arguments)[:60]}: exit {done.returncode}, not {code}, or without '{says}'")
            print((done.stdout + done.stderr)[-300:])
        return done.stdout

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "cut.pcap").write_bytes(bytes.fromhex("4D3CB2A1020004000000000000000000000004000100000001"))
        (folder / "raw.pcap").write_bytes(bytes.fromhex("4D3CB2A102000400000000000000000000000400") + b"\x65\0\0\0")
        run(0, GOOD, says="ICRC at 52: 96 25 B7 5A  good")
        run(0, *[GOOD[i:i + 2] for i in range(0, len(GOOD), 2)], says="VCRC at 56: 45 FA  good")
        run(0, "--strict", GOOD)
        run(0, BROKEN, says="BROKEN C9-7")
        run(1, "--strict", BROKEN, says="BROKEN C9-7")
        run(0, "--strict", *[c for c in captures if "_icrc_" not in c and "rawreq_" not in c], says=" frames: ")
        run(2)
        run(2, "no_such_file.pcap", says="no such file")
        run(2, "123", says="odd number")
        run(2, str(folder), says="is a directory")
        run(2, str(folder / "cut.pcap"), says="cut.pcap")
        run(2, str(folder / "raw.pcap"), says="link type")
        run(2, GOOD, "--json", str(folder / "absent" / "out.json"), says="cannot be written")
        run(2, GOOD, "--link", "token-ring")
        out = folder / "out.json"
        listing = run(0, *captures, "--json", str(out))
        packets = json.loads(out.read_text())
        if len(packets) < 2 or len(packets) != listing.count(" bytes\nRoCEv2"):
            bad += 1
            print(f"{len(packets)} packets in the JSON, {listing.count(' frame ')} in the listing")
        for packet in packets:
            psn = next(h["fields"]["PSN"] for h in packet["headers"] if h["header"] == "BTH")
            if f"0x{psn:06X} ({psn})" not in listing or packet["summary"] not in listing:
                bad += 1
                print(f"not in the listing: {packet['summary']}")
    print(f"{len(captures)} captures, {bad} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
