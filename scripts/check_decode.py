#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_decode.py HCA CAPTURES: `hca decode` as a program: its exit codes, and listing and JSON side by side."""
import gzip
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

# T2, vector 1, and the same with a bit of Resv7 set (which the ICRC covers).
GOOD = ("7012375C000E17D20A2024870087B1B3000DEC2A01710A1C015D400238F27A050000000E"
        "BB884D85FD5CFBA4728BC0690ED400009625B75A45FA")
BROKEN = GOOD.replace("000DEC2A", "400DEC2A")
# RC SEND Only from UDP port 1024, BTH.Resv7 1, by scapy: two remarks, and its ICRC is good.
REMARKS = "02000000000b02000000000a080045000030000140004011b6b8c0000201c0000202040012b7001c00000400ffff0000002001001000deadbe0092f45d94"
BTH = "1100ffff00000020000010001f000001f50170e1"
XRC = "a400ffff00000020000010000000000511223344f50170e1"  # SEND Only to SRQ 5
ARP = "ffffffffffff02000000000a08060001080006040001"


def pcapng(packet, captured=None):
    """One frame of link type InfiniBand (247): section header, interface description, enhanced packet block."""
    whole, packet = len(packet), packet[:captured]

    def block(kind, body):
        length = struct.pack("<I", 12 + len(body))
        return struct.pack("<I", kind) + length + body + length

    padded = packet + bytes(-len(packet) % 4)
    return (block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
            + block(1, struct.pack("<HHI", 247, 0, 0))
            + block(6, struct.pack("<IIIII", 0, 0, 0, len(packet), whole) + padded))


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    hca, captures = sys.argv[1], sorted(str(p) for p in pathlib.Path(sys.argv[2]).glob("*.pcap"))
    bad = 0

    def run(code, *arguments, says="", stdin=b""):
        nonlocal bad
        done = subprocess.run([hca, "decode", *arguments], input=stdin, capture_output=True)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        if done.returncode != code or says not in done.stdout + done.stderr:
            bad += 1
            print(f"hca decode {' '.join(arguments)[:60]}: exit {done.returncode}, not {code}, or without '{says}'")
            print((done.stdout + done.stderr)[-300:])
        return done.stdout

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "cut.pcap").write_bytes(bytes.fromhex("4D3CB2A1020004000000000000000000000004000100000001"))
        (folder / "raw.pcap").write_bytes(bytes.fromhex("4D3CB2A102000400000000000000000000000400") + b"\x69\0\0\0")
        run(0, GOOD, says="ICRC at 52: 96 25 B7 5A  good")
        run(0, *[GOOD[i:i + 2] for i in range(0, len(GOOD), 2)], says="VCRC at 56: 45 FA  good")
        run(0, "--strict", GOOD)
        run(0, BROKEN, says="REMARK C9-7")
        run(1, "--strict", BROKEN, says="BROKEN T12-1")
        run(0, "--strict", REMARKS, says="0 that break rules, 1 with remarks")
        run(1, "--pedantic", REMARKS, says="REMARK G34.4")
        run(0, "--strict", *[c for c in captures if "_icrc_" not in c and "rawreq_" not in c], says=" frames: ")
        # What begins at the BTH, in tunnels, or is no packet of ours.
        run(0, "--strict", BTH, says="begins at its BTH  RC Acknowledge  QP 0x000020  PSN 4096")
        run(0, "--strict", "--link", "bth", BTH, says="1 whose ICRC cannot be checked")
        run(1, "--strict", "--link", "ethernet", BTH, says="nothing was judged")
        run(0, "--strict", "--link", "bth", XRC, says="begins at its BTH  XRC SEND Only  QP 0x000020  PSN 4096  SRQ 0x000005  4 B")
        run(1, "--strict", ARP, says="1 frames: 1 not judged (ARP 1)")
        run(0, ARP, says="not judged: ARP")
        tagged = REMARKS[:24] + "88a8000a81006064" + REMARKS[24:]
        run(0, "--strict", tagged, says="  good")
        (folder / "mixed.txt").write_text(f"{tagged}\n{ARP}\n")
        run(0, "--strict", str(folder / "mixed.txt"), says="2 frames: 1 not judged (ARP 1)")
        dump = subprocess.run(["od", "-A", "x", "-t", "x1"], input=bytes.fromhex(REMARKS), capture_output=True, check=True).stdout.decode()
        (folder / "dump.txt").write_text(dump)
        run(0, "--strict", str(folder / "dump.txt"), says="1 frames: 0 not judged")
        run(0, "--strict", dump, says="text frame 1  62 bytes")
        (folder / "dump.txt").write_text(dump.replace("\n000020", "\n000030"))
        run(2, str(folder / "dump.txt"), says="as hex text, line 3: offset 000030, but 32 bytes are before it")
        (folder / "packed.gz").write_bytes(gzip.compress(dump.encode()))
        run(0, "--strict", str(folder / "packed.gz"), says="1 frames: 0 not judged")
        (folder / "half.gz").write_bytes(gzip.compress(dump.encode())[:-12])
        run(2, str(folder / "half.gz"), says="half.gz: the packed file ends early")
        run(0, GOOD + 4096 * "00", says="4154 bytes")
        run(2)
        run(2, "no_such_file.pcap", says="no such file")
        run(2, "123", says="odd number")
        run(2, str(folder), says="is a directory")
        run(2, str(folder / "cut.pcap"), says="cut.pcap")
        run(2, str(folder / "raw.pcap"), says="link type")
        run(2, GOOD, "--json", str(folder / "absent" / "out.json"), says="cannot be written")
        run(2, GOOD, "--link", "token-ring")
        # Standard input: hex text, pcap and pcapng, by the same listing as from a file.
        run(0, "-", says="ICRC at 52: 96 25 B7 5A  good", stdin=f"# a packet\n{GOOD}\n".encode())
        ng = pcapng(bytes.fromhex(GOOD))
        (folder / "one.pcapng").write_bytes(ng)
        # Of 58 bytes the capture has 50: no rule is broken by what was not captured.
        (folder / "short.pcapng").write_bytes(pcapng(bytes.fromhex(GOOD), captured=50))
        run(0, "--strict", str(folder / "short.pcapng"), says="0 that break rules, 0 with remarks, 1 cut by the capture")
        run(1, "--strict", GOOD[:100], says="BROKEN T12-4")
        for path in [folder / "one.pcapng", *map(pathlib.Path, captures)]:
            piped = run(0, "-", says=" 0 not judged", stdin=path.read_bytes())
            if piped.replace("stdin frame", f"{path} frame") != run(0, str(path)):
                bad += 1
                print(f"{path} is listed otherwise from standard input")
        run(2, "-", says="stdin: holds no frame")
        run(2, "-", says="stdin is no capture file, and as hex text, line 1", stdin=b"xyz\n")
        run(2, "-", says="hca: stdin: ", stdin=(folder / "cut.pcap").read_bytes())
        run(2, "-", "-", says="twice", stdin=GOOD.encode())
        # Nothing is no packet.
        run(2, "", says='"": no such file, and no hex digits either')
        run(2, " ", says="no hex digits")
        run(2, GOOD, "", says="no hex digits")
        run(2, "0x", says="hex digits: there are none")
        for value in ["-1", "262145", "x", "99999999999999999999999"]:
            run(2, GOOD, f"--payload={value}", says="0 to 262144")
        run(0, GOOD, "--payload=262144", says="BB 88 4D 85")
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
