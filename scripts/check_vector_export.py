#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_vector_export.py HCA VECTORS: `hca vectors export` of all vectors, twice: the same bytes. The frames in the JSON, the
$readmemh files and the pcapng file of a vector are the same, in the same order and with the same directions; tshark reads the
pcapng files; frames that a vector spells out are among them; what sends and receives nothing is listed."""
import csv
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

BEAT = 64
EACH = 60  # of the pcapng files one in so many is given to tshark
DIRECTIONS = {"in": "0x00000001", "out": "0x00000002"}


def digest_of(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}


def frames_of(exported):
    return [(f["direction"], f["port"], f["hex"]) for step in exported["steps"] for f in step["frames"]]


def read_memory(folder, name):
    """The frames of the $readmemh files, as a test bench would cut them."""
    beats = (folder / f"{name}.beats.hex").read_text().split()
    assert all(len(b) == 2 * BEAT for b in beats)
    frames, used = [], 0
    for line in (folder / f"{name}.packets.hex").read_text().split():
        word = int(line.replace("_", ""), 16)
        sent, port, first, size = word >> 52 & 15, word >> 48 & 15, word >> 16 & 0xffffffff, word & 0xffff
        count = -(-size // BEAT)
        text = "".join(beats[first:first + count])
        assert first == used and set(text[2 * size:]) <= {"0"}
        frames.append(("out" if sent else "in", port, text[:2 * size]))
        used += count
    assert used == len(beats)
    return frames


def read_tshark(path):
    fields = ["frame.len", "frame.packet_flags_direction", "frame.interface_name", "frame.time_epoch"]
    done = subprocess.run(["tshark", "-r", path, "-T", "fields", *[w for f in fields for w in ("-e", f)]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def spelled_out(step):
    for packet in step["do"] if isinstance(step["do"], list) else [step["do"]]:
        if step["verb"] in ("inject", "sent") and isinstance(packet, dict) and "hex" in packet and not packet.get("may"):
            yield packet["hex"].lower()


def main():
    hca, vectors = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong = []

    def check(good, what):
        if not good:
            wrong.append(what)

    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for folder in ("a", "b"):
            done = subprocess.run([hca, "vectors", "export", root / folder, vectors], capture_output=True, text=True)
            check(done.returncode == 0, f"exit {done.returncode}: {done.stderr[-500:]}")
        check(digest_of(root / "a") == digest_of(root / "b"), "two exports differ")
        rows = list(csv.DictReader((root / "a/index.csv").read_text().splitlines()))
        silent = sorted(r["vector"] for r in rows if r["note"])
        check(silent == sorted(l.split(": ")[1] for l in done.stdout.splitlines() if l.startswith("sends and")), "silent vectors")
        check(f"{len(rows)} vectors in {root / 'b'}, {len(silent)} of them without frames" in done.stdout, done.stdout[-200:])
        count = sum(p.parent.name != "captures" for p in vectors.glob("*/*.json"))
        check(count - 60 < len(rows) <= count, f"{len(rows)} of {count} vectors")
        tried = 0
        for number, row in enumerate(rows):
            exported = json.loads((root / "a" / f"{row['vector']}.json").read_text())
            frames = frames_of(exported)
            sent = sum(f[0] == "out" for f in frames)
            check((int(row["in"]), int(row["out"])) == (len(frames) - sent, sent), f"{row['vector']}: counts")
            check(int(row["bytes"]) == sum(len(f[2]) // 2 for f in frames), f"{row['vector']}: bytes")
            check(bool(row["note"]) == (not frames), f"{row['vector']}: note")
            pcap = root / "a" / f"{row['vector']}.pcapng"
            check(pcap.exists() == bool(frames), f"{row['vector']}: pcapng")
            if not frames:
                continue
            check(read_memory(root / "a", row["vector"]) == frames, f"{row['vector']}: $readmemh")
            all_hex = {f[2] for f in frames}
            for step in exported["steps"]:
                check(all(h in all_hex for h in spelled_out(step)), f"{row['vector']}: step {step['step']}: a frame is missing")
            if number % EACH == 0 and shutil.which("tshark"):
                tried += 1
                seen = read_tshark(pcap)
                erf = row["link"] == "InfiniBand"
                check([s[1] for s in seen] == [DIRECTIONS[f[0]] for f in frames], f"{row['vector']}: directions in tshark")
                check([s[2] for s in seen] == [f"port{f[1]}" for f in frames], f"{row['vector']}: interfaces in tshark")
                check(erf or [int(s[0]) for s in seen] == [len(f[2]) // 2 for f in frames], f"{row['vector']}: lengths in tshark")
        for bad in ("0", "3", "256"):
            done = subprocess.run([hca, "vectors", "export", root / "c", vectors / "psn", "--beat-bytes", bad], capture_output=True, text=True)
            check(done.returncode == 2 and "allowed: a power of two, 1 .. 128" in done.stderr, f"--beat-bytes {bad}: {done.stderr}")
    for what in wrong[:20]:
        print(what)
    print(f"{len(rows)} vectors, {len(silent)} without frames, {tried} read by tshark, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
