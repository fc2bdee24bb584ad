#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz_seeds.py ROOT OUT: seeds of each fuzz target, in OUT/TARGET, from the captures, vectors and scenarios of ROOT.

A seed of `parse` is a byte for the link layer (1 Ethernet, 0 native InfiniBand) and a frame. Of each size of frame one is
taken, as captured and as a native packet: an LRH in place of Ethernet, IP and UDP, two bytes of VCRC at the end.
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


REQUESTS = frozenset(range(0x0D)) | {0x13, 0x14, 0x15}  # OpCode[4:0]; 0x0D to 0x12 are answers


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def of_rd(frame):
    """A frame of RC as one of RD: an RDETH after the BTH, in requests a DETH as well; nothing for one of another service."""
    opcode = frame[TO_TRANSPORT]
    if opcode >= 0x16:
        return b""
    headers = bytes(4) + (bytes(8) if opcode in REQUESTS else b"")
    out = bytearray(frame[:TO_TRANSPORT + 12] + headers + frame[TO_TRANSPORT + 12:])
    out[TO_TRANSPORT] = 0x40 | opcode
    for at in (14 + 2, 14 + 20 + 4):  # lengths of IPv4 and UDP
        struct.pack_into(">H", out, at, struct.unpack_from(">H", out, at)[0] + len(headers))
    out[24:26] = bytes(2)
    struct.pack_into(">H", out, 24, checksum(bytes(out[14:34])))
    return bytes(out)


def pcapng(packets):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        size = 12 + len(body)
        return struct.pack("<II", kind, size) + body + struct.pack("<I", size)

    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, 0))
    for packet in packets:
        out += block(6, struct.pack("<IIIII", 0, 0, 1000, len(packet), len(packet)) + packet)
    return out


def texts(frame):
    """A frame as people paste it: offsets with and without colons, an array, a string, digits."""
    lines = [frame[at:at + 16] for at in range(0, len(frame), 16)]
    colon = "".join(f"{16 * n:08x}: {line.hex(' ', 2)}  text\n" for n, line in enumerate(lines))
    plain = "".join(f"{16 * n:04x}  {line.hex(' ')}   text\n" for n, line in enumerate(lines))
    bars = "".join(f"{16 * n:08x}  {line[:8].hex(' ')}  {line[8:].hex(' ')}  |text|\n" for n, line in enumerate(lines))
    array = "p[] = { " + ", ".join(f"0x{byte:02x}" for byte in frame) + " };\n"
    string = 'p = "' + "".join(f"\\x{byte:02x}" for byte in frame) + '"\n'
    return [colon, "12:34:56.7 IP a > b\n" + plain, bars + "*\n", array, string, "".join(f"{line.hex(':')}\n" for line in lines)]


def short(files, limit):
    return {file.name: file.read_bytes() for file in sorted(files) if file.stat().st_size <= limit}


def seeds_of(root):
    """{target: {name: bytes}}"""
    captures = root / "vectors/captures"
    seen = {}
    for capture in sorted(captures.glob("*.pcap")):
        for frame in frames(capture):
            seen.setdefault((len(frame), frame[TO_TRANSPORT:TO_TRANSPORT + 1]), frame)
    all_frames = list(seen.values())
    parse = {f"ethernet_{n}": b"\1" + frame for n, frame in enumerate(all_frames)}
    parse.update({f"native_{n}": b"\0" + native(frame) for n, frame in enumerate(all_frames)})
    to_device = [struct.pack("<BH", 28, len(frame)) + frame for frame in all_frames]  # to RC, all mended
    packets = {f"{n}": b"".join(to_device[n:n + 4]) for n in range(len(to_device))}
    # To the first queue pair of RD, all mended.
    to_context = [struct.pack("<BH", 127 & ~2, len(frame)) + frame for frame in map(of_rd, all_frames) if frame]
    packets |= {f"rd_{n}": b"".join(to_context[n:n + 4]) for n in range(len(to_context))}
    files = short(captures.glob("*.pcap"), 4608)
    files["frames.pcapng"] = pcapng(all_frames[:8])
    pasted = {f"{n}_{kind}": text.encode() for n, frame in enumerate(all_frames[:8]) for kind, text in enumerate(texts(frame))}
    wqes, commands = {}, {}
    for code in range(52):
        wqe = bytes([code, 1]) + bytes(62)
        wqes[f"{code}"] = b"".join(bytes([queue | 56, len(wqe)]) + wqe for queue in (0, 1, 2, 4, 65))
        commands[f"{code}"] = 2 * (bytes([code]) + struct.pack("<I", code % 20) + bytes([160]) + bytes(range(160)))
    bells = {f"{offset:x}_{number}": struct.pack("<HB", offset, 8) + struct.pack(">IHH", number, 0, 3)
             for offset in (0, 8, 16, 24, 32, 40, 0x800, 0x808) for number in (0, 16, 17)}
    vectors = [f for f in (root / "vectors").glob("*/*.json") if f.parent.name not in ("captures", "calibration")]
    return {"parse": parse, "packets": packets, "captures": files, "text": pasted, "wqes": wqes, "commands": commands, "doorbells": bells,
            "vectors": {f"{n}.json": f.read_bytes() for n, f in enumerate(sorted(vectors)) if f.stat().st_size <= 1500},
            "scenarios": short((root / "testbench/scenarios").glob("*.yaml"), 4608)}


def main():
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    seeds = seeds_of(root)
    targets = {source.stem for source in (root / "testbench/fuzz").glob("*.cpp")}
    for target, files in seeds.items():
        (out / target).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (out / target / name).write_bytes(data)
        print(f"{target}: {len(files)} seeds")
    return 0 if targets == set(seeds) and all(seeds.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
