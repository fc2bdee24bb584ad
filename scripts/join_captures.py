#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Joins captures of one connection each to one recording of several queue pairs that work at the same time.

Each further capture gets queue pair numbers, keys, region names and addresses of its own (1 MiB on), and is moved in
time, both clocks alike, so that all begin within `--spread`; ICRCs are made good. Events keep their order in time. The captures must
come from the same two devices.
"""
import argparse
import json
import pathlib
import struct
import sys
from random import Random

from check_replay_sharp import Capture
from roce_frames import ATOMIC, BTH, IETH, RETH, headers_of, make_good

ADDRESS_STEP, KEY_STEP, QPN_STEP = 1 << 20, 1 << 20, 0x100
ADDRESSES = ("addr", "remote_addr", "bind_addr")
KEYS = ("lkey", "rkey", "invalidate_rkey", "mw_rkey_new", "mw_rkey_old", "mr_lkey")
QPNS = ("qpn", "dest_qpn", "src_qp")
NANOSECONDS = 10**9


def number(value):
    return int(str(value), 0)


def moved_event(event, place, shift_us):
    event = {**event, "t_us": event["t_us"] + shift_us}
    for names, step in ((ADDRESSES, ADDRESS_STEP), (KEYS, KEY_STEP), (QPNS, QPN_STEP)):
        event.update({name: number(event[name]) + place * step for name in names if number(event.get(name, 0))})
    if "sge" in event:
        event["sge"] = [[number(at) + place * ADDRESS_STEP, length, number(key) + place * KEY_STEP]
                        for at, length, key in event["sge"]]
    event.pop("qpn_hex", None)
    for name in ("name", "mr"):
        if name in event:
            event[name] = f"{event[name]}{place}"
    return event


def moved_frame(frame, place):
    """The frame of another queue pair. One whose ICRC is wrong keeps a wrong one."""
    was_good = make_good(frame) == frame
    frame = bytearray(frame)

    def add(at, size, step):
        value = int.from_bytes(frame[at:at + size], "big") + place * step
        frame[at:at + size] = value.to_bytes(size, "big")
    for header, at in headers_of(frame)[0]:
        if header == BTH:
            add(at + 5, 3, QPN_STEP)
        if header in (RETH, ATOMIC):
            add(at, 8, ADDRESS_STEP)
            add(at + 8, 4, KEY_STEP)
        if header == IETH:
            add(at, 4, KEY_STEP)
    good = make_good(frame)
    return good if was_good else good[:-1] + bytes([good[-1] ^ 0x10])


def join(captures, later):
    """Text and records of the joined recording; the captures begin so many us `later` than the first begins."""
    begins = [c.text["events"][0]["t_us"] for c in captures]
    events, frames = [], []
    for place, capture in enumerate(captures):
        shift_us = begins[0] - begins[place] + later[place]
        events += [moved_event(e, place, shift_us) for e in capture.text["events"]]
        first = len(frames)
        for (stamp, frame), told in zip(capture.records, capture.text["frames"], strict=True):
            seconds, fraction = struct.unpack("<II", stamp)
            time = seconds * NANOSECONDS + fraction + shift_us * 1000
            if "of" in told:
                told = {**told, "of": first + told["of"]}
            frames.append((time, len(frames), moved_frame(frame, place), told))
    events.sort(key=lambda e: e["t_us"])
    frames.sort(key=lambda f: f[:2])
    place_of = {old: new for new, (_, old, _, _) in enumerate(frames)}
    told = [{**t, "n": n + 1, **({"of": place_of[t["of"]]} if "of" in t else {})} for n, (_, _, _, t) in enumerate(frames)]
    records = [(struct.pack("<II", *divmod(time, NANOSECONDS)), frame) for time, _, frame, _ in frames]
    return {"events": events, "frames": told}, records


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, help="the pcap; its JSON is written beside it")
    parser.add_argument("captures", nargs="+", type=pathlib.Path)
    parser.add_argument("--spread", type=int, default=0, metavar="US", help="begin at random within so many us")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    captures = [Capture(path) for path in arguments.captures]
    random = Random(arguments.seed)
    text, records = join(captures, [random.randint(0, arguments.spread) for _ in captures])
    text["case"] = arguments.out.stem
    captures[0].write(arguments.out, records, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
