#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts all mistakes of a table into one copy of an RTL block, each behind its number on a new input mutant_i (0: none).
Usage: rtl_mutants.py TABLE BLOCK.sv FOLDER NAMES. Writes FOLDER/BLOCK.sv and FOLDER/BLOCK_mutants.h, which has their names
in a constant NAMES."""
import pathlib
import re
import sys


def rows(table):
    for number, line in enumerate(pathlib.Path(table).read_text().splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)(?<!\|)\|(?!\|)", line)]
        if len(cells) != 3:
            sys.exit(f"{table}:{number}: {len(cells)} cells, not 3")
        yield number, cells


def main():
    table, block, folder, constant = sys.argv[1:]
    block, folder = pathlib.Path(block), pathlib.Path(folder)
    text = block.read_text()
    names, at = [], {}
    for number, (name, old, new) in rows(table):
        if text.count(old) != 1:
            sys.exit(f"{table}:{number}: {old!r} stands {text.count(old)} times in {block}")
        names.append(name)
        at.setdefault((text.index(old), old), []).append((len(names), new))
    for (place, old), news in sorted(at.items(), reverse=True):
        choice = "".join(f"mutant_i == 8'd{number} ? ({new}) : " for number, new in news)
        text = f"{text[:place]}({choice}({old})){text[place + len(old):]}"
    clock = re.search(r"\n  input +logic +clk_i,", text)
    text = f"{text[:clock.start()]}\n  input  logic [7:0] mutant_i,{text[clock.start():]}"
    (folder / block.name).write_text(text)
    lines = "".join(f'    "{name}",\n' for name in names)
    (folder / f"{block.stem}_mutants.h").write_text(
        "#pragma once\n#include <array>\n#include <string_view>\n\nnamespace hca::testbench {\n"
        f"inline constexpr std::array<std::string_view, {len(names)}> {constant}{{\n{lines}}};\n"
        "}  // namespace hca::testbench\n")


if __name__ == "__main__":
    main()
