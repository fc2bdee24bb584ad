#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_dissection.py MAKER: our packets as independent programs read them.

MAKER (hca_make_packets) builds packets of every RC, UC and UD opcode in every framing and says what went into each.
tshark must dissect them without a malformed mark and find the same values; scapy must come to the same ICRC for
RoCEv2 over IPv4. At the end one bit of each packet's BTH is changed: the comparison must see each change.
"""
import ipaddress
import pathlib
import struct
import subprocess
import sys
import tempfile

FRAMINGS = ["ib_local", "ib_global", "roce_v1", "roce_v2_ip4", "roce_v2_ip6"]
# They guess at payloads and mark good SENDs malformed.
GUESSING = ["rpcrdma_infiniband", "mellanox_eoib", "eth_over_ib", "fc_infiniband"]
# Our name of a value: tshark's field.
TRANSPORT = {
    "opcode": "infiniband.bth.opcode", "se": "infiniband.bth.se", "m": "infiniband.bth.m",
    "pad": "infiniband.bth.padcnt", "pkey": "infiniband.bth.p_key", "dest_qp": "infiniband.bth.destqp",
    "a": "infiniband.bth.a", "psn": "infiniband.bth.psn",
    "qkey": "infiniband.deth.q_key", "src_qp": "infiniband.deth.srcqp",
    "va": "infiniband.reth.va", "rkey": "infiniband.reth.r_key", "dma_len": "infiniband.reth.dmalen",
    "atomic_va": "infiniband.reth.va", "atomic_rkey": "infiniband.reth.r_key",
    "swap": "infiniband.atomiceth.swapdt", "compare": "infiniband.atomiceth.cmpdt",
    "syndrome": "infiniband.aeth.syndrome", "msn": "infiniband.aeth.msn",
    "original": "infiniband.atomicacketh.origremdt",
}
BYTES = {"imm": "infiniband.immdt", "inv_rkey": "infiniband.ieth", "payload": "data.data"}
LINK = {"vl": "infiniband.lrh.vl", "sl": "infiniband.lrh.sl", "slid": "infiniband.lrh.slid",
        "dlid": "infiniband.lrh.dlid", "smac": "eth.src", "dmac": "eth.dst", "pcp": "vlan.priority",
        "vid": "vlan.id", "sport": "udp.srcport"}
GRH = {"tclass": "infiniband.grh.tclass", "hops": "infiniband.grh.hoplmt", "flow": "infiniband.grh.flowlabel",
       "source": "infiniband.grh.sgid", "destination": "infiniband.grh.dgid"}
IPV4 = {"tclass": "ip.dsfield", "hops": "ip.ttl", "source": "ip.src", "destination": "ip.dst"}
IPV6 = {"tclass": "ipv6.tclass", "hops": "ipv6.hlim", "flow": "ipv6.flow", "source": "ipv6.src",
        "destination": "ipv6.dst"}
NETWORK = {"ib_local": {}, "ib_global": GRH, "roce_v1": GRH, "roce_v2_ip4": IPV4, "roce_v2_ip6": IPV6}
MARKS = ["_ws.malformed", "_ws.unreassembled", "ip.checksum.status", "infiniband.lrh.pktlen", "infiniband.grh.paylen"]


def tshark(capture, fields):
    """One {field: text} for each frame."""
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields", "-E", "separator=|", "-E", "occurrence=f",
               "-o", "ip.check_checksum:TRUE"]
    for name in GUESSING:
        command += ["--disable-heuristic", name]
    for field in fields:
        command += ["-e", field]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [dict(zip(fields, line.split("|"))) for line in out.split("\n")[:-1]]


def number(text):
    return int({"True": "1", "False": "0"}.get(text, text), 0)


def same(name, ours, theirs):
    if name in BYTES:
        return theirs.replace(":", "").lower() == (ours.lower() if name == "payload" else f"{int(ours):08x}")
    if name in ("smac", "dmac"):
        return ours == theirs
    if name in ("source", "destination"):
        return ipaddress.ip_address(ours) == ipaddress.ip_address(theirs)
    return theirs != "" and int(ours) == number(theirs)


def expected(table):
    return [dict(cell.split("=", 1) for cell in line.split("\t")) for line in table.read_text().split("\n")[:-1]]


def field_of(framing, name):
    return {**TRANSPORT, **BYTES, **LINK, **NETWORK[framing]}.get(name)


def differences(framing, values, seen):
    """The names whose values differ, or the marks that tshark made."""
    values = {**values, "payload": values["payload"] + "00" * int(values["pad"])}  # tshark shows both as one
    found = [mark for mark in ("_ws.malformed", "_ws.unreassembled") if seen[mark]]
    if framing == "roce_v2_ip4" and seen["ip.checksum.status"] != "1":
        found.append("ip.checksum.status")
    for name, ours in values.items():
        field = field_of(framing, name)
        if field and not same(name, ours, seen[field]):
            found.append(f"{name}: ours {ours}, tshark's {seen[field]}")
    return found


def check_tshark(folder, framing):
    values = expected(folder / f"{framing}.tsv")
    fields = sorted({f for v in values for n in v if (f := field_of(framing, n))}) + MARKS
    frames = tshark(folder / f"{framing}.pcap", fields)
    assert len(frames) == len(values), f"{framing}: {len(values)} packets made, {len(frames)} read"
    bad = skipped = compared = 0
    for i, (ours, seen) in enumerate(zip(values, frames), 1):
        # tshark 4.0 has no dissection for GET, PUT, FLUSH and ATOMIC WRITE; testbench/tests/proto judges their bytes.
        if ours["extended"] == "1":
            skipped += 1
            continue
        compared += sum(field_of(framing, n) is not None for n in ours)
        for what in differences(framing, ours, seen):
            bad += 1
            print(f"{framing} packet {i} ({ours['service']} {ours['name']}): {what}")
    print(f"tshark, {framing}: {len(frames) - skipped} packets, {compared} values, {bad} differences; "
          f"{skipped} packets of opcodes that it does not know")
    return bad


def records(capture):
    data = capture.read_bytes()
    at = 24
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        yield at + 16, size
        at += 16 + size


def check_scapy(folder):
    from scapy.contrib.roce import BTH
    from scapy.layers.l2 import Ether
    capture = folder / "roce_v2_ip4.pcap"
    data, good, bad = capture.read_bytes(), 0, 0
    for at, size in records(capture):
        frame = data[at:at + size]
        packet = Ether(frame)
        theirs = packet[BTH].compute_icrc(bytes(packet[BTH])[:-4])
        good += theirs == frame[-4:]
        bad += theirs != frame[-4:]
        if theirs != frame[-4:]:
            print(f"scapy: ICRC {theirs.hex()}, ours {frame[-4:].hex()}")
    print(f"scapy, roce_v2_ip4: {good} ICRCs agree, {bad} differ")
    return bad + (good == 0)


def check_the_check(folder):
    """The same comparison over packets with one bit of the PSN changed must object to each of them."""
    framing = "ib_local"
    capture, changed = folder / f"{framing}.pcap", folder / "changed.pcap"
    data = bytearray(capture.read_bytes())
    for at, _ in records(capture):
        data[at + 16 + 8 + 11] ^= 1  # ERF header, LRH, last byte of the BTH
    changed.write_bytes(data)
    values = expected(folder / f"{framing}.tsv")
    fields = sorted({f for v in values for n in v if (f := field_of(framing, n))}) + MARKS
    unseen = sum(not differences(framing, v, s) for v, s in zip(values, tshark(changed, fields)))
    print(f"{len(values)} packets with a changed bit, {unseen} not noticed")
    return unseen


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.argv[1], name], check=True)
        bad = sum(check_tshark(folder, framing) for framing in FRAMINGS)
        bad += check_scapy(folder) + check_the_check(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
