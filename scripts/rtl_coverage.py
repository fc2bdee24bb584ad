#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Which branches of the RTL blocks ran and which bits of their signals changed in lockstep, counted by Verilator.

  rtl_coverage.py [--cycles N] [--seeds N] [--out FOLDER] [--holes FILE]

Builds `hca` with HCA_RTL_COVERAGE=ON in build/rtl_coverage and runs all blocks into OUT, those with data at both widths:
random packets with N seeds, the frames of vectors/, and both broken contracts. Prints for each block and width how many
branches ran, and how many bits went to 1 and back in one run or the other way, all instances of a module together; then
the holes. FILE says why holes remain, a line each:

  BLOCK | FILE | PATTERN | REASON

BLOCK is one or more, FILE one of rtl/, either `*` for all. PATTERN is a regular expression for the whole of a hole's text:
`NAME[BIT]` of a bit, `if: SOURCE`, `else: SOURCE`, ... of a branch with the source of its line; a hole of one width alone
begins with `256: ` or `512: `. In it `<0,2-6>` is one of these bits, `<3-7%240>` one of them or 240, 480, ... above. Exit
code 1: a hole has no reason, a reason no hole, or a reason says of something that was covered why it cannot be.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

BLOCKS = ("icrc", "packetizer", "rx_parser", "responder_check", "requester_psn", "completion")
GIVEN = ("icrc", "packetizer", "rx_parser", "responder_check")  # take the frames of captures and vectors
WIDTHS = {block: ("256", "512") if block in ("icrc", "packetizer", "rx_parser") else ("512",) for block in BLOCKS}
ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/rtl_coverage"
OFF = [f"-DHCA_BUILD_{part}=OFF" for part in ("TESTS", "BENCH", "MUTANTS", "GOLDEN")] + ["-DHCA_PARTS=replay;rtl"]
POINT = re.compile(r"^C '(.*)' (\d+)$")
LINE, TOGGLE = "line", "toggle"
BITS = re.compile(r"<([\d,-]+)(?:%(\d+))?>")
MOST_BITS = 4096  # of a signal whose bits are counted
KINDS = {"line": LINE, "branch": LINE, "toggle": TOGGLE}


def runs(args):
    """Block, width, options of each run, and the exit code that it must have. The first of a block is one cycle long and
    compares no packet."""
    for block in BLOCKS:
        for width in WIDTHS[block]:
            yield block, width, ["--cycles", "1"], 1
            for seed in range(1, args.seeds + 1):
                yield block, width, ["--cycles", str(args.cycles), "--seed", str(seed)], 0
            if block in GIVEN:
                yield block, width, ["--cycles", str(args.cycles), "--packets", str(ROOT / "vectors")], 0
            for mistake in ("--break-contract", "--break-stall"):
                yield block, width, ["--cycles", "100000", mistake], 1


def run(folder, block, width, options, expected):
    folder.mkdir(parents=True)
    command = [str(BUILD / "hca"), "rtl", block, "--width", width, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    (folder / "printed").write_text(done.stdout + done.stderr)
    if done.returncode != expected:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}, not {expected}\n{done.stdout}{done.stderr}")
    counts = list(folder.glob("*.dat"))
    if len(counts) != 1:
        sys.exit(f"{folder}: counts of {len(counts)} blocks, not of one")
    return points_of(counts[0])


def points_of(data):
    """(file, line, kind, column, branch or signal) -> count, of instances the largest."""
    points = collections.Counter()
    for text in data.read_text(errors="replace").splitlines():
        match = POINT.match(text)
        if not match:
            continue
        fields = dict(part.split("\x02", 1) for part in match[1].split("\x01") if "\x02" in part)
        kind = KINDS[fields["page"].split("/")[0].removeprefix("v_")]
        file = pathlib.Path(fields["f"]).name
        point = file, int(fields["l"]), kind, int(fields["n"]), fields["o"]
        points[point] = max(points[point], int(match[2]))
    return points


def hit_in(counted):
    """Point -> whether it was hit, of the runs of a block at one width, but for constant bits. In the first run, of a cycle,
    bits change to the value that they have after reset; twice more is there and back. Verilator 5.006 counts constant bits
    with the clock."""
    start, *others = counted
    clock = next(point for point in start if point[4] == "clk_i")
    hit = {}
    for point in start:
        if point[2] == LINE:
            hit[point] = any(counts[point] for counts in others)
        elif point[4] == clock[4] or any(counts[point] != counts[clock] for counts in counted):
            hit[point] = any(counts[point] >= start[point] + 2 for counts in others)
    return hit


def bits_of(match):
    """`<0,2-6>` or `<3-7%240>` as a regular expression."""
    ranges = [[int(end) for end in part.split("-")] for part in match[1].split(",")]
    step = int(match[2] or MOST_BITS)
    bits = (bit + more for first, *last in ranges for bit in range(first, (last or [first])[0] + 1)
            for more in range(0, MOST_BITS, step))
    return rf"\[(?:{'|'.join(map(str, bits))})\]"


