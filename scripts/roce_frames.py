# SPDX-License-Identifier: Apache-2.0
"""RoCEv2 frames without VLAN, field by field, for scripts that change them."""
import struct
import zlib

ETHERNET, IPV4, IPV6, UDP, BTH, RETH, AETH, IMM, ATOMIC, ATOMIC_ACK, IETH, DETH = range(12)
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
    ATOMIC: [("VA", 64), ("R_Key", 32), ("SwapDt", 64), ("CmpDt", 64)],
    ATOMIC_ACK: [("OrigRemDt", 64)],
    IETH: [("R_Key", 32)],
    DETH: [("Q_Key", 32), ("Reserved", 8), ("SrcQP", 24)],
}
NAMES = {ETHERNET: "Ethernet", IPV4: "IPv4", IPV6: "IPv6", UDP: "UDP", BTH: "BTH", RETH: "RETH", AETH: "AETH",
         IMM: "ImmDt", ATOMIC: "AtomicETH", ATOMIC_ACK: "AtomicAckETH", IETH: "IETH", DETH: "DETH"}
EXTENSIONS = {**{op: [] for op in (0, 1, 2, 4, 7, 8, 0x0e)}, 3: [IMM], 5: [IMM], 6: [RETH], 9: [IMM], 10: [RETH],
              11: [RETH, IMM], 0x0c: [RETH], 0x0d: [AETH], 0x0f: [AETH], 0x10: [AETH], 0x11: [AETH],
              0x12: [AETH, ATOMIC_ACK], 0x13: [ATOMIC], 0x14: [ATOMIC], 0x16: [IETH], 0x17: [IETH]}
# UD.
EXTENSIONS |= {0x64: [DETH], 0x65: [DETH, IMM]}
# UC: the same operations, up to RDMA WRITE Only with Immediate.
EXTENSIONS |= {0x20 | op: EXTENSIONS[op] for op in range(0x0c)}
ACKNOWLEDGE = 0x11


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


def opcode_of(frame):
    return frame[14 + size(IPV4 if frame[12:14] == b"\x08\x00" else IPV6) + 8]


def is_request(frame):
    opcode = opcode_of(frame)
    return not 0x0d <= opcode <= 0x12
