#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that rtl/icrc/icrc.sv takes the CRC registers over a beat as the bit-serial definition does, for full and partial beats.

Yosys makes a netlist of the whole block. Its registers are cut: what each of the four on the way of a beat takes over is
followed back to the one before it, while the side band (bytes of the beat, its place in the packet) is constant. With
these constants all gates on the way must come down to XORs, or it is refused; then the step is linear (affine), and two
such functions are equal when they agree on zero and on all basis vectors. All basis vectors go through the netlist at once:
bit j of a net's number is its value for basis vector j, the last bit a constant 1. Bytes after the last one of a beat are
basis vectors too: nothing may depend on them. Usage: prove_crc.py ROOT [WIDTH ...]; without a width both, 256 and 512."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CRCS = {"icrc": (32, 0xEDB88320), "vcrc": (16, 0xD008)}  # width, reflected polynomial (T2)


def netlist(root, folder, width):
    sources = [line for line in (root / "rtl/icrc/icrc.f").read_text().split() if line.endswith(".sv")]
    out = folder / "netlist.json"
    subprocess.run(["yosys", "-q", "-p", f"read_verilog -sv {' '.join(sources)}; chparam -set Width {width} icrc; hierarchy -check "
                    f"-top icrc; proc; flatten; opt; techmap; opt; write_json {out}"],
                   check=True, cwd=root / "rtl", stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())["modules"]["icrc"]


def side_band(root):
    """The places of the fields of beat_t: {name: (lowest bit, bits)}."""
    package = (root / "rtl/common/hca_pkg.sv").read_text()
    body = re.search(r"typedef struct packed \{([^}]*)\} beat_t;", package)[1]
    widths = {name: int(high) + 1 for high, name in re.findall(r"typedef enum logic \[(\d+):0\] \{[^}]*\} (\w+);", package)}
    fields, at = {}, 0
    for kind, name in reversed(re.findall(r"([\w]+(?: \[\d+:0\])?) (\w+);", body)):
        high = re.search(r"\[(\d+):0\]", kind)
        bits = int(high[1]) + 1 if high else widths.get(kind, 1)
        fields[name] = (at, bits)
        at += bits
    return fields


class Block:
    """The netlist, followed back from a register."""

    def __init__(self, module, one):
        self.names = module["netnames"]
        self.one = one  # the constant 1 as a number
        self.driver, self.register = {}, {}
        for cell in module["cells"].values():
            pins = {pin: bits[0] for pin, bits in cell["connections"].items() if len(bits) == 1}
            if "Q" in pins:
                self.register[pins["Q"]] = (cell["type"], pins)
            elif "Y" in pins:
                self.driver[pins["Y"]] = (cell["type"], pins)

    def bits(self, name):
        return self.names[name]["bits"]

    def taken_over(self, name, given):
        """What the register `name` holds next, when those in `given` ({name: numbers}) hold that. A register whose
        enable is not known takes over. A bit that nothing is known of is None."""
        value = {}
        for net, numbers in given.items():
            value.update(zip(self.bits(net), numbers))
        value |= {"0": 0, "1": self.one}
        for i, bit in enumerate(self.bits(name)):
            if bit not in self.register:
                sys.exit(f"prove_crc: bit {i} of {name} is no register: it is constant, or nothing reads it")
        return [self.next_of(bit, value) for bit in self.bits(name)]

    def next_of(self, bit, value):
        kind, pins = self.register[bit]
        if "E" in pins:  # $_DFFE_PP_: the last letter is the level that enables; what is not known does
            enable = self.follow(pins["E"], value)
            if enable == (0 if kind.split("_")[2][-1] == "P" else self.one):
                return value.get(bit)
        if kind.startswith("$_SDFF"):  # $_SDFFCE_PP0P_: synchronous reset, active at P or N, to 0 or 1
            active, to = kind.split("_")[2][1:3]
            reset = self.follow(pins["R"], value)
            if reset not in (0, self.one):
                return None
            if (reset == self.one) == (active == "P"):
                return self.one if to == "1" else 0
        return self.follow(pins["D"], value)

    def follow(self, net, value):
        if net not in value:
            value[net] = None  # what is not driven by a gate
            if net in self.driver:
                kind, pins = self.driver[net]
                value[net] = self.gate(kind, {pin: n for pin, n in pins.items() if pin != "Y"}, value)
        return value[net]

    def gate(self, kind, pins, value):
        one = self.one
        a = self.follow(pins["A"], value)
        if kind == "$_NOT_":
            return None if a is None else a ^ one
        if kind == "$_MUX_":
            select = self.follow(pins["S"], value)
            if select in (0, one):
                return self.follow(pins["B"], value) if select else a
            b = self.follow(pins["B"], value)
            return a if a == b else None
        b = self.follow(pins["B"], value)
        if kind == "$_XOR_":
            return None if a is None or b is None else a ^ b
        dominant = {"$_AND_": 0, "$_OR_": one}.get(kind)
        if dominant is None:
            sys.exit(f"prove_crc: a gate that is not known: {kind}")
        if dominant in (a, b):
            return dominant
        neutral = one ^ dominant
        if a == neutral:
            return b
        return a if b == neutral else None


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