def reasons_of(path):
    """(blocks, file, pattern, reason) of each line."""
    rows = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        cells = [cell.strip() for cell in text.split(" | ")]
        if len(cells) != 4 or not cells[3]:
            sys.exit(f"{path}:{number}: not `blocks or * | file or * | pattern | reason`: {text}")
        blocks = BLOCKS if cells[0] == "*" else cells[0].split()
        if not set(blocks) <= set(BLOCKS):
            sys.exit(f"{path}:{number}: {cells[0]}; allowed: *, {', '.join(BLOCKS)}")
        if cells[1] != "*" and not any((ROOT / "rtl").glob(f"*/{cells[1]}")):
            sys.exit(f"{path}:{number}: no folder of rtl/ has {cells[1]}")
        try:
            rows.append((blocks, cells[1], re.compile(BITS.sub(bits_of, cells[2])), cells[3]))
        except re.error as error:
            sys.exit(f"{path}:{number}: {cells[2]} is no regular expression: {error}")
    return rows


def share(hit, kind):
    of_kind = [was_hit for point, was_hit in hit.items() if point[2] == kind]
    return f"{sum(of_kind)} of {len(of_kind)} | {100 * sum(of_kind) / len(of_kind):.1f} %"


def texts_of(hits, folder):
    """(file, line, text) of each hole of a block, and of all that is none; hits: width -> what hit_in() gives."""
    widths = collections.defaultdict(dict)  # point -> width -> hit
    for width, hit in hits.items():
        for point, was_hit in hit.items():
            widths[point][width] = was_hit
    holes, covered = set(), set()
    for (file, line, kind, _, what), by_width in widths.items():
        text = what if kind == TOGGLE else f"{what}: {next(folder.glob('*/' + file)).read_text().splitlines()[line - 1].strip()}"
        left = [w for w, was_hit in by_width.items() if not was_hit]
        if left:
            holes.add((file, line, text if len(left) == len(by_width) else f"{' '.join(left)}: {text}"))
        if len(left) < len(by_width):
            covered |= {(file, line, text), *((file, line, f"{w}: {text}") for w in by_width if w not in left)}
    return sorted(holes), sorted(covered - holes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=200000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path, default=BUILD / "counts")
    parser.add_argument("--holes", type=pathlib.Path, default=ROOT / "rtl/coverage_holes.txt")
    args = parser.parse_args()
    reasons = reasons_of(args.holes)
    subprocess.run(["cmake", "--preset", "release", "-B", BUILD, "-DHCA_RTL_COVERAGE=ON", *OFF], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", "hca"], check=True, stdout=subprocess.DEVNULL)
    planned = list(runs(args))
    shutil.rmtree(args.out, ignore_errors=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = list(pool.map(lambda i: run(args.out / str(i), *planned[i]), range(len(planned))))

    used, bad = set(), 0
    table, listing = [], []
    for block in BLOCKS:
        hits = {w: hit_in([counts for counts, (b, v, *_) in zip(counted, planned) if (b, v) == (block, w)]) for w in WIDTHS[block]}
        table += [f"| `{block}` | {w} | {share(hit, LINE)} | {share(hit, TOGGLE)} |" for w, hit in hits.items()]
        by_reason = collections.Counter()
        holes, covered = texts_of(hits, ROOT / "rtl")

        def reason_of(file, text, block=block):
            return next((i for i, (b, f, pattern, _) in enumerate(reasons)
                         if block in b and f in (file, "*") and pattern.fullmatch(text)), None)

        for file, line, text in covered:
            if (index := reason_of(file, text)) is not None:
                listing.append(f"{block}: COVERED: {file}:{line}: {text}: {reasons[index][3]}")
                bad += 1
        for file, line, text in holes:
            index = reason_of(file, text)
            if index is None:
                listing.append(f"{block}: NO REASON: {file}:{line}: {text}")
                bad += 1
            else:
                by_reason[index] += 1
        used |= by_reason.keys()
        listing += [f"{block}: {n}: {reasons[i][3]}" for i, n in sorted(by_reason.items())]
    print("| block | width | branches | | bits | |\n|---|---|---|---|---|---|", *table, sep="\n")
    print(*listing, sep="\n")
    stale = [row for i, row in enumerate(reasons) if i not in used]
    for blocks, file, pattern, _ in stale:
        print(f"NO HOLE: {' '.join(blocks)} | {file} | {pattern.pattern[:100]}")
    print(f"holes without a reason and reasons of what is covered {bad}, reasons without a hole {len(stale)}")
    return 1 if bad or stale else 0


if __name__ == "__main__":
    sys.exit(main())
