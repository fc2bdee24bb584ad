#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the copy of the sources that has the deliberate mistakes, without making code.

    check_mistakes.py SOURCE BUILD

BUILD has been configured with hca_mutants; its compiler and flags are taken. `write_mistakes.py --check` finds places and
knows no C++; building hca_mutants takes minutes. This takes some 20 seconds of one processor.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

import write_mistakes
from mistake_form import Refused

WITH_VALUE = ("-o", "-MF", "-MT", "-MQ")
NO_OUTPUT = ("-c", "-MD", "-MMD")


def command_of(build, sources):
    """The compiler call of hca_mutants without its output, with this copy for its own."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        output = words[words.index("-o") + 1] if "-o" in words else ""
        if "hca_mutants.dir" not in output:
            continue
        kept = [word for before, word in zip([""] + words, words)
                if word not in WITH_VALUE + NO_OUTPUT and before not in WITH_VALUE and word != entry["file"]]
        own = f"-I{build / 'mistaken'}"
        if own not in kept:
            raise Refused(f"{build}: hca_mutants is not compiled with {own}")
        return [f"-I{sources}" if word == own else word for word in kept] + ["-O0", "-fsyntax-only", "-x", "c++"]
    raise Refused(f"{build}/compile_commands.json: no hca_mutants; configure with HCA_BUILD_MUTANTS=ON")


def units_of(sources):
    """What can be compiled together: sources that see the block Event cannot call the Event of proto by its name alone."""
    files = sorted(sources.rglob("*.cpp"))
    blocks = sources / "model/blocks"
    apart = [f for f in files if blocks in f.parents and f.parent not in (blocks, blocks / "completion")]
    return [apart, [f for f in files if f not in apart]]


def check(source, build):
    copy = build / "mistaken_parsed"
    sources = copy / "sources"
    write_mistakes.write_model(source, sources)
    command = command_of(build, sources)
    good = True
    for number, files in enumerate(units_of(sources)):
        unit = copy / f"unit_{number}.cxx"
        unit.write_text("".join(f'#include "{file}"\n' for file in files))
        good &= subprocess.run([*command, unit], check=False).returncode == 0
        print(f"{len(files)} files of {unit}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    try:
        return 0 if check(options.source.resolve(), options.build.resolve()) else 1
    except (Refused, OSError) as error:
        print(f"check_mistakes.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
