#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes copies of sources in which deliberate mistakes can be switched on. The form of a mistake: mistake_form.py.

    write_mistakes.py SOURCE OUT               the model, the driver
    write_mistakes.py SOURCE OUT --rtl BLOCK   an RTL block
    write_mistakes.py SOURCE OUT --check       nothing, but says whether each mistake finds its place, wake-ups included

SOURCE is the root of the project. A file that did not change is not written again.

`model/`, `tlm/` and what changes of the driver (`testbench/host/`) are copied to OUT with the mistakes of
`testbench/mutants/mistakes/*.toml` in them, each after a switch of its own, false unless it is chosen
(testbench/mutants/mistake.h).

An RTL block and the modules that it is made of (BLOCK.f) go to OUT/BLOCK/*.sv with the mistakes of
`testbench/mutants/rtl/BLOCK.toml` in them, each after its number on a new input mutant_i (0: none);
OUT/BLOCK_mistakes.h has their names.
"""
import argparse
import pathlib
import sys
import tomllib

import mistaken_rtl
import mistaken_wakeups
from mistake_form import Refused, edits_of, rows_of, texts_with

ROWS = "testbench/mutants/mistakes/*.toml"
# What is copied whole; of other files those that change: those of the driver, who is in the device as long as he may
# make a mistake.
COPIED = ("model/", "tlm/")
INCLUDE = '#include "testbench/mutants/mistake.h"\n'


def switch_of(name, file):
    of = "is_on" if file.startswith(COPIED) else "is_on_in_driver"
    return f'::hca::mutants::{of}<"{name}">()'


def model(root):
    return texts_with(root, edits_of(root, ROWS, switch_of), INCLUDE)


def write(path, text):
    if path.is_file() and path.read_bytes() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


def write_model(source, out):
    changed = model(source)
    wanted = {file.relative_to(source).as_posix() for folder in COPIED for file in (source / folder).rglob("*")
              if file.suffix in (".h", ".cpp")} | set(changed)
    for name in sorted(wanted):
        write(out / name, changed[name].encode() if name in changed else (source / name).read_bytes())
    for old in out.rglob("*"):
        if old.suffix in (".h", ".cpp") and old.relative_to(out).as_posix() not in wanted:
            old.unlink()


def check(root):
    changed = model(root)
    count = sum(kind == "mistake" for _, kind, _ in rows_of(root, ROWS))
    print(f"{count} mistakes in {len(changed)} files, each finds its place")
    blocks = mistaken_rtl.blocks(root)
    print(f"{sum(len(mistaken_rtl.Block(root, name).names) for name in blocks)} in {len(blocks)} RTL blocks")
    for subject in mistaken_wakeups.SUBJECTS:
        print(f"{len(mistaken_wakeups.Wakeups(root, subject).names)} wake-ups of the {subject}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--rtl", metavar="BLOCK")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    try:
        if options.check:
            check(options.source)
        elif options.rtl:
            mistaken_rtl.Block(options.source, options.rtl).write(options.out)
        else:
            write_model(options.source, options.out)
    except (Refused, tomllib.TOMLDecodeError) as error:
        print(f"write_mistakes.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
