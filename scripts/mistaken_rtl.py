# SPDX-License-Identifier: Apache-2.0
"""RTL blocks with mistakes: a copy of a block and of the modules that it is made of, in which each mistake of
`testbench/mutants/rtl/BLOCK.toml` is chosen by its number on a new input mutant_i."""
import re
import subprocess

from mistake_form import Refused, RtlEdit, edits_of, rows_of, text_with

ROWS = "testbench/mutants/rtl/{}.toml"
PACKAGE = "common/hca_pkg.sv"
MOST = 255  # mutant_i has 8 bits


def blocks(root):
    return sorted(path.stem for path in root.glob(ROWS.format("*")))


def write_if_changed(path, text):
    changed = not path.exists() or path.read_text() != text
    if changed:
        path.write_text(text)
    return changed


def instances(file):
    """Up to the ports of each instance of the module in that file."""
    module = file.rpartition("/")[2].removesuffix(".sv")
    return re.compile(rf"(\n +{module} (?:#\((?:.|\n)*?\n +\) )?u_\w+ \()")


class Block:
    """`names` of its mistakes, in the order of their numbers from 1 on; `texts` of its modules, by file."""

    def __init__(self, root, name):
        self.root, self.name = root, name
        rows = ROWS.format(name)
        self.names = [row["name"] for _, _, row in rows_of(root, rows)]
        if not 0 < len(self.names) <= MOST:
            raise Refused(f"{rows}: {len(self.names)} mistakes; allowed: 1 to {MOST}")
        listed = (root / f"rtl/{name}/{name}.f").read_text().split()
        self.files = [f"rtl/{file}" for file in listed if file.endswith(".sv") and file != PACKAGE]
        number = {mistake: i for i, mistake in enumerate(self.names, 1)}
        edits = edits_of(root, rows, lambda mistake, _: f"mutant_i == 8'd{number[mistake]}", RtlEdit)
        for file in edits.keys() - set(self.files):
            raise Refused(f"{rows}: {file} is no module of {name}")
        self.texts = self.with_input({file: text_with((root / file).read_text(), edits.get(file, [])) for file in self.files}, edits)

    def with_input(self, texts, edits):
        """Each module that has a mistake, or an instance of one that has, gets its number."""
        changed = []
        for file in self.files:  # those that stand in others first
            top = file == f"rtl/{self.name}/{self.name}.sv"
            if top or file in edits or any(instances(other).search(texts[file]) for other in changed):
                changed.append(file)
        for file in changed:
            texts[file] = texts[file].replace("\n  input ", "\n  input  logic [7:0] mutant_i,\n  input ", 1)
            for user in self.files:
                texts[user] = instances(file).sub(r"\1.mutant_i(mutant_i),", texts[user])
        return texts

    def write(self, out):
        """What has not changed is not made again."""
        made = out / self.name
        made.mkdir(parents=True, exist_ok=True)
        linted = made / "linted"
        paths = {file: made / file.rpartition("/")[2] for file in self.files}
        if sum(write_if_changed(paths[file], text) for file, text in self.texts.items()) or not linted.exists():
            linted.unlink(missing_ok=True)
            self.lint(paths.values())
            linted.touch()
        write_if_changed(out / f"{self.name}_mistakes.h", self.header())

    def lint(self, paths):
        rtl = self.root / "rtl"
        command = ["verilator", "--lint-only", "-Wno-lint", f"-I{rtl / 'common'}", f"-I{rtl / self.name}", "--top-module", self.name, rtl / PACKAGE, *paths]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        if said.returncode:
            raise Refused(f"a row of {ROWS.format(self.name)}, by its mutant_i, is no SystemVerilog:\n{said.stderr}")

    def header(self):
        lines = "".join(f'    "{name}",\n' for name in self.names)
        return ("#pragma once\n#include <array>\n#include <string_view>\n\n"
                f"namespace hca::testbench::{self.name}_mistakes {{\n"
                f"inline constexpr std::array<std::string_view, {len(self.names)}> kNames{{\n{lines}}};\n"
                f"}}  // namespace hca::testbench::{self.name}_mistakes\n")
