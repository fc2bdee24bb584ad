#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The layers of the model, as a check.

  check_layers.py includes ROOT    no #include of a layer further right, nor of a library that the layer may not know; each running
                                   state of a device is changed by its owner among the blocks
  check_layers.py symbols FILE...  no archive or program refers to a symbol of SystemC or links libsystemc
"""
import pathlib
import re
import subprocess
import sys

# Left to right; a folder may include itself and what stands left of it. Beside model/systemc/ stand model/functional and rtl.
PROTO, DEVICE, ENGINE, BLOCKS, FUNCTIONAL, HCA, RTL, TLM, TESTBENCH = (
    "model/proto", "model/device", "model/engine", "model/blocks", "model/functional", "model/systemc", "rtl", "tlm", "testbench")
LOCKSTEP = "testbench/lockstep"
TESTS = "testbench/tests"
MAY_INCLUDE = {
    PROTO: {PROTO},
    ENGINE: {PROTO, ENGINE},
    DEVICE: {PROTO, DEVICE},
    BLOCKS: {PROTO, ENGINE, DEVICE, BLOCKS},
    FUNCTIONAL: {PROTO, DEVICE, FUNCTIONAL},
    HCA: {PROTO, ENGINE, DEVICE, BLOCKS, HCA},
    RTL: {PROTO, ENGINE, DEVICE, BLOCKS, RTL},
    TLM: {PROTO, ENGINE, DEVICE, BLOCKS, HCA, TLM},
    LOCKSTEP: {PROTO, ENGINE, DEVICE, BLOCKS, RTL, LOCKSTEP},
    TESTBENCH: {PROTO, ENGINE, DEVICE, BLOCKS, FUNCTIONAL, HCA, RTL, TLM, LOCKSTEP, TESTBENCH},
    TESTS: {PROTO, ENGINE, DEVICE, BLOCKS, FUNCTIONAL, HCA, RTL, TLM, LOCKSTEP, TESTBENCH, TESTS,
            f"{TESTS}/proto", f"{TESTS}/device", f"{TESTS}/engine", f"{TESTS}/blocks"},
    f"{TESTS}/proto": {PROTO, f"{TESTS}/proto"},
    f"{TESTS}/device": {PROTO, DEVICE, f"{TESTS}/device"},
    f"{TESTS}/engine": {PROTO, ENGINE, f"{TESTS}/engine"},
    f"{TESTS}/blocks": {PROTO, ENGINE, DEVICE, BLOCKS, f"{TESTS}/blocks"},
}
WITHOUT_SYSTEMC = {PROTO, DEVICE, ENGINE, DEVICE, BLOCKS, FUNCTIONAL, RTL, LOCKSTEP}
# Headers of model/blocks whose class holds the Writer of a table (model/device/writers.h), and those that may change all tables.
OWNERS = {
    "SendStates": {"requester.h"},
    "SentMessages": {"requester.h"},
    "PostedSends": {"qp_scheduler.h"},
    "ReceiveStates": {"responder_check.h", "responder_execute.h"},  # execute: of what it ends: in Error, without answers, of an SRQ
    "SharedQueues": {"responder_check.h"},
    "CompletionRings": {"completion.h"},
    "EventRings": {"event.h"},
    "Vectors": {"event.h"},
    "Contexts": {"chip.h", "command.h"},
}
OWNED = re.compile(r"^\s+(?:const )?device::(" + "|".join(set(OWNERS) - {"Contexts"}) + r") \w+;|^\s+device::(Contexts)&? \w+;")
CRC_FILE = "model/proto/wire/crc.cpp"
CRC_HEADER = re.compile(r"^isa-l|^immintrin\.h$")  # ISA-L, and the processor's carry-less product
VERILATED_HEADER = re.compile(r"^V[a-z0-9_]+\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STANDARD_HEADER = re.compile(r"^[a-z0-9_]+$")  # <array>, <cstddef>: no dot, no slash
SYSTEMC_HEADER = re.compile(r"^(systemc|tlm)(\.h)?$|^(tlm_|sysc/)")


def layer_of(path):
    """The longest folder of the table that `path` (from the root) lies in; None outside all of them."""
    parents = [str(p) for p in pathlib.PurePosixPath(path).parents]
    return next((folder for folder in parents if folder in MAY_INCLUDE), None)


def breach_of_include(path, kind, header):
    """What is wrong with `path` including `header`, or None."""
    layer = layer_of(path)
    target = layer_of(header)
    if target is not None:
        if target not in MAY_INCLUDE[layer]:
            return f"{layer} may not include {target}: {header}"
        return None
    if kind == '"' and not (layer == RTL and VERILATED_HEADER.match(header)):
        return f"not a path from the project root: {header}"
    if layer in WITHOUT_SYSTEMC and SYSTEMC_HEADER.search(header):
        return f"{layer} does not know SystemC: <{header}>"
    if layer == PROTO and (not STANDARD_HEADER.match(header)) and not (
            path == CRC_FILE and CRC_HEADER.match(header)):
        return f"{layer} includes only the standard library (a CRC in {CRC_FILE}): <{header}>"
    return None


def check_owners(root):
    found = {name: set() for name in OWNERS}
    for path in sorted((root / BLOCKS).rglob("*.h")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if owned := OWNED.match(line):
                found[owned[1] or owned[2]].add(path.name)
    wrong = [name for name in OWNERS if found[name] != OWNERS[name]]
    for name in wrong:
        print(f"{BLOCKS}: {name} is held by {', '.join(sorted(found[name])) or 'nobody'}, not by {', '.join(sorted(OWNERS[name]))}")
    return len(wrong)


def check_includes(root):
    count, bad = 0, 0
    for path in sorted(p for top in ("model", "rtl", "tlm", "testbench") for p in (root / top).rglob("*")):
        if path.suffix not in {".h", ".cpp"} or "install" in path.parts:
            continue
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not (found := INCLUDE.match(line)):
                continue
            count += 1
            if what := breach_of_include(name, *found.groups()):
                bad += 1
                print(f"{name}:{number}: {what}")
    bad += check_owners(root)
    print(f"{count} includes, {bad} breaches")
    return 1 if bad or not count else 0


def systemc_parts(symbols, needed):
    """Symbols and libraries of SystemC among those of one file."""
    return [s for s in symbols if re.search(r"sc_(core|dt)\b|\btlm(_utils)?::|\bsc_main\b", s)] + [
        n for n in needed if "systemc" in n]


def check_symbols(names):
    bad = 0
    for name in names:
        listing = subprocess.run(["nm", "-C", name], check=True, capture_output=True, text=True).stdout
        symbols = listing.splitlines()
        needed = []
        if not name.endswith(".a"):
            dynamic = subprocess.run(["readelf", "-d", name], check=True, capture_output=True, text=True).stdout
            needed = [line for line in dynamic.splitlines() if "NEEDED" in line]
        found = systemc_parts(symbols, needed)
        for what in found[:5]:
            print(f"{name}: {what.strip()}")
        print(f"{pathlib.Path(name).name}: {len(symbols)} symbols, {len(found)} of SystemC")
        bad += len(found) + (not symbols)
    return 1 if bad or not names else 0


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("includes", "symbols"):
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "includes":
        return check_includes(pathlib.Path(sys.argv[2]).resolve())
    return check_symbols(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
