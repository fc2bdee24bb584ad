#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that `hca replay` is sharp: a copy of a capture with one thing changed must not pass.

For each frame that an end must send, each field is changed (lowest and highest bit), checksums made good again, and the
frame is left out, doubled and swapped with the next one of its direction; of what an end's host saw, each field of each
completion and state is changed, bytes of its memory, an asynchronous event is added, and what a connection was given
(PSN, timers, retries) is changed where the recording shows it. Each copy is replayed on every runner. Fields that an
allowed difference covers wholly are left alone, and so are those that are learned from the frame itself. Without set-
up, a frame that is left out of the comparison more than before is noticed. With --every, at least one change of each
kind of host event is tried for each capture. Prints caught / tried for each capture, end and runner, and what slipped
through; exits 1 if anything did, or if a capture does not replay. A copy that is refused as unreadable counts as not
caught, but for captures without set-up.
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

from roce_frames import (ACKNOWLEDGE, AETH, BTH, FIELDS, IPV4, NAMES, flip, headers_of, is_request, make_good, opcode_of, size)

# Freedoms: what a sender chooses, and what may change on the way. Of the TTL only lower values are, which no flip here makes.
COVERED = {"IPv4.Identification", "IPv4.HeaderChecksum", "IPv4.TOS", "IPv6.TrafficClass", "UDP.SourcePort", "BTH.M", "BTH.F"}
# A requester of RC chooses how often it requests an ACK.
COVERED_IN_REQUESTS = {"BTH.A"}
# What a capture without set-up is the only source of: a changed value is another, equally good conversation.
LEARNED = {"IPv4.TTL", "IPv6.HopLimit", "IPv6.FlowLabel", "RETH.VA", "RETH.R_Key", "ImmDt.ImmDt", "AtomicETH.VA", "AtomicETH.R_Key", "AtomicETH.SwapDt",
           "AtomicETH.CmpDt", "AtomicAckETH.OrigRemDt", "IETH.R_Key", "BTH.SE", "DETH.Q_Key"}
# The credits that an ACK tells are not learned: of its syndrome the highest bit is tried.
HIGHEST_OF_LEARNED = {"AETH.Syndrome"}
BATCH = 250
WITH_GRH, WITH_IMMEDIATE = 1, 2
DATAGRAMS = (0x64, 0x65)


def same_but_for_covered(one, two):
    """True if two frames differ only in what an allowed difference covers wholly, and in the ICRC that follows."""
    def rest(frame):
        frame = bytearray(frame)
        if frame[12:14] == b"\x08\x00":
            frame[18:20] = frame[24:26] = b"\0\0"
        return frame[:-4]
    return rest(one) == rest(two)


