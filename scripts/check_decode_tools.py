#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_decode_tools.py HCA: frames that scapy builds, in files and dumps of tshark, editcap, mergecap, tcpdump, xxd, hexdump
and od: `hca decode` finds the packet in each of them that tshark finds, and the fields of MADs that tshark finds."""
import ctypes
import json
import lzma
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from scapy.all import ARP, GRE, IP, TCP, UDP, Dot3, Ether, IPv6, LLC, Raw, SNAP, wrpcap
from scapy.contrib.geneve import GENEVE
from scapy.contrib.roce import BTH
from scapy.layers.inet6 import (IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, PadN, RouterAlert)
from scapy.layers.ppp import PPP, PPPoE
from scapy.layers.vxlan import VXLAN

OPCODE, QPN, PSN = 4, 0x20, 0x1000
MAC = {"src": "02:00:00:00:00:0a", "dst": "02:00:00:00:00:0b"}
PACKET = bytes(IP(src="192.0.2.1", dst="192.0.2.2", flags="DF") / UDP(sport=0xC400, dport=4791, chksum=0)
               / BTH(opcode=OPCODE, pkey=0xFFFF, dqpn=QPN, psn=PSN) / Raw(bytes.fromhex("deadbe00")))
FRAME = bytes(Ether(type=0x800, **MAC)) + PACKET


def around(*layers):
    """The layers in an IPv4 packet in an Ethernet frame; scapy sets lengths and checksums."""
    packet = Ether(**MAC) / IP(src="198.51.100.1", dst="198.51.100.2")
    for layer in layers:
        packet = packet / layer
    return bytes(packet)


def typed(*parts):
    return FRAME[:12] + b"".join(parts)


def label(number, bottom):
    return struct.pack(">I", number << 12 | bottom << 8 | 64)


def wrappings():
    inner, session = Raw(FRAME), dict(seqnum_present=1, sequence_number=9)
    erspan2 = struct.pack(">HHI", 0x1000 | 100, 1 << 11 | 5, 0x12345)
    erspan3 = struct.pack(">HHIHH", 0x2000 | 100, 5, 0x1234, 0, 0x8000)
    vlan = b"\x81\x00\x60\x64"
    return {
        "plain": FRAME,
        "fcs": FRAME + struct.pack("<I", zlib.crc32(FRAME)),
        "vlan": typed(vlan, FRAME[12:]),
        "qinq": typed(b"\x88\xa8\x00\x0a", vlan, FRAME[12:]),
        "stacked": typed(b"\x81\x00\x00\x0a", vlan, FRAME[12:]),
        "mpls": typed(b"\x88\x47", label(100, 0), label(200, 1), PACKET),
        "pseudowire": typed(b"\x88\x47", label(200, 1), bytes(4), FRAME),
        "vxlan": around(UDP(sport=5555, dport=4789), VXLAN(vni=42), inner),
        "vxlan_ipv6": bytes(Ether(**MAC) / IPv6(src="2001:db8::1", dst="2001:db8::2")
                            / UDP(sport=5555, dport=4789) / VXLAN(vni=42) / inner),
        "vxlan_vlan": around(UDP(sport=5555, dport=4789), VXLAN(vni=42), Raw(typed(vlan, FRAME[12:]))),
        "geneve": around(UDP(sport=5555, dport=6081), GENEVE(vni=42, proto=0x6558), inner),
        "gre": around(GRE(proto=0x800), Raw(PACKET)),
        "gre_bridging": around(GRE(proto=0x6558, key_present=1, key=77, **session), inner),
        "erspan1": around(GRE(proto=0x88BE), inner),
        "erspan2": around(GRE(proto=0x88BE, **session), Raw(erspan2 + FRAME)),
        "erspan3": around(GRE(proto=0x22EB, **session), Raw(erspan3 + FRAME)),
        "snap": bytes(Dot3(**MAC) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0, code=0x800) / Raw(PACKET)),
        "pppoe": bytes(Ether(type=0x8864, **MAC) / PPPoE(sessionid=5, len=len(PACKET) + 2) / Raw(b"\0\x21" + PACKET)),
        "pppoe_short": bytes(Ether(type=0x8864, **MAC) / PPPoE(sessionid=5) / PPP(proto=0x21) / Raw(PACKET)),
        "srv6": bytes(Ether(**MAC) / IPv6(src="2001:db8::1", dst="2001:db8::2")
                      / IPv6ExtHdrRouting(nh=4, addresses=["2001:db8::9"], segleft=0) / Raw(PACKET)),
        "ip_in_ip": bytes(Ether(**MAC) / IP(src="198.51.100.1", dst="198.51.100.2", proto=4) / Raw(PACKET)),
    }


def extended():
    """Frames with extension headers before UDP, and how many rules each breaks and remarks it draws."""
    ipv6 = Ether(**MAC) / IPv6(src="2001:db8::1", dst="2001:db8::2")
    udp = Raw(PACKET[20:])
    options = PadN(optdata=bytes(12))
    first = bytes(ipv6 / IPv6ExtHdrFragment(nh=17, offset=0, m=1, id=7) / udp)
    return {
        "hop_by_hop": (bytes(ipv6 / IPv6ExtHdrHopByHop(nh=17, options=[RouterAlert()]) / udp), 0, 1),
        "destination": (bytes(ipv6 / IPv6ExtHdrDestOpt(nh=17, options=[options]) / udp), 0, 1),
        "routing": (bytes(ipv6 / IPv6ExtHdrRouting(nh=17, addresses=["2001:db8::9"], segleft=0) / udp), 0, 1),
        "three": (bytes(ipv6 / IPv6ExtHdrHopByHop(nh=43, options=[RouterAlert()])
                        / IPv6ExtHdrRouting(nh=60, addresses=["2001:db8::9"], segleft=0)
                        / IPv6ExtHdrDestOpt(nh=17, options=[options]) / udp), 0, 1),
        "atomic_fragment": (bytes(ipv6 / IPv6ExtHdrFragment(nh=17, offset=0, m=0, id=7) / udp), 0, 1),
        "first_fragment": (first[:-4], 1, 0),
    }


def foreign():
    """Frames that are not judged, and why."""
    ipv6 = Ether(**MAC) / IPv6(src="2001:db8::1", dst="2001:db8::2")
    return {
        "ARP": Ether(**MAC) / ARP(), "TCP": Ether(**MAC) / IP() / TCP(),
        "later fragment of IPv6": ipv6 / IPv6ExtHdrFragment(nh=17, offset=2, m=0, id=7) / Raw(PACKET),
        "LLC": Dot3(**MAC) / LLC(dsap=0x42, ssap=0x42, ctrl=3) / Raw(bytes(40)),
        "SNAP of OUI 0x00000C": Dot3(**MAC) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0xC, code=0x2000) / Raw(bytes(40)),
        "MACsec": Ether(type=0x88E5, **MAC) / Raw(bytes(60)),
        "PPPoE discovery": Ether(type=0x8863, **MAC) / Raw(bytes.fromhex("110900000000")),
        "LCP of PPP": Ether(type=0x8864, **MAC) / PPPoE(sessionid=5) / PPP(proto=0xC021) / Raw(b"\1\1\0\4"),
    }


def by_zstd(data):
    """Packed by the library, which packages bring that have no program for it."""
    library = ctypes.CDLL("libzstd.so.1")
    size = ctypes.c_size_t
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = size
    library.ZSTD_compressBound.argtypes = [size]
    library.ZSTD_compress.argtypes = [ctypes.c_void_p, size, ctypes.c_void_p, size, ctypes.c_int]
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    used = library.ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:used]


def recorded():
    """Link type and record of each kind of recorder."""
    erf_frame = FRAME + struct.pack("<I", zlib.crc32(FRAME))
    size = len(erf_frame)
    return {
        "raw": (101, PACKET), "ipv4": (228, PACKET),
        "null": (0, struct.pack("<I", 2) + PACKET), "loop": (108, struct.pack(">I", 2) + PACKET),
        "sll": (113, struct.pack(">HHHQH", 0, 1, 6, 0x0200000000A0000, 0x800) + PACKET),
        "sll2": (276, struct.pack(">HHIHBBQ", 0x800, 0, 3, 1, 0, 6, 0x0200000000A0000) + PACKET),
        "erf": (197, struct.pack("<Q", 1 << 32) + struct.pack(">BBHHH", 2, 4, 18 + size, 0, size) + bytes(2) + erf_frame),
    }


class Check:
    def __init__(self, hca, folder):
        self.hca, self.folder, self.bad, self.done = hca, folder, 0, 0

    def json(self, *arguments):
        out = self.folder / "out.json"
        out.unlink(missing_ok=True)
        run = subprocess.run([self.hca, "decode", "--brief", *map(str, arguments), "--json", str(out)], capture_output=True, text=True)
        if run.returncode:
            return run.stderr
        return json.loads(out.read_text())

    def packet(self, name, *arguments, icrc=True, count=1):
        """All frames of the input are PACKET, with its ICRC if that can be checked."""
        self.done += 1
        frames = self.json(*arguments)
        fields = [next((h["fields"] for h in f["headers"] if h["header"] == "BTH"), {}) for f in frames] if isinstance(frames, list) else []
        good = len(fields) == count and all(f.get("OpCode") == OPCODE and f.get("DestQP") == QPN and f.get("PSN") == PSN for f in fields)
        if not good or any(f["verdict"] != "good" or f.get("icrc", {}).get("good", not icrc) is not True for f in frames):
            self.bad += 1
            print(f"{name}: {frames if isinstance(frames, str) else [f['summary'] for f in frames]}")


    def equal(self, name, found, expected):
        self.done += 1
        if found != expected:
            self.bad += 1
            print(f"{name}: {found}, not {expected}")

    def refused(self, name, path, reason):
        run = subprocess.run([self.hca, "decode", str(path)], capture_output=True, text=True)
        self.equal(name, (run.returncode, reason in run.stderr), (2, True))


def tshark_finds(path):
    run = subprocess.run(["tshark", "-n", "-r", str(path), "-T", "fields", "-e", "infiniband.bth.psn"], capture_output=True, text=True, check=True)
    return bool(run.stdout.strip()) and int(run.stdout.split()[0].split(",")[-1], 0) == PSN


def check_captures(check):
    folder, found = check.folder, 0
    for name, frame in wrappings().items():
        wrpcap(str(folder / f"{name}.pcap"), [frame], linktype=1)
    for name, (link, record) in recorded().items():
        wrpcap(str(folder / f"{name}.pcap"), [record], linktype=link)
    for path in sorted(folder.glob("*.pcap")):
        check.packet(path.stem, path)
        found += tshark_finds(path)
    some = [folder / f"{name}.pcap" for name in ("plain", "sll", "raw", "null", "vxlan")]
    subprocess.run(["mergecap", "-w", str(folder / "mixed.pcapng"), *map(str, some)], check=True)
    check.packet("interfaces of several link types", folder / "mixed.pcapng", count=len(some))
    for kind in ("pcapng", "nsecpcap", "modpcap"):
        subprocess.run(["editcap", "-F", kind, str(folder / "vxlan.pcap"), str(folder / f"of.{kind}")], check=True)
        check.packet(kind, folder / f"of.{kind}")
    mixed = (folder / "mixed.pcapng").read_bytes()
    for name, packed in (("gzip", zlib.compress(mixed, wbits=31)), ("xz", lzma.compress(mixed)), ("zstd", by_zstd(mixed))):
        (folder / "packed").write_bytes(packed)
        check.packet(name, folder / "packed", count=len(some))
        (folder / "packed").write_bytes(packed[:-9])
        check.refused(f"{name} that ends early", folder / "packed", "ends early")
    for name, (frame, broken, remarks) in extended().items():
        wrpcap(str(folder / f"{name}.extended"), [frame], linktype=1)
        check.packet(name, folder / f"{name}.extended", icrc=False)
        counts = [(len(f["broken_rules"]), len(f["remarks"])) for f in check.json(folder / f"{name}.extended")]
        check.equal(f"rules of {name}", counts, [(broken, remarks)])
    print(f"tshark finds {found} of the packets as well")
    for kind, frame in foreign().items():
        wrpcap(str(folder / "foreign"), [bytes(frame)], linktype=1)
        check.equal(kind, [f.get("not_judged") for f in check.json(folder / "foreign")], [kind])


def check_dumps(check):
    folder = check.folder
    for name, data in (("frame", FRAME), ("ip", PACKET), ("udp", PACKET[20:]), ("bth", PACKET[28:])):
        path = folder / f"{name}.bin"
        path.write_bytes(data)
        commands = [["xxd", path], ["xxd", "-g1", path], ["xxd", "-c", "32", path], ["xxd", "-u", path], ["xxd", "-p", path],
                    ["xxd", "-i", path], ["hexdump", "-C", path], ["od", "-A", "x", "-t", "x1", path], ["od", "-t", "x1", path],
                    ["od", "-A", "d", "-t", "x1", path], ["od", "-A", "x", "-t", "x1z", path]]
        if name in ("frame", "ip"):  # bytes in another order need a packet that shows which
            commands += [["xxd", "-e", path], ["xxd", "-e", "-g2", path], ["hexdump", path], ["hexdump", "-x", path], ["od", "-x", path],
                         ["od", "-t", "x4", path], ["od", "-A", "x", "-t", "x2", path]]
        later = folder / f"{name}.later"
        later.write_bytes(bytes(37) + data)
        commands += [["xxd", "-s", "37", later], ["hexdump", "-C", "-s", "37", later], ["od", "-j", "37", "-t", "x1", later],
                     ["od", "-A", "d", "-j", "37", "-t", "x1", later]]
        if name == "frame":
            commands += [["tshark", "-x", "-r", folder / "plain.pcap"]]
            commands += [["tcpdump", "-n", *options, "-r", folder / "plain.pcap"]
                         for options in (["-x"], ["-xx"], ["-X", "-e"], ["-XX", "-v", "-tttt"], ["-xx", "-tt"], ["-xx", "-t"])]
        for command in commands:
            if shutil.which(command[0]) is None:
                print(f"skipped: there is no {command[0]}")
                continue
            dump = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
            (folder / "dump.txt").write_text(dump)
            check.packet(f"{command[0]} {command[1]} of {name}", folder / "dump.txt", icrc=name in ("frame", "ip"))
            if name != "frame":
                check.packet(f"the same by --link {name}", "--link", name, folder / "dump.txt", icrc=name == "ip")


# Our header and field: tshark's field. tshark 4.0 reads 3 of the 4 bytes of a REQ's flow labels and packet rates: those are left out.
MADS = {
    "CM REQ": {"LocalCommunicationID": "cm.req", "ServiceID": "cm.req.serviceid", "LocalCaGuid": "cm.req.localcaguid",
               "LocalQ_Key": "cm.req.localqkey", "LocalQPN": "cm.req.localqpn", "ResponderResources": "cm.req.responderres",
               "LocalEECN": "cm.req.localeecn", "InitiatorDepth": "cm.req.initdepth", "RemoteEECN": "cm.req.remoteeecn",
               "RemoteCmResponseTimeout": "cm.req.remoteresptout", "TransportServiceType": "cm.req.transpsvctype",
               "EndToEndFlowControl": "cm.req.e2eflowctrl", "StartingPSN": "cm.req.startpsn",
               "LocalCmResponseTimeout": "cm.req.localresptout", "RetryCount": "cm.req.retrcount", "P_Key": "cm.req.pkey",
               "PathPacketPayloadMtu": "cm.req.pppmtu", "RdcExists": "cm.req.rdcexist", "RnrRetryCount": "cm.req.rnrretrcount",
               "MaxCmRetries": "cm.req.maxcmretr", "SRQ": "cm.req.srq", "ExtendedTransportType": "cm.req.ext_transport",
               "PrimaryLocalPortLID": "cm.req.prim_locallid", "PrimaryRemotePortLID": "cm.req.prim_remotelid",
               "PrimaryTrafficClass": "cm.req.prim_tfcclass", "PrimaryHopLimit": "cm.req.prim_hoplim", "PrimarySL": "cm.req.prim_sl",
               "PrimarySubnetLocal": "cm.req.prim_subnetlocal", "PrimaryLocalAckTimeout": "cm.req.prim_localacktout",
               "AlternateLocalPortLID": "cm.req.alt_locallid", "AlternateRemotePortLID": "cm.req.alt_remotelid",
               "AlternateTrafficClass": "cm.req.alt_tfcclass", "AlternateHopLimit": "cm.req.alt_hoplim", "AlternateSL": "cm.req.alt_sl",
               "AlternateSubnetLocal": "cm.req.alt_subnetlocal", "AlternateLocalAckTimeout": "cm.req.alt_localacktout"},
    "IP CM": {"MajorVersion": "cm.req.ip_cm.majv", "MinorVersion": "cm.req.ip_cm.minv", "IpVersion": "cm.req.ip_cm.ipv",
              "SourcePort": "cm.req.ip_cm.sport"},
    "CM REP": {"LocalCommunicationID": "cm.rep", "RemoteCommunicationID": "cm.rep.remotecommid", "LocalQ_Key": "cm.rep.localqkey",
               "LocalQPN": "cm.rep.localqpn", "LocalEECN": "cm.rep.localeecn", "StartingPSN": "cm.rep.startpsn",
               "ResponderResources": "cm.rep.respres", "InitiatorDepth": "cm.rep.initdepth", "TargetAckDelay": "cm.rep.tgtackdelay",
               "FailoverAccepted": "cm.rep.failoveracc", "EndToEndFlowControl": "cm.rep.e2eflowctrl",
               "RnrRetryCount": "cm.rep.rnrretrcount", "SRQ": "cm.rep.srq", "LocalCaGuid": "cm.rep.localcaguid"},
    "CM RTU": {"LocalCommunicationID": "cm.rtu.localcommid", "RemoteCommunicationID": "cm.rtu.remotecommid"},
    "CM REJ": {"LocalCommunicationID": "cm.rej.localcommid", "RemoteCommunicationID": "cm.rej.remotecommid",
               "MessageRejected": "cm.rej.msgrej", "RejectInfoLength": "cm.rej.rejinfolen", "Reason": "cm.rej.reason"},
    "CM DREQ": {"LocalCommunicationID": "cm.dreq.localcommid", "RemoteCommunicationID": "cm.dreq.remotecommid",
                "RemoteQPN/EECN": "cm.req.remoteqpneecn"},
    "CM DREP": {"LocalCommunicationID": "cm.drsp.localcommid", "RemoteCommunicationID": "cm.drsp.remotecommid"},
    "MAD": {"MgmtClass": "mad.mgmtclass", "Method": "mad.method", "TransactionID": "mad.transactionid", "AttributeID": "mad.attributeid",
            "AttributeModifier": "mad.attributemodifier"},
    "NodeInfo": {name: f"nodeinfo.{name.lower()}" for name in (
        "NodeType", "NumPorts", "SystemImageGuid", "NodeGuid", "PortGuid", "PartitionCap", "DeviceID", "Revision", "LocalPortNum", "VendorID")},
    "PortInfo": {name: f"portinfo.{name.lower()}" for name in (
        "M_Key", "LID", "MasterSMLID", "CapabilityMask", "DiagCode", "M_KeyLeasePeriod", "LocalPortNum", "LinkWidthEnabled",
        "LinkWidthSupported", "LinkWidthActive", "LinkSpeedSupported", "PortState", "PortPhysicalState", "LinkDownDefaultState",
        "M_KeyProtectBits", "LMC", "LinkSpeedActive", "LinkSpeedEnabled", "NeighborMTU", "MasterSMSL", "VLCap", "InitType",
        "VLHighLimit", "VLArbitrationHighCap", "VLArbitrationLowCap", "MTUCap", "VLStallCount", "HOQLife", "OperationalVLs",
        "M_KeyViolations", "P_KeyViolations", "Q_KeyViolations", "GuidCap", "ClientReregister", "SubnetTimeOut", "RespTimeValue",
        "LocalPhyErrors", "OverrunErrors")},
}


def mad_frame(qpn, mad_class, method, attribute, data, special=0):
    head = struct.pack(">BBBBIQHHI", 1, mad_class, 2 if mad_class == 7 else 1, method, special, 0x1122334455667788, attribute, 0, 0x99)
    return bytes(Ether(**MAC) / IP(src="192.0.2.1", dst="192.0.2.2", flags="DF") / UDP(sport=0xC400, dport=4791, chksum=0)
                 / BTH(opcode=0x64, pkey=0xFFFF, dqpn=qpn, psn=5)
                 / Raw(struct.pack(">II", 0x80010000 if qpn else 0, 1) + head + data))


def check_mads(check):
    random.seed(1819)
    frames = []
    for _ in range(8):
        for attribute in range(0x10, 0x1B):
            data = bytearray(random.randbytes(232))
            if attribute == 0x10:
                data[8:14] = bytes.fromhex("000000000106")  # a service ID of IP
            frames.append(mad_frame(1, 0x07, 3, attribute, bytes(data)))
        for attribute in (0x10, 0x11, 0x12, 0x15, 0x20):
            frames.append(mad_frame(0, 0x01, 0x81, attribute, random.randbytes(232)))
            frames.append(mad_frame(0, 0x81, 0x81, attribute, random.randbytes(232), 0x80000203))
    path = check.folder / "mads.capture"
    wrpcap(str(path), frames, linktype=1)
    theirs = sorted({field for fields in MADS.values() for field in fields.values()})
    command = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=|", "-E", "occurrence=f"]
    for field in theirs:
        command += ["-e", f"infiniband.{field}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
    compared, ours = 0, check.json(path)
    for number, (frame, line) in enumerate(zip(ours, lines), 1):
        seen = dict(zip(theirs, line.split("|")))
        for header in frame["headers"]:
            for name, field in MADS.get(header["header"], {}).items():
                if not seen[field]:  # tshark does not look into it
                    continue
                compared += 1
                if header["fields"][name] != int({"True": "1", "False": "0"}.get(seen[field], seen[field]), 0):
                    check.bad += 1
                    print(f"MAD {number}: {header['header']}.{name} is {header['fields'][name]:#x}, tshark's {seen[field]}")
    if compared < 8 * 100 or len(ours) != len(frames):
        check.bad += 1
    print(f"{len(ours)} MADs, {compared} fields compared with tshark's")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        check = Check(sys.argv[1], pathlib.Path(name))
        check_captures(check)
        check_dumps(check)
        check_mads(check)
    print(f"{check.done} inputs, {check.bad} failures")
    return 1 if check.bad else 0


if __name__ == "__main__":
    sys.exit(main())
