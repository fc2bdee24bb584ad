#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_vector_format.py HCA VECTORS [--every N] [--seed TEXT]: vectors that are not as their format says. `hca replay` must
refuse each with file and place and exit code 2, and the JSON Schema too where one can:

  - each of a list of faults, put into a good vector
  - one in N of all faults that real vectors with a key left out, renamed, or of another type have: what the schema
    refuses must be refused by hca, and nothing must make hca crash or tell no place
"""
import argparse
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

import jsonschema

SETUP = {"framing": "IB local", "regions": {"m": {}, "n": {"bytes": 64}}, "srqs": {"s": {}}, "cqs": {"c": {}},
         "qps": {"a": {}, "b": {"service": "UD"}}, "loop": ["a", "b"]}
GOOD = {"vector": "hca-vector-1", "for": ["C9-57"], "says": "It is a sentence.", "setup": SETUP,
        "steps": [{"silence": "1 us"}], "because": "It has 1 + 1 reasons."}

# (changes of the top, place in what hca says, whether the schema refuses it as well)
TOP = [
    ({"says": "            "}, "says", True), ({"because": " \t "}, "because", True), ({"because": "short"}, "because", True),
    ({"for": ["C9-57", 7]}, "for[1]", True), ({"for": []}, "for", True), ({"for": ["C9 57"]}, "for[0]", True),
    ({"steps": []}, "steps", True), ({"steps": [{"advance": "1 us"}]}, "steps: expects nothing", False),
    ({"vector": "hca-vector-2"}, "vector", True), ({"colour": 1}, "colour", True),
]
SETUPS = [
    ({"loop": ["a", "x"]}, "setup.loop[1]", False), ({"loop": ["a", "b", "a"]}, "setup.loop", True),
    ({"loop": ["a", "a"]}, "setup.loop", True), ({"loop": []}, "setup.loop", True), ({"loop": "a"}, "setup.loop", True),
    ({"qps": {}}, "setup.qps", True), ({"regions": {}}, "setup.regions", True), ({"pds": ["p", "p"]}, "setup.pds[1]", True),
    ({"regions": {"m": {"pd": "x"}}}, "setup.regions.m.pd", False), ({"regions": {"m": {"bytes": 0}}}, "setup.regions.m.bytes", False),
    ({"regions": {"m": {"register": 0}}}, "setup.regions.m.register", True),
    ({"regions": {"m": {"register": False, "access": 1}}}, "setup.regions.m.access", True),
    ({"regions": {"m.x": {}}}, "setup.regions.m.x", True), ({"regions": {"m": {"size": 1}}}, "setup.regions.m.size", True),
    ({"qps": {"a": {"Mask": 1}, "b": {}}}, "setup.qps.a.Mask", True), ({"qps": {"a": {"status": 1}, "b": {}}}, "setup.qps.a.status", True),
    *[({"qps": {"a": {key: 1}, "b": {}}}, f"setup.qps.a.{key}", True) for key in
      ["MSN", "SSN", "LimitSSN", "Credit", "SentPSN", "UnackedPSN", "RetriesLeft", "RnrRetriesLeft", "SqPosted", "SqCompleted", "RqPosted",
       "RqConsumed", "SqDraining", "WaitsRnr", "NakSent", "ReadsOutstanding", "ReadsAccepted", "SqdNotify", "CurState", "colour"]],
    ({"qps": {"a": {}, "b": {"service": "UD", "RetryCount": 1}}}, "setup.qps.b.RetryCount", False),
    ({"qps": {"a": {"State": "RTR", "SqPSN": 1}, "b": {}}}, "setup.qps.a.SqPSN", False),
    ({"qps": {"a": {"srq": "s", "max_recv_wr": 4}, "b": {}}}, "setup.qps.a.max_recv_wr", True),
    ({"qps": {"a": {"state": {}}, "b": {}}}, "setup.qps.a.state", True), ({"qps": {"a": {"state": {"State": 1}}, "b": {}}}, "setup.qps.a.state.State", True),
    ({"qps": {"a": {"state": {"MSN": "0x1000000"}}, "b": {}}}, "setup.qps.a.state.MSN", False),
    ({"qps": {"a": {"state": {"MSN": True}}, "b": {}}}, "setup.qps.a.state.MSN", True),
    ({"qps": {"a": {"RetryCount": 3, "state": {"RetriesLeft": 4}}, "b": {}}}, "setup.qps.a.state.RetriesLeft", False),
    ({"qps": {"a": {"state": {"LimitSSN": 4}}, "b": {}}}, "setup.qps.a.state.LimitSSN", True),
    ({"qps": {"a": {"state": {"SentPSN": 4, "UnackedPSN": 3}}, "b": {}}}, "setup.qps.a.state.UnackedPSN", False),
    ({"qps": {"a": {"State": "RTR", "state": {"SSN": 4}}, "b": {}}}, "setup.qps.a.state.SSN", False),
    ({"qps": {"a": {}, "b": {"service": "UD", "state": {"MSN": 4}}}}, "setup.qps.b.state.MSN", False),
    ({"qps": {"a": {"P_KeyIndex": 16}, "b": {}}}, "setup.qps.a.P_KeyIndex", False),
    ({"qps": {"a": {"RqPSN": True}, "b": {}}}, "setup.qps.a.RqPSN", True),
    ({"qps": {"a": {"RqPSN": "0x1000000"}, "b": {}}}, "setup.qps.a.RqPSN", False),
    ({"qps": {"a": {"send_cq": "x"}, "b": {}}}, "setup.qps.a.send_cq", False),
    ({"qps": {"a": {"service": "DC"}, "b": {}}}, "setup.qps.a.service", True),
    ({"qps": {"a": {"signal_all": 1}, "b": {}}}, "setup.qps.a.signal_all", True),
    ({"cqs": {"c": {"entries": 5}}}, "setup.cqs.c.entries", False), ({"cqs": {"c": {"events": "yes"}}}, "setup.cqs.c.events", True),
    ({"srqs": {"s": {"port": 0}}}, "setup.srqs.s.port", True), ({"srqs": {"s": {"port": 2}}}, "setup.srqs.s.port", False),
    ({"framing": "IB"}, "setup.framing", True), ({"vlan": 4096}, "setup.vlan", False), ({"pkeys": []}, "setup.pkeys", True),
    ({"options": {"colour": 1}}, "setup.options.colour", False), ({"ports": 3}, "setup.ports", True), ({"ports": True}, "setup.ports", True),
]
# Steps; each comes after one that fails while it runs: names of later steps are judged all the same.
STEPS = [
    ({"sent": {}}, ".sent.opcode", True), ({"sent": []}, ".sent", True), ({"sent": {"qp": "a", "opcode": "SEND Many"}}, ".sent.opcode", False),
    ({"sent": {"qp": "a", "opcode": "Acknowledge", "MSN": False}}, ".sent.MSN", True),
    ({"sent": {"qp": "a", "opcode": "Acknowledge", "MSN": "0x1000000"}}, ".sent.MSN", False),
    ({"sent": {"qp": "a", "opcode": "Acknowledge", "NSM": 1}}, ".sent.NSM", False),
    ({"sent": {"qp": "a", "opcode": "Acknowledge", "BTH": {}}}, ".sent.BTH", True),
    ({"sent": {"qp": "a", "opcode": "Acknowledge", "may": False}}, ".sent.may", True),
    ({"sent": {"qp": "a", "opcode": "Acknowledge", "hex": "00"}}, ".sent.opcode", True),
    ({"sent": {"qp": "a", "opcode": "Acknowledge", "ICRC": "bad"}}, ".sent.ICRC", True),
    ({"sent": {"qp": "x", "opcode": "Acknowledge"}}, ".sent.qp", False), ({"sent": {"opcode": "Acknowledge"}}, ".sent.qp", False),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "hex": "00"}}, ".inject.opcode", True),
    ({"inject": {"qp": "a", "hex": ""}}, ".inject.hex", True), ({"inject": {"qp": "a", "hex": "0"}}, ".inject.hex", True),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "may": True}}, ".inject.may", True),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "port": 2}}, ".inject.port", False),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "cut": 0}}, ".inject.cut", True),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "cut": 9999}}, ".inject.cut", False),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "edit": []}}, ".inject.edit", True),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "edit": [{"at": 9999, "hex": "00"}]}}, ".inject.edit[0]", False),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "payload": {"of": "m", "at": 4096, "bytes": 1}}}, ".inject.payload", False),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "payload": {"of": "m", "seed": 1, "bytes": 1}}}, ".inject.payload.seed", True),
    ({"inject": {"qp": "a", "opcode": "RDMA WRITE Only", "VA": "m - 0x2000000"}}, ".inject.VA", False),
    ({"inject": {"qp": "a", "opcode": "RDMA WRITE Only", "VA": "x + 1"}}, ".inject.VA", False),
    ({"inject": {"qp": "a", "opcode": "SEND Only", "payload": {"bytes": 8001}}}, ".inject.payload", False),
    ({"inject": {"qp": "a", "opcode": "RDMA WRITE Only", "VA": 1.5}}, ".inject.VA", True),
    ({"inject": {"qp": "a", "opcode": "RDMA WRITE Only", "VA": "0400"}}, ".inject.VA", False),
    ({"post_send": {"qp": "a", "op": "SEND", "sge": [["m", 0, 1]], "inline": "00"}}, ".post_send.inline", True),
    ({"post_send": {"qp": "a", "op": "SEND", "sge": [["m", 0, 1, 2]]}}, ".post_send.sge[0]", True),
    ({"post_send": {"qp": "a", "op": "SEND", "sge": [["x", 0, 1]]}}, ".post_send.sge[0][0]", False),
    ({"post_send": {"qp": "a", "op": "SEND", "imm": 1}}, ".post_send.imm", False),
    ({"post_send": {"qp": "a", "op": "SEND", "unsignaled": False}}, ".post_send.unsignaled", True),
    ({"post_send": {"qp": "a", "op": "SEND", "flags": ["fence", "fence"]}}, ".post_send.flags[1]", True),
    ({"post_send": {"qp": "a", "op": "SEND", "ah": {"SL": 1}}}, ".post_send.ah", False),
    ({"post_send": {"qp": "b", "op": "SEND", "ah": {"colour": 1}}}, ".post_send.ah.colour", False),
    ({"post_send": {"qp": "a", "op": "SEND", "rkey": "0x100000000"}}, ".post_send.rkey", False),
    ({"post_send": {"qp": "a", "list": []}}, ".post_send.list", True), ({"post_send": {"qp": "a", "op": "SEND", "bad": 0}}, ".post_send.bad", True),
    ({"post_send": {"qp": "a", "list": [{"op": "SEND", "push": True}]}}, ".post_send.list[0].push", True),
    ({"post_recv": {"qp": "a", "srq": "s"}}, ".post_recv.qp", True), ({"post_recv": {"qp": "a", "wr_id": -1}}, ".post_recv.wr_id", True),
    ({"post_recv": {"qp": "a", "error": "EIO"}}, ".post_recv.error", True), ({"post_raw": {"srq": "s", "queue": "send"}}, ".post_raw.queue", True),
    ({"post_raw": {"qp": "a", "fields": {}}}, ".post_raw.fields", True), ({"post_raw": {"qp": "a", "fields": {"colour": 1}}}, ".post_raw.fields.colour", False),
    ({"resize_srq": {"srq": "x", "max_wr": 4}}, ".resize_srq.srq", False), ({"resize_cq": {"cq": "x", "entries": 4}}, ".resize_cq.cq", False),
    ({"resize_cq": {"cq": "cq"}}, ".resize_cq", True),
    ({"command": {"name": "MakeQp"}}, ".command.name", False), ({"command": {"name": "QueryQp", "answer": {}}}, ".command.answer", True),
    ({"command": {"name": "QueryQp", "answer": {"RqPSN": False}}}, ".command.answer.RqPSN", True),
    ({"command": {"name": "QueryQp", "status": "BadObject", "answer": {"RqPSN": 1}}}, ".command.", True),
    ({"command": {"name": "DestroyQp", "body": {"RqPSN": 1}}}, ".command.body", False),
    ({"command": {"name": "QueryQp", "object": "x"}}, ".command.object", False),
    ({"query": {}}, ".query", True), ({"query": {"qp": "a"}}, ".query: asks nothing", True), ({"query": {"qp": "a", "State": "Rts"}}, ".query.State", False),
    ({"query": {"name": "QueryPort", "object": 1}}, ".query: asks nothing", True), ({"query": {"name": "DestroyQp", "status": "Ok"}}, ".query.name", True),
    ({"dropped": {"Lost": 1}}, ".dropped.Lost", False), ({"dropped": {"PKey": True}}, ".dropped.PKey", True),
    ({"memory": {"region": "m", "bytes": 4, "undefined": False}}, ".memory.undefined", True),
    ({"memory": {"region": "m", "bytes": 0, "undefined": True}}, ".memory.bytes", True), ({"memory": {"region": "m", "is": ""}}, ".memory.is", True),
    ({"memory": {"region": "n", "at": 60, "is": "0000000000"}}, ".memory", False), ({"memory": {"region": "x", "is": "00"}}, ".memory.region", False),
    ({"memory": {"region": "m", "is": "00", "undefined": True}}, ".memory.is", True),
    ({"write_memory": {"region": "m", "at": "x", "is": "00"}}, ".write_memory.at", False),
    ({"unreadable": {"region": "n", "at": 64}}, ".unreadable.at", False), ({"unreadable": {"qp": "a"}}, ".unreadable.queue", True),
    ({"unreadable": {"region": "n", "srq": "s"}}, ".unreadable.region", True), ({"arm": {"cq": "x"}}, ".arm.cq", False),
    ({"arm": {"solicited": 1}}, ".arm.solicited", True), ({"ring": {"offset": 0, "hex": ""}}, ".ring.hex", True),
    ({"hold": 1}, ".hold", True), ({"release": []}, ".release", True), ({"release": [0, 0]}, ".release[1]", True), ({"drop": "some"}, ".drop", True),
    ({"silence": "0 ns"}, ".silence", True), ({"advance": "0 us"}, ".advance", True), ({"advance": "-1 us"}, ".advance", True),
    ({"advance": "1us"}, ".advance", True), ({"advance": 5}, ".advance", True), ({"advance": "1000000000 s"}, ".advance", True),
    ({"send_cqe": []}, ".send_cqe", True), ({"send_cqe": {"qp": "a", "colour": 1}}, ".send_cqe.colour", True),
    ({"send_cqe": {"qp": "a", "status": "OK"}}, ".send_cqe.status", False), ({"send_cqe": {"qp": "a", "cq": "x"}}, ".send_cqe.cq", False),
    ({"recv_cqe": {"qp": "a", "imm": 1, "invalidated": 1}}, ".recv_cqe.invalidated", True), ({"recv_cqe": {"qp": "a", "wr_id": True}}, ".recv_cqe.wr_id", True),
    ({"event": {"type": "QP_LOST"}}, ".event.type", False), ({"event": {"type": "CQ_ERR", "qp": "a"}}, ".event.qp", False),
    ({"event": {"type": "CQ_ERR"}}, ".event.cq", False), ({"event": {"type": "QP_FATAL", "qp": "a", "cq": "c"}}, ".event.cq", True),
    ({"cq_event": "x"}, ".cq_event", False), ({"cq_event": 1}, ".cq_event", True),
    ({"silence": "1 us", "note": 5}, ".note", True), ({"silence": "1 us", "note": " "}, ".note", True), ({"note": "It is a note."}, "", True),
    ({"silence": "1 us", "advance": "1 us"}, ".", True), ({"colour": 1}, "", True), ({}, "", True),
]
FAILS = {"send_cqe": {"qp": "a"}}  # nothing was posted


def listed():
    for change, place, by_schema in TOP:
        yield {**GOOD, **change}, place, by_schema
    for change, place, by_schema in SETUPS:
        yield {**GOOD, "setup": {**SETUP, **change}}, place, by_schema
    for step, place, by_schema in STEPS:
        yield {**GOOD, "steps": [{"silence": "1 us"}, FAILS, step]}, "steps[2]" + place, by_schema


OTHERS = [None, True, False, 0, -1, 1.5, 2**70, "", "  ", "zz-9", [], {}, [0], {"zz": 1}, "0 ns", "0xZ"]


def places(value, path=()):
    if path:
        yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], path + (key,))


def changed(vector, path, change):
    made = copy.deepcopy(vector)
    at = made
    for key in path[:-1]:
        at = at[key]
    if change == "without":
        del at[path[-1]]
    elif change == "renamed":
        if not isinstance(at, dict):
            return None
        at["zz_" + str(path[-1])] = at.pop(path[-1])
    elif change == "twice":
        if not isinstance(at, list):
            return None
        at.insert(path[-1], at[path[-1]])
    else:
        at[path[-1]] = change
    return made


def mutated(vectors, every, seed):
    for file in sorted(vectors.glob("*/*.json")):
        if file.parent.name == "captures":
            continue
        vector = json.loads(file.read_text())
        for path in places(vector):
            for change in ["without", "renamed", "twice", *OTHERS]:
                if zlib.crc32(f"{seed}{file.stem}{path}{change!r}".encode()) % every == 0:
                    made = changed(vector, path, change)
                    if made is not None and made != vector:
                        yield made, f"{file.stem} {'.'.join(map(str, path))} {change!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hca")
    parser.add_argument("vectors", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=2000)
    parser.add_argument("--seed", default="")
    parser.add_argument("--taken", action="store_true", help="print which changed vectors pass")
    options = parser.parse_args()
    schema = json.loads((options.vectors / "vector.schema.json").read_text())
    refuses = lambda v: not jsonschema.Draft7Validator(schema).is_valid(v)  # noqa: E731
    bad = 0

    def wrong(what):
        nonlocal bad
        bad += 1
        print(what)

    if refuses(GOOD):
        wrong("the schema refuses the good vector")
    cases = [(v, place, by_schema, place) for v, place, by_schema in listed()]
    cases += [(v, None, None, what) for v, what in mutated(options.vectors, options.every, options.seed)]
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "requirements.csv").write_text((options.vectors / "requirements.csv").read_text())
        (root / "c").mkdir()
        for i, (vector, *_) in enumerate(cases):
            (root / f"c/v{i:06}.json").write_text(json.dumps(vector))
        (root / "c/good.json").write_text(json.dumps(GOOD))
        report = root / "report.json"
        done = subprocess.run([options.hca, "replay", root / "c", "--json", report], capture_output=True, text=True)
        if done.returncode != 2:
            print(f"exit {done.returncode}: {done.stderr[-500:]}")
            return 1
        report = json.loads(report.read_text())
    errors = {pathlib.Path(e["path"]).stem: e["what"].split(": ", 1) for e in report["errors"]}
    ran = {pathlib.Path(v["path"]).stem: v for v in report["vectors"]}
    if not ran.get("good", {}).get("passed"):
        wrong(f"the good vector does not pass: {errors.get('good')}")
    taken = 0
    for i, (vector, place, by_schema, what) in enumerate(cases):
        stem = f"v{i:06}"
        file, said = errors.get(stem, ("", ""))
        by_schema_now = refuses(vector)
        if stem not in errors and stem not in ran:
            if "vector" in vector or "steps" in vector:
                wrong(f"{what}: neither refused nor run")
            continue
        if place is not None:
            if not said.startswith(place) or "; allowed: " not in said:
                wrong(f"{what}: {json.dumps(vector['steps'][-1])} {json.dumps(vector.get('setup'))}: hca says '{said}'")
            if by_schema_now != by_schema:
                wrong(f"{what}: {json.dumps(vector['steps'][-1])}: the schema {'refuses' if by_schema_now else 'takes'} it")
        elif said and not re.match(r"[A-Za-z_(][\w\[\].() +|/-]*: .*; allowed: ", said, re.S):
            wrong(f"{what}: no place, or nothing that is allowed: '{said}'")
        elif not said:
            taken += 1
            if by_schema_now:
                wrong(f"{what}: the schema refuses it, hca does not")
            for run in ran[stem]["runners"]:
                if "cannot be executed" in run.get("where", "") and "setup" not in run["what"]:
                    wrong(f"{what}: found only when it ran: {run['what']}")
            if options.taken and ran[stem]["passed"]:
                print("passes:", what)
    print(f"{len(cases)} faults, {taken} changed vectors are vectors still, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