def changed_frames(frame, learned):
    """(what, frame) for each field and some payload bytes, but for what is learned from this very frame."""
    headers, payload = headers_of(frame)
    for header, at in headers:
        bit = 8 * at
        for name, bits in FIELDS[header]:
            full = f"{NAMES[header]}.{name}"
            is_learned = learned and full in LEARNED
            is_free = full in COVERED_IN_REQUESTS and opcode_of(frame) < 0x20 and is_request(frame)
            if full not in COVERED and not is_learned and not is_free:
                # Without set-up a SEND with Immediate is as good as one with four bytes more.
                sends = learned and full == "BTH.OpCode" and frame[bit // 8] in (2, 3, 4, 5, *DATAGRAMS)
                places = {bit} if sends or learned and full in HIGHEST_OF_LEARNED else {bit, bit + bits - 1}
                for place in sorted(places):
                    yield f"{full} bit {place - bit}", make_good(flip(frame, place))
            bit += bits
    end = len(frame) - 4
    for at in sorted({payload, (payload + end) // 2, end - 1} if end > payload and not learned else ()):
        yield f"payload byte {at - payload}", make_good(flip(frame, 8 * at))
    yield "ICRC", flip(frame, 8 * len(frame) - 1)


def changed_completion(wc, is_datagram):
    """(field, value) for each field that a replay compares."""
    yield "wr_id", wc["wr_id"] + 1
    yield "status", "WR_FLUSH_ERR" if wc["status"] != "WR_FLUSH_ERR" else "LOC_PROT_ERR"
    if wc["status"] != "SUCCESS":
        return
    yield "opcode", "BIND_MW" if wc["opcode"] != "BIND_MW" else "LOCAL_INV"
    yield "byte_len", wc["byte_len"] + 1
    yield "src_qp", wc.get("src_qp", 0) + 1
    yield "vendor_err", 1
    if wc["queue"] == "recv":
        yield "wc_flags", wc["wc_flags"] ^ WITH_IMMEDIATE
        if is_datagram:
            yield "wc_flags", wc["wc_flags"] ^ WITH_GRH
        if wc["wc_flags"] & WITH_IMMEDIATE:
            yield "imm", int(str(wc["imm"]), 0) ^ 1


def undefined_bytes(events, end):
    """(first address, last) of the buffers of receives that failed: T11 leaves open what they hold."""
    failed = {(e["qpn"], e["wr_id"]) for e in events
              if e["ev"] == "wc" and e["side"] == end and e["queue"] == "recv" and e["status"] != "SUCCESS"}
    return [(int(str(at), 0), int(str(at), 0) + length) for e in events
            if e["ev"] == "post_recv" and e["side"] == end and (e["qpn"], e["wr_id"]) in failed
            for at, length, _ in e["sge"]]


def changed_memory(final, regions, undefined):
    """mem_final with one bit of a byte changed: the first and the last that is told, and one that is not."""
    told = {offset + i: byte for offset, text in final["changed"] for i, byte in enumerate(bytes.fromhex(text))}
    region = regions[final["mr"]]
    base = int(str(region["addr"]), 0)

    def is_defined(at):
        return not any(first <= base + at < end for first, end in undefined)
    told = {at: byte for at, byte in told.items() if is_defined(at)}
    silent = next((i for i in range(region["len"]) if i not in told and is_defined(i)), None)
    for at in sorted({min(told), max(told)} if told else ()) + ([silent] if silent is not None else []):
        pattern = (31 * region["init_seed"] + 7 * at + 13 * (at >> 8)) & 0xff
        byte = told.get(at, pattern) ^ 0x10
        yield at, final["changed"] + [[at, f"{byte:02x}"]]


def changed_connections(events, end, report, answers):
    """(what, events) for each attribute of a queue pair that the recording shows to be what it is. `answers`: the Acknowledge
    packets that this end sent, as (peer QPN, syndrome)."""
    failed = {(e["qpn"], e["status"]) for e in events if e["ev"] == "wc" and e["side"] == end}
    transport_timers = report["timers_fired"] - report["rnr_timers_fired"]
    received = {e["qpn"] for e in events if e["ev"] == "wc" and e["side"] == end and e["queue"] == "recv"}
    for i, e in enumerate(events):
        if e["ev"] == "ud_ready" and e["side"] == end and e["qpn"] in received:
            qkey = int(str(e["qkey"]), 0) ^ 1
            yield f"event {i + 1}: qkey {qkey:#x}", events[:i] + [{**e, "qkey": qkey}] + events[i + 1:]
        if e["ev"] != "connect" or e["side"] != end:
            continue
        values = {}
        if transport_timers and not report["rnr_timers_fired"]:
            values["timeout"] = [e["timeout"] - 3, e["timeout"] + 1]
        if (e["qpn"], "RETRY_EXC_ERR") in failed:
            values["retry_cnt"] = [e["retry_cnt"] - 1]
        if (e["qpn"], "RNR_RETRY_EXC_ERR") in failed:
            values["rnr_retry"] = [e["rnr_retry"] - 1]
        if any(qpn == e["dest_qpn"] and syndrome >> 5 == 1 for qpn, syndrome in answers):
            values["min_rnr_timer"] = [e["min_rnr_timer"] ^ 1]
        if any(qpn == e["dest_qpn"] for qpn, _ in answers):
            values["rq_psn"] = [(e["rq_psn"] + step) % (1 << 24) for step in (1, -1)]
        for name, changed in values.items():
            for value in changed:
                yield f"event {i + 1}: {name} {value}", events[:i] + [{**e, name: value}] + events[i + 1:]


def changed_hosts(events, end):
    """Lists of (what, events), one for each kind of event, with one change to what the host of an end saw."""
    regions = {e["name"]: e for e in events if e["ev"] == "mr" and e["side"] == end}

    def with_event(i, **values):
        return events[:i] + [{**events[i], **values}] + events[i + 1:]
    is_datagram = any(e["ev"] == "ud_ready" for e in events)
    completions, memory, states, undefined = [], [], [], undefined_bytes(events, end)
    for i, e in enumerate(events):
        if e.get("side") != end:
            continue
        where = f"event {i + 1}: {e['ev']}"
        if e["ev"] == "wc":
            completions += [(f"{where} {name}", with_event(i, **{"imm": e.get("imm", 0), name: value}))
                            for name, value in changed_completion(e, is_datagram)]
        if e["ev"] == "mem_final":
            memory += [(f"{where} byte {at}", with_event(i, changed=changed)) for at, changed in changed_memory(e, regions, undefined)]
        if e["ev"] == "qp_state":
            states.append((f"{where} state", with_event(i, state="SQD")))
            states += [(f"{where} {name}", with_event(i, **{name: (e[name] + 1) % (1 << 24)})) for name in ("sq_psn", "rq_psn")]
    event = {"t_us": events[-1]["t_us"], "ev": "async", "side": end, "event": "CQ_ERR"}
    return [completions, memory, states, [("an asynchronous event more", events + [event])]]


def numbered(frames, moved):
    """Frames of the JSON with their numbers; `moved` tells where an index of before is now."""
    return [{**frame, "n": n + 1, **({"of": moved(frame["of"])} if "of" in frame else {})} for n, frame in enumerate(frames)]


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

    def write(self, path, records, changes):
        with path.open("wb") as file:
            file.write(self.head)
            for stamp, frame in records:
                file.write(stamp + struct.pack("<II", len(frame), len(frame)) + frame)
        path.with_suffix(".json").write_text(json.dumps({**self.text, **changes}), encoding="utf-8")

    def is_learned(self):
        return not self.text["events"]

    def has_device(self, end):
        return self.is_learned() or any(e["ev"] == "qp" and e["side"] == end for e in self.text["events"])

    def answers(self, frames):
        """(destination QP, syndrome) of the Acknowledge packets among them."""
        for i in frames:
            frame = self.records[i][1]
            at = {header: at for header, at in headers_of(frame)[0]}
            if frame[at[BTH]] == ACKNOWLEDGE:
                yield int.from_bytes(frame[at[BTH] + 5:at[BTH] + 8], "big"), frame[at[AETH]]

    def told(self, n):
        """(destination QP, PSN, whether it is a positive ACK) of a frame with an AETH."""
        frame = self.records[n][1]
        at = {header: at for header, at in headers_of(frame)[0]}
        if AETH not in at:
            return None, None, None
        psn = int.from_bytes(frame[at[BTH] + 9:at[BTH] + 12], "big")
        return frame[at[BTH] + 5:at[BTH] + 8], psn, frame[at[BTH]] == ACKNOWLEDGE and not frame[at[AETH]] & 0x60

    def is_legal_ack(self, i, what):
        """True if this change of a positive ACK makes another legal one: of a packet before, or the last ACK again with credits."""
        if not self.told(i)[2]:
            return False
        again = any(self.told(n) == self.told(i) for n in range(i))
        return what == "BTH.PSN bit 23" and self.told(i)[1] % 2 == 1 or what.startswith("AETH.Syndrome") and again

    def may_be_merged(self, i, later):
        """True for an ACK that a later answer of its queue pair acknowledges as well (G4.2)."""
        told = self.told
        to, psn, is_ack = told(i)
        return bool(is_ack) and any(other == to and 0 < (newer - psn) % (1 << 24) < 1 << 23
                                    for other, newer, _ in map(told, later) if newer is not None)

    def ascend_if_swapped(self, i, j):
        """True for an answer and a later ACK of an older PSN: that ACK is legal before the answer as well (G4.1)."""
        (to, psn, _), (other, older, is_ack) = self.told(i), self.told(j)
        return bool(is_ack) and psn is not None and to == other and 0 < (psn - older) % (1 << 24) < 1 << 23

    def host_mutants(self, end, every, seed, report):
        """As mutants() for what the host saw and asked for: every so many of each kind, and one at least."""
        answers = list(self.answers([n - 1 for n in report["frames_matched"]]))
        kinds = [] if self.is_learned() else changed_hosts(self.text["events"], end)
        if kinds:
            kinds.append(list(changed_connections(self.text["events"], end, report, answers)))
        for kind in kinds:
            chosen = [m for n, m in enumerate(kind) if (n + seed) % every == 0] or kind[seed % len(kind):][:1] if kind else []
            for what, events in chosen:
                yield what, self.records, {"events": events}

    def mutants(self, matched, recorded_only, orders_open):
        """(what, records, changes of the text), each with one change to what an end must send. `matched`: the frames that ours are
        compared with; `recorded_only`: those that need not come, but not in another shape or more often."""
        frames = self.text["frames"]
        for i in sorted(matched + recorded_only):
            stamp, frame = self.records[i]
            for what, changed in changed_frames(frame, self.is_learned()):
                if self.is_legal_ack(i, what):
                    continue
                records = list(self.records)
                records[i] = (stamp, changed)
                yield f"frame {i + 1}: {what}", records, {}
            if self.is_learned() and (is_request(frame) or opcode_of(frame) == ACKNOWLEDGE):
                continue  # sent again, doubled on the way, or an ACK repeated for its credits
            yield (f"frame {i + 1}: doubled", self.records[:i + 1] + self.records[i:],
                   {"frames": numbered(frames[:i + 1] + frames[i:], lambda of: of + (of > i))})
        for place, i in enumerate(matched):
            # Without set-up and answers, datagrams without the first or last one are as good, and so is any conversation
            # whose recording ends before the last answer.
            at_end = place in (0, len(matched) - 1)
            opcode = opcode_of(self.records[i][1])
            last_answer = not is_request(self.records[i][1]) and all(is_request(self.records[n][1]) for n in matched[place + 1:])
            learned_end = self.is_learned() and ((at_end and opcode in DATAGRAMS) or last_answer)
            if not learned_end and not self.may_be_merged(i, matched[place + 1:]):
                yield (f"frame {i + 1}: left out", self.records[:i] + self.records[i + 1:],
                       {"frames": numbered(frames[:i] + frames[i + 1:], lambda of: max(of - (of >= i), 0))})
            if place + 1 < len(matched):
                j = matched[place + 1]
                first, second = self.records[i][1], self.records[j][1]
                # The order of a post and of what the other end sent may be open; either explains the recording.
                free = (orders_open or self.is_learned()) and is_request(first) != is_request(second)
                if free or same_but_for_covered(first, second) or self.ascend_if_swapped(i, j):
                    continue
                records = list(self.records)
                records[i], records[j] = (self.records[i][0], second), (self.records[j][0], first)
                yield f"frame {i + 1}: swapped with {j + 1}", records, {}


def replay(hca, runner, end, files, folder):
    """The reports in the order of the files; None for one that is refused as a whole."""
    out = folder / "reports.json"
    run = subprocess.run([hca, "replay", "--runner", runner, "--end", end, "--json", out, *files],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode in (0, 1):
        told = json.loads(out.read_text(encoding="utf-8"))
        reports, judged = told["reports"], told["judged"]
        if len(reports) == len(files):
            for report, packets in zip(reports, judged):  # without set-up the packets are judged by themselves as well
                report["same"] = report["same"] and packets["legal"]
            return reports
        if len(files) == 1:
            return [None]  # what its packets do not tell
    if len(files) == 1:
        return [None]
    half = len(files) // 2
    return replay(hca, runner, end, files[:half], folder) + replay(hca, runner, end, files[half:], folder)


def check(hca, path, runner, end, every, folder):
    """True if the capture passes as it is and no mutant does."""
    capture = Capture(path)
    if not capture.has_device(end):
        return True
    reports = replay(hca, runner, end, [path], folder)
    if not reports:
        return True  # it waits for what the model does not have
    if reports[0] is None or not reports[0]["same"]:
        print(f"{path.stem} end {end} {runner}: does not replay even as it is")
        return False
    matched, recorded_only = ([n - 1 for n in reports[0][f"frames_{name}"]] for name in ("matched", "recorded_only"))
    mutants = list(capture.mutants(matched, recorded_only, reports[0]["open_orders"] > 0))
    seed = zlib.crc32(path.stem.encode())
    mutants = [m for n, m in enumerate(mutants) if (n + seed) % every == 0]
    if "parted" not in reports[0]:  # else the host's last words are not compared
        mutants += capture.host_mutants(end, every, seed, reports[0])
    slipped, refused = [], []
    for first in range(0, len(mutants), BATCH):
        batch = mutants[first:first + BATCH]
        files = [folder / f"{n}.pcap" for n in range(len(batch))]
        for file, (_, records, changes) in zip(files, batch):
            capture.write(file, records, changes)
        for report, (what, _, _) in zip(replay(hca, runner, end, files, folder), batch, strict=True):
            # What cannot be read proves nothing; without set-up the text is learned from the frames.
            if not report and not capture.is_learned():
                refused.append(f"  {what}: refused")
            # Without set-up a frame may stand for a message that began before the capture: then the report says so.
            if report and report["same"] and report["frames_left_out"] == reports[0]["frames_left_out"]:
                slipped.append(f"  {what}")
    wrong = slipped + refused
    print(f"{path.stem:<26} end {end} {runner:<10} caught {len(mutants) - len(wrong)} / {len(mutants)}")
    print("\n".join(wrong[:20]), end="\n" if wrong else "", flush=True)
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try only every Nth change")
    parser.add_argument("--runner", action="append", help="only this runner; may be repeated")
    parser.add_argument("hca")
    parser.add_argument("captures", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [check(arguments.hca, path, runner, end, arguments.every, pathlib.Path(folder))
                   for path in arguments.captures for end in "AB"
                   for runner in arguments.runner or ("functional", "cycle")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