def far(block):
    """s1_index_q of a beat after all headers, where nothing is masked: its value when it continues to count."""
    index = [0, 0, 0]
    for _ in range(8):
        index = block.taken_over("s1_index_q", {"s1_index_q": index, "packets_in_i": [0] * len(block.bits("packets_in_i")),
                                                 "packets_in_valid_i": [block.one]})
    return index


def prove(block, fields, width, size, first):
    """A beat of `size` bytes; `first`: of a packet, so that the registers start empty."""
    one = block.one
    data = [1 << j for j in range(width)]
    registers = {"icrc": [1 << width + j for j in range(32)], "vcrc": [1 << width + 32 + j for j in range(16)]}

    def beat(**values):
        bits = [None] * sum(count for _, count in fields.values())
        for name, number in values.items():
            at, count = fields[name]
            bits[at:at + count] = [one if number >> i & 1 else 0 for i in range(count)]
        return bits

    cleared = block.taken_over("s1_data_q", {"packets_in_i": beat(bytes=size, last=int(size < width // 8)),
                                             "packets_in_data_i": data})
    given = {"s1_data_q": cleared, "s1_q": beat(first=0), "s1_index_q": far(block)}
    added = {"s2_q": beat(first=int(first))}
    for crc in CRCS:
        added[f"s2_{crc}_q"] = block.taken_over(f"s2_{crc}_q", given)
        added[f"s3_{crc}_q"] = registers[crc]
    back = {"s3_q": beat(bytes=size)}
    for crc in CRCS:
        back[f"s3_{crc}_q"] = block.taken_over(f"s3_{crc}_q", added)
    for crc, (bits, polynomial) in CRCS.items():
        before = [0] * bits if first else registers[crc]
        if block.taken_over(f"s4_{crc}_q", back) != bit_serial(before, data[:8 * size], polynomial):
            sys.exit(f"prove_crc: {crc}, {width} bits, a {'first ' if first else ''}beat of {size} bytes: not the bit-serial "
                     "definition")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    widths = [int(text) for text in sys.argv[2:]] or [256, 512]
    if not {256, 512}.issuperset(widths):
        sys.exit(f"prove_crc: widths are 256 and 512, not {' '.join(sys.argv[2:])}")
    sys.setrecursionlimit(100_000)
    fields = side_band(root)
    steps = vectors = gates = 0
    for width in widths:
        with tempfile.TemporaryDirectory() as name:
            block = Block(netlist(root, pathlib.Path(name), width), 1 << width + 48)
        gates += len(block.driver)
        for size in range(1, width // 8 + 1):
            for first in (False, True):
                prove(block, fields, width, size, first)
                steps += len(CRCS)
                vectors += len(CRCS) * (width + 1) + (0 if first else sum(bits for bits, _ in CRCS.values()))
    print(f"prove_crc: {steps} steps of rtl/icrc/icrc.sv are the bit-serial definition on {vectors} vectors (all basis vectors and "
          f"zero); its netlists have {gates} gates")


if __name__ == "__main__":
    main()
