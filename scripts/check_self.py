#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The checks of this folder, given what they must find and what they must let pass."""
import pathlib
import unittest

import check_layers
import check_tree

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def text_breaches(name, text):
    return [what for _, what in check_tree.breaches_of_text(pathlib.PurePath(name), text)]


class Tree(unittest.TestCase):
    def test_a_good_file_passes(self):
        self.assertEqual(text_breaches("model/a.h", SPDX + "#pragma once\n"), [])

    def test_a_file_without_spdx_line_is_found(self):
        self.assertIn("no line", text_breaches("model/a.h", "#pragma once\n")[0])
        self.assertEqual(text_breaches("vectors/a.json", "{}\n"), [])

    def test_words_and_paths_are_found(self):
        for line in ("// TO" + "DO: more", "see /ho" + "me/someone/x", "is not impl" + "emented", "as is" + "sue 7 says"):
            self.assertEqual(len(text_breaches("model/a.h", SPDX + line + "\n")), 1, line)
        self.assertEqual(text_breaches("model/a.h", SPDX + "// the initiation issue rate is 1\n"), [])

    def test_a_long_file_a_blank_and_a_missing_newline_are_found(self):
        self.assertEqual(text_breaches("model/a.h", SPDX + "\n" * 400)[0], "longer than 400 lines")
        self.assertEqual(len(text_breaches("model/a.h", SPDX + "int a; \n")), 1)
        self.assertEqual(len(text_breaches("model/a.h", SPDX + "int a;")), 1)


class Layers(unittest.TestCase):
    def test_a_layer_may_include_what_stands_left(self):
        for path, kind, header in (
                ("model/blocks/port.cpp", '"', "model/proto/headers.h"), ("model/hca.h", "<", "systemc"),
                ("tlm/wire.h", '"', "model/hca.h"), ("testbench/cli/run.cpp", '"', "rtl/icrc.h"),
                ("model/proto/crc.cpp", "<", "isa-l/crc.h"), ("testbench/tests/proto/psn.cpp", "<", "catch2/catch.hpp")):
            self.assertIsNone(check_layers.breach_of_include(path, kind, header), (path, header))

    def test_an_include_to_the_right_is_found(self):
        for path, kind, header in (
                ("model/proto/psn.h", '"', "model/engine/cycle.h"), ("model/engine/link.h", '"', "model/blocks/port.h"),
                ("model/blocks/port.h", '"', "model/hca.h"), ("model/hca.h", '"', "tlm/wire.h"),
                ("tlm/wire.h", '"', "testbench/host.h"), ("model/blocks/port.h", "<", "systemc"),
                ("model/engine/link.h", "<", "tlm_utils/simple_target_socket.h"), ("model/proto/psn.h", "<", "fmt/format.h"),
                ("model/proto/psn.h", "<", "isa-l/crc.h"), ("testbench/tests/proto/psn.cpp", '"', "model/engine/cycle.h"),
                ("model/proto/psn.h", '"', "types.h"), ("tlm/wire.h", "<", "testbench/host.h")):
            self.assertIsNotNone(check_layers.breach_of_include(path, kind, header), (path, header))

    def test_symbols_and_libraries_of_systemc_are_found(self):
        symbols = ["U sc_core::sc_module::sc_module()", "T hca::proto::crc32(unsigned)", "U tlm::tlm_generic_payload::f()"]
        self.assertEqual(len(check_layers.systemc_parts(symbols, ["NEEDED [libsystemc.so]", "NEEDED [libc.so.6]"])), 3)


if __name__ == "__main__":
    unittest.main()
