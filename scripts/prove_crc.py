#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that a step of the CRC registers in rtl/ is the bit-serial definition, for full and partial beats.

Yosys makes netlists of crc_fold, crc_advance and crc_rewind. After `techmap; opt` they must hold XOR cells only, and in
crc_rewind multiplexers that the number of zeros alone selects: for each number of zeros all are linear, and two linear functions are equal when they agree on zero and on all basis vectors. All basis vectors go
through a netlist at once: bit j of a net's number is its value for basis vector j. The step is put together as in
rtl/icrc.sv: the beat, zeros behind its last byte, folded; the register advanced by a beat; both added; the zeros taken
back. Usage: prove_crc.py ROOT"""
import json
import pathlib
import subprocess
import sys
import tempfile

CRCS = {"icrc": (32, 0xEDB88320), "vcrc": (16, 0xD008)}  # width, reflected polynomial (T2)


def netlists(root, folder):
    """The netlist of each module at each width."""
    found = {}
    for width in (256, 512):
        for module in ("crc_fold", "crc_advance"):
            found[module, width] = netlist(root, folder, module, f"chparam -set Width {width} {module};")
    found["crc_rewind"] = netlist(root, folder, "crc_rewind", "")
    return found


def netlist(root, folder, module, parameters):
    out = folder / "netlist.json"
    subprocess.run(["yosys", "-q", "-p", f"read_verilog -sv {root / 'rtl/hca_pkg.sv'} {root / 'rtl' / module}.sv; {parameters} "
                    f"hierarchy -check -top {module}; proc; opt; techmap; opt; write_json {out}"],
                   check=True, stdout=subprocess.DEVNULL)
    (found,) = json.loads(out.read_text())["modules"].values()
    return found


def evaluate(module, inputs):
    """`inputs`: numbers for the bits of each input port. The same for the output ports. A multiplexer whose selection is
    a bit of zeros_i, a constant here, is a wire."""
    value = {"0": 0}
    for name, port in module["ports"].items():
        if port["direction"] == "input":
            value.update(zip(port["bits"], inputs[name]))
    constant = dict(zip(module["ports"].get("zeros_i", {"bits": []})["bits"], inputs.get("zeros_i", [])))
    driver = {}
    for cell in module["cells"].values():
        at = {pin: bits[0] for pin, bits in cell["connections"].items()}
        if cell["type"] == "$_XOR_":
            driver[at["Y"]] = (at["A"], at["B"])
        elif cell["type"] == "$_MUX_" and at["S"] in constant:
            driver[at["Y"]] = (at["B" if constant[at["S"]] else "A"], "0")
        else:
            sys.exit(f"prove_crc: a cell that is no XOR: {cell['type']}")
    for target in driver:
        stack = [target]
        while stack:
            net = stack[-1]
            if net in value:
                stack.pop()
                continue
            a, b = driver[net]
            missing = [n for n in (a, b) if n not in value]
            if missing:
                stack.extend(missing)
            else:
                value[net] = value[a] ^ value[b]
                stack.pop()
    return {name: [value[bit] for bit in port["bits"]]
            for name, port in module["ports"].items() if port["direction"] == "output"}


def bit_serial(register, data, polynomial):
    """The definition: each bit of the data, the first byte's least significant one first."""
    register = list(register)
    for bit in data:
        out = register[0] ^ bit
        register = register[1:] + [0]
        for i in range(len(register)):
            if polynomial >> i & 1:
                register[i] ^= out
    return register


def main():
    root = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        nets = netlists(root, pathlib.Path(name))
    cases = vectors = 0
    for width in (256, 512):
        for size in range(1, width // 8 + 1):
            # Basis: 8 * size bits of the beat, then both registers.
            data = [1 << j for j in range(8 * size)]
            registers = {"icrc": [1 << 8 * size + j for j in range(32)],
                         "vcrc": [1 << 8 * size + 32 + j for j in range(16)]}
            beat = data + [0] * (width - 8 * size)
            folded = evaluate(nets["crc_fold", width], {"icrc_data_i": beat, "vcrc_data_i": beat})
            advanced = evaluate(nets["crc_advance", width], {f"{c}_i": registers[c] for c in CRCS})
            added = {f"{c}_i": [a ^ b for a, b in zip(folded[f"{c}_o"], advanced[f"{c}_o"])] for c in CRCS}
            zeros = width // 8 - size
            step = evaluate(nets["crc_rewind"], added | {"zeros_i": [zeros >> i & 1 for i in range(6)]})
            for crc, (bits, polynomial) in CRCS.items():
                if step[f"{crc}_o"] != bit_serial(registers[crc], data, polynomial):
                    sys.exit(f"prove_crc: {crc}, {width} bits, a beat of {size} bytes: not the bit-serial definition")
                vectors += 8 * size + bits + 1
                cases += 1
    cells = {key: len(nets["crc_fold", key]["cells"]) for key in (256, 512)}
    print(f"prove_crc: {cases} steps equal on {vectors} vectors (all basis vectors and zero); crc_fold has {cells[256]} "
          f"XOR cells at 256 bits, {cells[512]} at 512")


if __name__ == "__main__":
    main()
