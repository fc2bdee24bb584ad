#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts all mistakes of a table, expressions or assignments `name <= value`, into copies of an RTL block and of the modules that it is made of (BLOCK.f), each behind its
number on a new input mutant_i (0: none).
Usage: rtl_mutants.py TABLE rtl/BLOCK/BLOCK.sv FOLDER NAMES. Writes FOLDER/BLOCK/*.sv and FOLDER/BLOCK_mutants.h, which has their names
in a constant NAMES."""
import pathlib
import re
import subprocess
import sys


def rows(table):
    for number, line in enumerate(pathlib.Path(table).read_text().splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)(?<!\|)\|(?!\|)", line)]
        if len(cells) != 3:
            sys.exit(f"{table}:{number}: {len(cells)} cells, not 3")
        yield number, cells


ASSIGNED = re.compile(r"\w+ <= (?=[^=])")


def assigned(old, new):
    """Of `name <= value` on both sides the front, as far as the values."""
    front = ASSIGNED.match(old)
    return front[0] if front and new.startswith(front[0]) else ""


def with_choices(text, choices, places):
    """Each expression with the mistakes that stand in its place: {expression: [(number, mistake), ...]}. `places`: of the
    rows, by number."""
    for old, news in sorted(choices.items(), key=lambda choice: text.index(choice[0]), reverse=True):
        place = text.find(old)
        if place < 0:
            sys.exit(f"{places[news[0][0]]}: `{old}` is part of another row's expression, or one is part of it")
        front = assigned(old, news[0][1])
        choice = "".join(f"mutant_i == 8'd{number} ? ({new[len(front):]}) : " for number, new in news)
        text = f"{text[:place]}{front}({choice}({old[len(front):]})){text[place + len(old):]}"
    return text


def write(path, text):
    """What has not changed is not made again: False."""
    changed = not path.exists() or path.read_text() != text
    if changed:
        path.write_text(text)
    return changed


def lint(block, folder, files):
    """Whether it is SystemVerilog still, in Verilator's words if not."""
    common = block.parent.parent / "common"
    command = ["verilator", "--lint-only", "-Wno-lint", f"-I{common}", f"-I{block.parent}", "--top-module", block.stem,
               common / "hca_pkg.sv", *(folder / file for file in files)]
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode:
        sys.exit(f"a row of {block.stem}'s mistakes, by its mutant_i, is no SystemVerilog:\n{said.stderr}")


def instances(file):
    """Up to the ports of each instance of the module in that file."""
    module = file.removesuffix(".sv")
    return re.compile(rf"(\n +{module} (?:#\((?:.|\n)*?\n +\) )?u_\w+ \()")


def main():
    table, block, folder, constant = sys.argv[1:]
    block, folder = pathlib.Path(block), pathlib.Path(folder)
    listed = [pathlib.Path(name) for name in block.with_suffix(".f").read_text().split() if name.endswith(".sv") and not name.endswith("/hca_pkg.sv")]
    files = [path.name for path in listed]
    texts = {path.name: (block.parent.parent / path).read_text() for path in listed}
    names, choices, where = [], {name: {} for name in files}, {}
    for number, (name, old, new) in rows(table):
        places = [file for file in files for _ in range(texts[file].count(old))]
        if len(places) != 1:
            sys.exit(f"{table}:{number}: {old!r} stands {len(places)} times in {block} and its modules")
        names.append(name)
        where[len(names)] = f"{table}:{number}"
        choices[places[0]].setdefault(old, []).append((len(names), new))
    changed = []
    for file in files:  # those that stand in others first
        if choices[file] or file == block.name or any(instances(other).search(texts[file]) for other in changed):
            changed.append(file)
    texts = {file: with_choices(text, choices[file], where) for file, text in texts.items()}
    for file in changed:
        texts[file] = texts[file].replace("\n  input ", "\n  input  logic [7:0] mutant_i,\n  input ", 1)
        for user in files:
            texts[user] = instances(file).sub(r"\1.mutant_i(mutant_i),", texts[user])
    made = folder / block.stem
    made.mkdir(exist_ok=True)
    linted = made / "linted"
    if sum(write(made / file, text) for file, text in texts.items()) or not linted.exists():
        linted.unlink(missing_ok=True)
        lint(block, made, files)
        linted.touch()
    lines = "".join(f'    "{name}",\n' for name in names)
    write(
        folder / f"{block.stem}_mutants.h",
        "#pragma once\n#include <array>\n#include <string_view>\n\nnamespace hca::testbench {\n"
        f"inline constexpr std::array<std::string_view, {len(names)}> {constant}{{\n{lines}}};\n"
        "}  // namespace hca::testbench\n")


if __name__ == "__main__":
    main()
