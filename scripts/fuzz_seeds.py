#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz_seeds.py CAPTURES OUT: seeds for fuzz_parse, from the RoCEv2/IPv4 captures of the folder CAPTURES.

A seed is a byte for the link layer (1 Ethernet, 0 native InfiniBand) and a frame. Of each size of frame one is taken,
as captured and as a native packet: an LRH in place of Ethernet, IP and UDP, two bytes of VCRC behind.
"""
import pathlib
import struct
import sys

TO_TRANSPORT = 14 + 20 + 8  # Ethernet, IPv4 without options, UDP
MAGIC = {0xA1B2C3D4: "<", 0xA1B23C4D: "<", 0xD4C3B2A1: ">", 0x4D3CB2A1: ">"}


def frames(capture):
    data = capture.read_bytes()
    order = MAGIC[struct.unpack_from("<I", data)[0]]
    at = 24
    while at + 16 <= len(data):
        size = struct.unpack_from(order + "I", data, at + 8)[0]
        yield data[at + 16:at + 16 + size]
        at += 16 + size


def native(frame):
    transport = frame[TO_TRANSPORT:]
    lrh = struct.pack(">BBHHH", 0, 2, 1, (8 + len(transport)) // 4, 2)
    return lrh + transport + b"\0\0"


def main():
    captures, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    seen = {}
    for capture in sorted(captures.glob("*.pcap")):
        for frame in frames(capture):
            seen.setdefault((len(frame), frame[TO_TRANSPORT:TO_TRANSPORT + 1]), frame)
    for number, frame in enumerate(seen.values()):
        (out / f"ethernet_{number}").write_bytes(b"\1" + frame)
        (out / f"native_{number}").write_bytes(b"\0" + native(frame))
    print(f"{2 * len(seen)} seeds")
    return 0 if seen else 1


if __name__ == "__main__":
    sys.exit(main())
