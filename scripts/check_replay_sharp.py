#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that `hca replay` is sharp: a copy of a capture with one thing changed must not pass.

  check_replay_sharp.py HCA CAPTURE.pcap...

For each frame that an end must send, each field is changed (lowest and highest bit), checksums made good again, and the
frame is left out, doubled and swapped with the next one of its direction; each copy is replayed on every runner. Fields
that an allowed difference covers wholly are left alone. Prints caught / tried for each capture, end and runner, and
what slipped through; exits 1 if anything did, or if the capture itself does not replay.
"""
import copy
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

ETHERNET, IPV4, IPV6, UDP, BTH, RETH, AETH, IMM = range(8)
# (name, bits) in the order of the wire.
FIELDS = {
    ETHERNET: [("Destination", 48), ("Source", 48), ("EtherType", 16)],
    IPV4: [("Version", 4), ("IHL", 4), ("TOS", 8), ("TotalLength", 16), ("Identification", 16), ("Reserved", 1),
           ("DF", 1), ("MF", 1), ("FragmentOffset", 13), ("TTL", 8), ("Protocol", 8), ("HeaderChecksum", 16),
           ("Source", 32), ("Destination", 32)],
    IPV6: [("Version", 4), ("TrafficClass", 8), ("FlowLabel", 20), ("PayloadLength", 16), ("NextHeader", 8),
           ("HopLimit", 8), ("Source", 128), ("Destination", 128)],
    UDP: [("SourcePort", 16), ("DestinationPort", 16), ("Length", 16), ("Checksum", 16)],
    BTH: [("OpCode", 8), ("SE", 1), ("M", 1), ("PadCnt", 2), ("TVer", 4), ("P_Key", 16), ("F", 1), ("B", 1),
          ("Resv6", 6), ("DestQP", 24), ("A", 1), ("Resv7", 7), ("PSN", 24)],
    RETH: [("VA", 64), ("R_Key", 32), ("DMALen", 32)],
    AETH: [("Syndrome", 8), ("MSN", 24)],
    IMM: [("ImmDt", 32)],
}
NAMES = {ETHERNET: "Ethernet", IPV4: "IPv4", IPV6: "IPv6", UDP: "UDP", BTH: "BTH", RETH: "RETH", AETH: "AETH",
         IMM: "ImmDt"}
# Wholly covered by allowed differences. SourcePort only as long as it stays in 0xC000 to 0xFFFF: its highest bit is tried.
COVERED = {"IPv4.Identification", "IPv4.HeaderChecksum", "BTH.M"}
HIGHEST_ONLY = {"UDP.SourcePort"}
EXTENSIONS = {**{op: [] for op in (0, 1, 2, 4, 7, 8)}, 3: [IMM], 5: [IMM], 6: [RETH], 9: [IMM], 10: [RETH],
              11: [RETH, IMM], 0x11: [AETH]}
BATCH = 250


def size(header):
    return sum(bits for _, bits in FIELDS[header]) // 8


def headers_of(frame):
    """(header, offset) of a RoCEv2 frame without VLAN, and where its payload begins."""
    network = IPV4 if frame[12:14] == b"\x08\x00" else IPV6
    opcode = frame[14 + size(network) + 8]
    found, at = [], 0
    for header in [ETHERNET, network, UDP, BTH] + EXTENSIONS[opcode]:
        found.append((header, at))
        at += size(header)
    return found, at


def make_good(frame):
    """IPv4 checksum and ICRC of a changed frame."""
    frame = bytearray(frame)
    is_v4 = frame[12:14] == b"\x08\x00" or frame[14] >> 4 != 6
    if is_v4:
        frame[24:26] = b"\0\0"
        total = sum(struct.unpack("!10H", frame[14:34]))
        total = (total & 0xffff) + (total >> 16)
        total = (total & 0xffff) + (total >> 16)
        frame[24:26] = struct.pack("!H", total ^ 0xffff)
    covered = bytearray(frame[14:-4])
    if is_v4:
        covered[1] = covered[8] = 0xff
        covered[10:12] = b"\xff\xff"
        udp = 20
    else:
        covered[0] |= 0x0f
        covered[1:4] = b"\xff\xff\xff"
        covered[7] = 0xff
        udp = 40
    covered[udp + 6:udp + 8] = b"\xff\xff"
    covered[udp + 8 + 4] = 0xff
    frame[-4:] = struct.pack("<I", zlib.crc32(b"\xff" * 8 + covered))
    return bytes(frame)


def flip(frame, bit):
    changed = bytearray(frame)
    changed[bit // 8] ^= 0x80 >> bit % 8
    return bytes(changed)


def changed_frames(frame):
    """(what, frame) for each field and some payload bytes."""
    headers, payload = headers_of(frame)
    for header, at in headers:
        bit = 8 * at
        for name, bits in FIELDS[header]:
            full = f"{NAMES[header]}.{name}"
            if full not in COVERED:
                places = {bit} if full in HIGHEST_ONLY else {bit, bit + bits - 1}
                for place in sorted(places):
                    yield f"{full} bit {place - bit}", make_good(flip(frame, place))
            bit += bits
    end = len(frame) - 4
    for at in sorted({payload, (payload + end) // 2, end - 1} if end > payload else ()):
        yield f"payload byte {at - payload}", make_good(flip(frame, 8 * at))
    yield "ICRC", flip(frame, 8 * len(frame) - 1)


class Capture:
    """The frames of a classic pcap and its JSON."""

    def __init__(self, path):
        data = path.read_bytes()
        self.head, self.records, at = data[:24], [], 24
        while at < len(data):
            stamp, length = data[at:at + 8], struct.unpack("<I", data[at + 8:at + 12])[0]
            self.records.append((stamp, data[at + 16:at + 16 + length]))
            at += 16 + length
        self.text = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))

    def write(self, path, records, frames):
        with path.open("wb") as file:
            file.write(self.head)
            for stamp, frame in records:
                file.write(stamp + struct.pack("<II", len(frame), len(frame)) + frame)
        text = copy.copy(self.text)
        text["frames"] = frames
        path.with_suffix(".json").write_text(json.dumps(text), encoding="utf-8")

    def sent_by(self, end):
        return [i for i, f in enumerate(self.text["frames"])
                if f["dir"][0] == end and f["fate"] in ("fwd", "drop", "held", "orig")]

    def mutants(self, end):
        """(what, records, frames), each with one change to what `end` must send."""
        sent = self.sent_by(end)
        for place, i in enumerate(sent):
            stamp, frame = self.records[i]
            for what, changed in changed_frames(frame):
                records = list(self.records)
                records[i] = (stamp, changed)
                yield f"frame {i + 1}: {what}", records, self.text["frames"]
            frames = self.text["frames"]
            yield f"frame {i + 1}: left out", self.records[:i] + self.records[i + 1:], frames[:i] + frames[i + 1:]
            yield (f"frame {i + 1}: doubled", self.records[:i + 1] + self.records[i:],
                   frames[:i + 1] + frames[i:])
            if place + 1 < len(sent):
                j = sent[place + 1]
                records = list(self.records)
                records[i], records[j] = (stamp, self.records[j][1]), (self.records[j][0], frame)
                yield f"frame {i + 1}: swapped with {j + 1}", records, frames


def replay(hca, end, files, folder):
    """{runner: [passes]} in the order of the files."""
    out = folder / "reports.json"
    run = subprocess.run([hca, "replay", "--end", end, "--json", out, *files], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 1):
        raise SystemExit(f"{hca} replay: exit code {run.returncode}: {run.stderr.strip()}")
    passes = {}
    for report in json.loads(out.read_text(encoding="utf-8")):
        passes.setdefault(report["runner"], []).append(report["same"])
    return passes


def check(hca, path, end, folder):
    """True if the capture passes as it is and no mutant does."""
    capture = Capture(path)
    caught, tried, slipped = {}, {}, []
    mutants = list(capture.mutants(end))
    if not mutants:
        return True
    good = all(all(p) for p in replay(hca, end, [path], folder).values())
    if not good:
        print(f"{path.stem} end {end}: does not replay even as it is")
    for first in range(0, len(mutants), BATCH):
        batch = mutants[first:first + BATCH]
        files = [folder / f"{n}.pcap" for n in range(len(batch))]
        for file, (_, records, frames) in zip(files, batch):
            capture.write(file, records, frames)
        for runner, passes in replay(hca, end, files, folder).items():
            for passed, (what, _, _) in zip(passes, batch, strict=True):
                tried[runner] = tried.get(runner, 0) + 1
                caught[runner] = caught.get(runner, 0) + (not passed)
                if passed:
                    slipped.append(f"  {runner}: {what}")
    for runner, count in tried.items():
        print(f"{path.stem:<24} end {end} {runner:<10} caught {caught[runner]} / {count}")
    print("\n".join(slipped[:20]), end="\n" if slipped else "")
    return good and not slipped


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    hca, paths = sys.argv[1], [pathlib.Path(p) for p in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as folder:
        results = [check(hca, path, end, pathlib.Path(folder)) for path in paths for end in "AB"]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
