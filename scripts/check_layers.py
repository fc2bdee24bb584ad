#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The layers of the model, as a check.

  check_layers.py includes ROOT    no #include of a layer further right, nor of a library that the layer may not use; each running
                                   state of a device is changed by its owner among the blocks; no block includes another one or a
                                   part of one, except blocks that call each other; the boxes of README.md are blocks with knobs
  check_layers.py graph ROOT       which folders of testbench/ include which, and the cycles among them
  check_layers.py symbols FILE...  no archive or program refers to a symbol of SystemC or links libsystemc
"""
import pathlib
import re
import subprocess
import sys

# Left to right; a folder may include itself and every folder to its left. Beside model/systemc/ stand model/functional and rtl.
PROTO, DEVICE, ENGINE, BLOCKS, FUNCTIONAL, HCA, RTL, TLM, TESTBENCH = (
    "model/proto", "model/device", "model/engine", "model/blocks", "model/functional", "model/systemc", "rtl", "tlm", "testbench")
TOPS = ("model/", "rtl/", "tlm/", "testbench/")
MAY_INCLUDE = {
    PROTO: {PROTO},
    ENGINE: {PROTO, ENGINE},
    DEVICE: {PROTO, DEVICE},
    BLOCKS: {PROTO, ENGINE, DEVICE, BLOCKS},
    FUNCTIONAL: {PROTO, DEVICE, FUNCTIONAL},
    HCA: {PROTO, ENGINE, DEVICE, BLOCKS, HCA},
    RTL: {PROTO, ENGINE, DEVICE, BLOCKS, RTL},
    TLM: {PROTO, ENGINE, DEVICE, BLOCKS, HCA, TLM},
}
WITHOUT_SYSTEMC = {PROTO, DEVICE, ENGINE, BLOCKS, FUNCTIONAL, RTL}

# The folders of the test bench, left to right in the same way, and what each may include of the device and its surroundings.
SPECIFICATION = {PROTO}
TWINS = {PROTO, ENGINE, DEVICE, BLOCKS, RTL}
SOFTWARE = {PROTO, ENGINE, DEVICE, BLOCKS, FUNCTIONAL, TLM}
ALL = set(MAY_INCLUDE)
BENCH_FOLDERS = [
    ("text", SPECIFICATION), ("packets", SPECIFICATION), ("cm", SPECIFICATION), ("sma", SPECIFICATION),
    ("lockstep", TWINS), ("rtl_path", TWINS),
    ("host", SOFTWARE), ("scenario", SOFTWARE), ("workload", SOFTWARE),
    ("testbed", ALL), ("trace", ALL), ("vectors", ALL), ("run", ALL), ("report", ALL), ("replay", ALL),
    ("generated_pages", ALL), ("sweep", ALL), ("calibration", ALL), ("golden", ALL),
    ("programs/server", ALL), ("programs/time_library", SPECIFICATION), ("programs/files_library", SPECIFICATION),
    ("programs/verbs_library", SPECIFICATION), ("programs/cm_library", SPECIFICATION),
    ("cli", ALL), ("mutants", ALL), ("fuzz", ALL), ("bench", ALL), ("examples", ALL),
]
# Their tests, and those of the device: each folder may include all sources of the test bench, and helpers of tests to its left.
# Tests of one layer of the device include no other.
TEST_FOLDERS = [
    ("proto", SPECIFICATION), ("device", {PROTO, DEVICE}), ("engine", {PROTO, ENGINE}), ("blocks", {PROTO, ENGINE, DEVICE, BLOCKS}),
    ("functional", ALL), ("systemc", ALL), ("tlm", ALL),
    ("packets", ALL), ("cm", ALL), ("lockstep", ALL), ("rtl_path", ALL), ("host", ALL), ("scenario", ALL), ("workload", ALL), ("testbed", ALL),
    ("trace", ALL), ("vectors", ALL), ("run", ALL), ("report", ALL), ("replay", ALL), ("calibration", ALL), ("sweep", ALL), ("golden", ALL),
    ("programs/server", ALL), ("programs/files_library", ALL), ("programs/verbs_library", ALL), ("programs/time_library", ALL),
    ("programs/cm_library", ALL), ("system", ALL),
]
OF_ONE_LAYER = {"proto", "device", "engine", "blocks"}
TESTS = f"{TESTBENCH}/tests"


def add_in_order(root, rows, also):
    """Each folder of `rows` in `root` may include what stands in its row, `also`, and the folders of the rows above it."""
    above = set()
    for name, of_device in rows:
        folder = f"{root}/{name}"
        above = above | {folder}
        MAY_INCLUDE[folder] = of_device | also(name) | above
        if HCA not in of_device:
            WITHOUT_SYSTEMC.add(folder)


add_in_order(TESTBENCH, BENCH_FOLDERS, lambda name: set())
SOURCES = set(MAY_INCLUDE)
MAY_INCLUDE[TESTS] = SOURCES | {TESTS}  # what the tests share
add_in_order(TESTS, TEST_FOLDERS, lambda name: set() if name in OF_ONE_LAYER else SOURCES | {TESTS})
# Headers of model/blocks whose class holds the Writer of a table (model/device/writers.h), and those that may change all tables.
OWNERS = {
    "SendStates": {"requester.h", "requester_part.h"},
    "SentMessages": {"requester_part.h"},
    "PostedSends": {"qp_scheduler.h"},
    "ReceiveStates": {"responder_check.h", "rd_requests.h", "receive_flush.h", "unreliable_messages.h"},  # of what ends in responder_execute
    "SharedQueues": {"responder_check.h"},
    "CompletionRings": {"completion.h"},
    "EventRings": {"event.h"},
    "Vectors": {"event.h"},
    "Contexts": {"chip.h", "command.h"},
}
OWNED = re.compile(r"^\s+(?:const )?device::(" + "|".join(set(OWNERS) - {"Contexts"}) + r") \w+;|^\s+device::(Contexts)&? \w+;")
# The blocks, by header below model/blocks: who calls it, beside the chip. All others exchange items with it over links (items.h, packet.h,
# memory/dma_request.h) and do not include it. Parts of a block in a folder of its own are included there alone.
EVERYBODY = {"*"}
CALLERS = {
    "command.h": set(),
    "completion/completion.h": set(),
    "completion/event.h": set(),
    "memory/context_cache.h": {"context_gate"},
    "memory/context_gate.h": set(),
    "memory/dma.h": set(),
    "memory/protection.h": EVERYBODY,  # look-ups of keys
    "memory/qp_context.h": EVERYBODY,  # look-ups of contexts
    "port/icrc_unit.h": {"port", "stand_in"},  # inside the activation of `port`
    "port/link_control.h": {"port"},  # where a frame arrives first
    "port/port.h": set(),
    "receive/congestion.h": {"port"},  # inside its activation, as the next two
    "receive/responder_check.h": {"port"},
    "receive/response_check.h": {"port"},
    "receive/responder_execute/responder_execute.h": {"command"},  # between two cycles
    "receive/responder_reply.h": set(),
    "send/doorbell.h": set(),
    "send/packetizer.h": {"requester"},  # inside its activation
    "send/qp_scheduler.h": set(),
    "send/requester/requester.h": {"command"},  # between two cycles
    "send/wqe_fetch.h": set(),
}
# Without a box in README.md: the way to memory, which is drawn as its accesses, and what stands there with some knobs only.
WITHOUT_BOX = {"dma", "context_cache", "context_gate", "link_control"}
WITHOUT_KNOBS = {"dma", "context_gate"}
OWN_FOLDER = {"requester", "responder_execute"}
IS_BLOCK = re.compile(r"^class \w+ (?:final )?: public engine::Block\b", re.M)
CRC_FILE = "model/proto/wire/crc.cpp"
CRC_HEADER = re.compile(r"^isa-l|^immintrin\.h$")  # ISA-L, and the processor's carry-less product
VERILATED_HEADER = re.compile(r"^V[a-z0-9_]+\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STANDARD_HEADER = re.compile(r"^[a-z0-9_]+$")  # <array>, <cstddef>: no dot, no slash
WITHOUT_MISTAKES = ("model/", "tlm/")
SYSTEMC_HEADER = re.compile(r"^(systemc|tlm)(\.h)?$|^(tlm_|sysc/)")


def layer_of(path):
    """The longest folder of the table that `path` (from the root) lies in; None outside all of them, or in a folder of TESTS itself."""
    parents = [str(p) for p in pathlib.PurePosixPath(path).parents]
    found = next((folder for folder in parents if folder in MAY_INCLUDE), None)
    return None if found == TESTS and parents[0] != TESTS else found


def breach_of_include(path, kind, header):
    """What is wrong with `path` including `header`, or None."""
    layer = layer_of(path)
    target = layer_of(header)
    if layer is None or (target is None and header.startswith(TOPS)):
        return f"{'its folder' if layer is None else header} has no place in the order of scripts/check_layers.py"
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


def knows_mistakes(path, line):
    return path.startswith(WITHOUT_MISTAKES) and "mutant" in line.lower()


def check_mistakes(root):
    """The model does not know its deliberate mistakes: they are rows of testbench/mutants/mistakes/."""
    wrong = [f"{path.relative_to(root).as_posix()}:{number}" for top in WITHOUT_MISTAKES for path in sorted((root / top).rglob("*"))
             if path.suffix in {".h", ".cpp"} for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
             if knows_mistakes(path.relative_to(root).as_posix(), line)]
    for place in wrong:
        print(f"{place}: knows of deliberate mistakes; they are rows of testbench/mutants/mistakes/")
    return len(wrong)


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


def block_of(path):
    """The block that a source of model/blocks belongs to: its folder, or the beginning of its name."""
    path = pathlib.PurePosixPath(path)
    if path.parent.name in OWN_FOLDER:
        return path.parent.name
    name = path.stem.removesuffix("_config")
    return name.split("_")[0] if name.startswith(("chip_", "command_", "port_")) else name


def breach_of_block(path, header):
    """What is wrong with a source of the blocks including a header of another block, or None."""
    if not (path.startswith(BLOCKS + "/") and header.startswith(BLOCKS + "/")):
        return None
    mine, other = block_of(path), block_of(header)
    if mine in (other, "chip") or header.endswith("_config.h"):
        return None
    callers = CALLERS.get(header.removeprefix(BLOCKS + "/"))
    if callers is not None:
        return None if mine in callers or callers == EVERYBODY else f"{mine} does not call {other}: {header}"
    return f"{header} is a part of {other} alone" if other in OWN_FOLDER else None


def check_boxes(root):
    """Each block has a row in CALLERS, knobs, and a box in README.md; each box is a block."""
    wrong = []
    for path in sorted((root / BLOCKS).rglob("*.h")):
        name = path.relative_to(root / BLOCKS).as_posix()
        if IS_BLOCK.search(path.read_text(encoding="utf-8")) and name not in CALLERS and not name.startswith("twins/"):
            wrong.append(f"{BLOCKS}/{name}: a block without a row in CALLERS of scripts/check_layers.py")
    drawn = re.search(r"## The pipeline\n+```\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.S)
    words = set(re.findall(r"\b[a-z]+(?:_[a-z]+)*\b", drawn[1] if drawn else ""))
    for header in CALLERS:
        path = root / BLOCKS / header
        if not path.is_file():
            wrong.append(f"{BLOCKS}/{header}: does not exist")
        if (path.stem in WITHOUT_KNOBS) == path.with_name(f"{path.stem}_config.h").is_file():
            wrong.append(f"{BLOCKS}/{header}: {'has' if path.stem in WITHOUT_KNOBS else 'has no'} {path.stem}_config.h")
        if (path.stem in WITHOUT_BOX) == (path.stem in words):
            wrong.append(f"README.md: {path.stem} {'has' if path.stem in words else 'has no'} box in the pipeline")
    for place in wrong:
        print(place)
    return len(wrong)


def all_includes(root):
    """Of all sources: path, line number, and what INCLUDE finds there."""
    for path in sorted(p for top in TOPS for p in (root / top).rglob("*")):
        if path.suffix not in {".h", ".cpp"} or "install" in path.parts:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if found := INCLUDE.match(line):
                yield path.relative_to(root).as_posix(), number, *found.groups()


def check_includes(root):
    count, bad = 0, 0
    for name, number, kind, header in all_includes(root):
        count += 1
        if what := breach_of_include(name, kind, header) or breach_of_block(name, header):
            bad += 1
            print(f"{name}:{number}: {what}")
    bad += check_owners(root) + check_mistakes(root) + check_boxes(root)
    print(f"{count} includes, {bad} breaches")
    return 1 if bad or not count else 0


def cycles_of(graph):
    """The sets of folders that include each other, over others or directly."""
    reached = {folder: set(graph[folder]) for folder in graph}
    for middle in graph:
        for folder in graph:
            if middle in reached[folder]:
                reached[folder] |= reached[middle]
    return {frozenset(other for other in graph if other in reached[folder] and folder in reached[other]) for folder in graph if folder in reached[folder]}


def print_graph(root):
    """The folders of the test bench that the sources have, whatever the tables above say."""
    graph = {}
    for name, _, _, header in all_includes(root):
        folder, other = (str(pathlib.PurePosixPath(path).parent) for path in (name, header))
        if not (folder.startswith(TESTBENCH) and other.startswith(TESTBENCH)):
            continue
        graph.setdefault(other, set())
        graph.setdefault(folder, set()).update({other} - {folder})
    for folder, others in sorted(graph.items()):
        print(f"{folder}: {' '.join(sorted(others)) or '-'}")
    cycles = cycles_of(graph)
    for cycle in cycles:
        print(f"cycle: {' '.join(sorted(cycle))}")
    print(f"{len(graph)} folders, {len(cycles)} cycles")
    return 1 if cycles or not graph else 0


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
    over_root = {"includes": check_includes, "graph": print_graph}
    if len(sys.argv) < 3 or sys.argv[1] not in (*over_root, "symbols"):
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "symbols":
        return check_symbols(sys.argv[2:])
    return over_root[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve())


if __name__ == "__main__":
    sys.exit(main())
