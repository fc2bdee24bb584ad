#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The checks of this folder, given what they must find and what they must let pass."""
import pathlib
import unittest

import check_layers
import check_manual
import check_pages
import check_requirements
import check_tree
import mistake_form
import mistaken_rtl
import mistaken_wakeups
import write_mistakes

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


    def test_the_classes_of_a_header_are_found(self):
        text = ("namespace hca::proto {\nstruct Aeth {\n  struct Inner {};\n};\nclass Ring : public Base {\n};\nstruct Later;\n"
                "template <>\nstruct Layout<Aeth> {\n};\n}\n")
        self.assertEqual(list(check_tree.classes(text)), [(2, "hca::proto::Aeth"), (5, "hca::proto::Ring")])


class Pages(unittest.TestCase):
    PAGES = {"README.md": "# A\n", "docs/a.md": "# A\n## How far, `b`?\n```\n# no heading\n```\n"}

    def test_links_to_what_is_there_pass(self):
        text = "[a](a.md) [a](../README.md#a) [b](a.md#how-far-b) [x](https://x.y/z) [c](#here)\n# Here\n"
        pages = self.PAGES | {"docs/b.md": text}
        self.assertEqual(list(check_pages.dead_links("docs/b.md", text, pages, set(pages))), [])

    def test_dead_links_are_found(self):
        text = "[a](b.md)\n[a](README.md)\n[a](a.md#no-heading)\n```\n[a](b.md)\n```\n"
        found = check_pages.dead_links("docs/c.md", text, self.PAGES, set(self.PAGES))
        self.assertEqual([line for line, _ in found], [1, 2, 3])

    def test_long_cells_and_pages_are_found(self):
        row = "| a | {} | `x \\| y` |\n"
        good, bad = row.format(" ".join(["w"] * 30)), row.format(" ".join(["w"] * 31))
        whats = [what for _, what in check_pages.long_parts("docs/a.md", good + bad + "```\n" + bad + "```\n")]
        self.assertEqual(len(whats), 1)
        self.assertIn("31 words", whats[0])
        self.assertEqual(list(check_pages.long_parts("docs/results/a.md", bad)), [])
        page, most = next(iter(check_pages.LIMITS.items()))
        self.assertEqual(list(check_pages.long_parts(page, "w " * most)), [])
        self.assertEqual(len(list(check_pages.long_parts(page, "w " * (most + 1)))), 1)


class Manual(unittest.TestCase):
    def test_commands_and_what_they_print_are_found(self):
        page = "```sh\na\n```\ntext\n```\nb\n```\n```cpp\nc\n```\n```sh\nd\n```\n"
        self.assertEqual(check_manual.blocks_of(page), [("a\n", "b\n"), ("d\n", None)])

    def test_only_what_installs_or_builds_the_program_is_left_out(self):
        script = check_manual.script_of([("scripts/demo.sh  # once\nbuild/release/hca run /tmp/hca-manual/a\ncmake --build build/package\n", None)], "/b", "/f")
        self.assertIn("/b/hca run /f/a\n", script)
        self.assertNotIn("demo", script)
        self.assertNotIn("cmake", script)

    def test_lines_that_are_not_printed_are_found(self):
        printed = "one\ntwo 2.5 us\nthree  \n"
        for shown in ("one\nthree\n", "one\n...\nthree\n", "two ... us\n...\n"):
            self.assertIsNone(check_manual.missing_line(shown, printed), shown)
        for shown in ("three\none\n", "two\n", "on\n", "one\none\n"):
            self.assertIsNotNone(check_manual.missing_line(shown, printed), shown)


class Layers(unittest.TestCase):
    def test_a_layer_may_include_what_stands_left(self):
        for path, kind, header in (
                ("model/blocks/port/port_receive.cpp", '"', "model/proto/wire/headers.h"), ("model/systemc/hca.h", "<", "systemc"),
                ("tlm/wire/wire.h", '"', "model/systemc/hca.h"), ("testbench/cli/run.cpp", '"', "rtl/icrc.h"),
                ("model/proto/wire/crc.cpp", "<", "isa-l/crc.h"), ("testbench/tests/proto/psn.cpp", "<", "catch2/catch.hpp"),
                ("testbench/scenario/scenario.h", '"', "testbench/host/host_cpu.h"), ("testbench/testbed/testbed.h", "<", "systemc"),
                ("testbench/tests/run/run_test.cpp", '"', "testbench/report/report.h"),
                ("testbench/tests/system/query_test.cpp", '"', "testbench/tests/functional/functional_pair.h")):
            self.assertIsNone(check_layers.breach_of_include(path, kind, header), (path, header))

    def test_an_include_to_the_right_is_found(self):
        for path, kind, header in (
                ("model/proto/transport/psn.h", '"', "model/engine/cycle.h"), ("model/engine/link.h", '"', "model/blocks/port/port.h"),
                ("model/blocks/port/port.h", '"', "model/systemc/hca.h"), ("model/systemc/hca.h", '"', "tlm/wire/wire.h"),
                ("tlm/wire/wire.h", '"', "testbench/host.h"), ("model/blocks/port/port.h", "<", "systemc"),
                ("model/engine/link.h", "<", "tlm_utils/simple_target_socket.h"), ("model/proto/transport/psn.h", "<", "fmt/format.h"),
                ("model/proto/transport/psn.h", "<", "isa-l/crc.h"), ("testbench/tests/proto/psn.cpp", '"', "model/engine/cycle.h"),
                ("model/proto/transport/psn.h", '"', "types.h"), ("tlm/wire/wire.h", "<", "testbench/host.h")):
            self.assertIsNotNone(check_layers.breach_of_include(path, kind, header), (path, header))

    def test_an_include_to_the_right_inside_of_the_test_bench_is_found(self):
        for path, kind, header in (
                ("testbench/host/endpoint.h", '"', "testbench/scenario/traffic.h"), ("testbench/scenario/scenario.h", '"', "testbench/testbed/testbed.h"),
                ("testbench/run/run.h", '"', "testbench/report/report.h"), ("testbench/report/report.cpp", '"', "testbench/tests/run_text.h"),
                ("testbench/text/json_at.cpp", '"', "model/engine/cycle.h"), ("testbench/host/verbs.cpp", "<", "systemc"),
                ("testbench/tests/blocks/pair.h", '"', "testbench/host/verbs.h"),
                ("testbench/tests/functional/functional_pair.h", '"', "testbench/tests/system/malice/bench.h"),
                ("testbench/new_folder/file.h", '"', "model/proto/types.h"), ("testbench/cli/run.cpp", '"', "testbench/new_folder/file.h"),
                ("testbench/tests/new_folder/file.cpp", '"', "testbench/tests/run_text.h")):
            self.assertIsNotNone(check_layers.breach_of_include(path, kind, header), (path, header))

    def test_a_block_that_includes_another_one_is_found(self):
        part = "model/blocks/receive/responder_execute/outcomes.h"
        for path, header in (
                ("model/blocks/send/doorbell.h", "model/blocks/send/qp_scheduler.h"), ("model/blocks/port/port_receive.cpp", "model/blocks/completion/event.h"),
                ("model/blocks/send/requester/requester.h", part), ("model/blocks/command.h", part), ("model/blocks/memory/dma.cpp", "model/blocks/command.h")):
            self.assertIsNotNone(check_layers.breach_of_block(path, header), (path, header))
        for path, header in (
                ("model/blocks/chip.h", "model/blocks/send/doorbell.h"), ("model/blocks/send/doorbell.cpp", "model/blocks/send/doorbell.h"),
                ("model/blocks/port/port_receive.cpp", "model/blocks/receive/responder_check.h"), ("model/blocks/send/doorbell.h", "model/blocks/items.h"),
                ("model/blocks/receive/responder_execute/answer_order.cpp", part), ("model/systemc/hca.h", "model/blocks/command.h"),
                ("model/blocks/send/requester/requester.cpp", "model/blocks/memory/protection.h")):
            self.assertIsNone(check_layers.breach_of_block(path, header), (path, header))

    def test_folders_that_include_each_other_are_found(self):
        graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}
        self.assertEqual(check_layers.cycles_of(graph), {frozenset("bc")})
        self.assertEqual(check_layers.cycles_of(graph | {"c": {"d"}}), set())

    def test_symbols_and_libraries_of_systemc_are_found(self):
        symbols = ["U sc_core::sc_module::sc_module()", "T hca::proto::crc32(unsigned)", "U tlm::tlm_generic_payload::f()"]
        self.assertEqual(len(check_layers.systemc_parts(symbols, ["NEEDED [libsystemc.so]", "NEEDED [libc.so.6]"])), 3)


class Requirements(unittest.TestCase):
    ROW = ["C9-1", "C9-1", "chapter", "9.2", "RC;UC", "both", "CA", "any", "active", "ordering", "It holds.", "packet bytes", "chapter 9.2", ""]
    HEADER = ",".join(check_requirements.COLUMNS) + "\n"

    def whats(self, *rows):
        found = check_requirements.read_rows(self.HEADER + "".join(rows))[1]
        return [f"{line}: {what}" for line, what in found]

    def row(self, **changed):
        fields = dict(zip(check_requirements.COLUMNS, self.ROW)) | changed
        fields["ibta"] = changed.get("ibta", fields["id"])
        return ",".join(fields.values()) + "\n"

    def written(self, text, *rows):
        edits = [mistake_form.edit_of("rows.toml", name, row | {"file": "model/a.h"}, text, write_mistakes.switch_of) for name, row in rows]
        return mistake_form.text_with(text, edits)

    def test_a_copy_with_mistakes(self):
        text = "int f(int a) {\n  g(a);  // why\n  return a + 1;\n}\nint h(int a) { return a; }\n"
        on = '::hca::mutants::is_on<"{}">()'.format
        self.assertEqual(self.written(text, ("x", {"tokens": "a + 1", "replacement": "a"})),
                         text.replace("a + 1", f"({on('x')} ? (a) : (a + 1))"))
        self.assertEqual(self.written(text, ("x", {"tokens": "g(a); return a + 1;", "part": "g(a);", "replacement": ""})),
                         text.replace("g(a);", f"{{ if ({on('x')}) {{  }} else {{ g(a); }} }}"))
        self.assertEqual(self.written(text, ("x", {"in": "int h(int a)", "before": "return a", "replacement": "++a;"})),
                         text.replace("return a;", f"{{ if ({on('x')}) {{ ++a; }} }}\nreturn a;"))
        inner = f"(!{on('y')} && (a))"
        self.assertEqual(self.written(text, ("x", {"tokens": "a + 1", "replacement": "0"}),
                                      ("y", {"tokens": "a + 1", "part": "a", "replacement": "false"})),
                         text.replace("a + 1", f"({on('x')} ? (0) : ({inner} + 1))"))
        self.assertEqual(self.written(text, (None, {"tokens": "a + 1", "replacement": "wrong($)"})),
                         text.replace("a + 1", "wrong(a + 1)"))
        for rows in ([("x", {"tokens": "return a", "replacement": ""})], [("x", {"tokens": "a + 2", "replacement": ""})],
                     [("x", {"tokens": "g(a); return a", "replacement": ""}), ("y", {"tokens": "a + 1", "replacement": ""})]):
            with self.assertRaises(mistake_form.Refused):
                self.written(text, *rows)

    def test_an_rtl_block_with_mistakes(self):
        text = "module two\n  input  clk_i,\n  q_q <= {a, 1'b0};\n  one #(\n      .Width(1)\n  ) u_one (.clk_i(clk_i));\nendmodule\n"
        row = {"file": "rtl/two.sv", "tokens": "q_q <= {a, 1'b0}", "part": "{a, 1'b0}", "replacement": "q_q"}
        edit = mistake_form.edit_of("two.toml", "x", row, text, lambda *_: "mutant_i == 8'd1", mistake_form.RtlEdit)
        self.assertIn("q_q <= (mutant_i == 8'd1 ? (q_q) : ({a, 1'b0}));", mistake_form.text_with(text, [edit]))
        self.assertTrue(mistaken_rtl.instances("rtl/one/one.sv").search(text))
        self.assertFalse(mistaken_rtl.instances("rtl/ne/ne.sv").search(text))
        statement = mistake_form.RtlEdit("x", 0, 6, "", "two.toml")
        with self.assertRaises(mistake_form.Refused):
            statement.says_statement("a = b;")

    def test_wakeups_are_found(self):
        text = ("void Dma::tick() {\n  if (a) wake_at(b(1) + 1);  // wake() again\n  // wake()\n  out->wake_when_free();\n"
                "  out->wake_when_free();\n}\n")
        edits = mistaken_wakeups.calls(text, "model/blocks/memory/dma.cpp")
        self.assertEqual([edit.name for edit in edits], ["dma.cpp tick: wake_at(b(1) + 1)", "dma.cpp tick: out->wake_when_free()",
                                                         "dma.cpp tick: out->wake_when_free() (2)"])
        self.assertIn('if (a) (::hca::mutants::is_removed("dma.cpp tick: wake_at(b(1) + 1)") ? (void()) : (wake_at(b(1) + 1)));',
                      mistake_form.text_with(text, edits))
        chip = ('turns.connect(a.self, "turns");\nlink.connect(dma.self, b.self, "payload");\nlink.connect(b.self, c.self, "packets");\n'
                'of[i].buffers.connect(a.self, name("buffers"));\nconstexpr std::string_view kMissesName = " misses";\n')
        self.assertEqual(mistaken_wakeups.named(chip), ["taker of *'s buffers", "taker of * misses", "taker of turns", "reader of payload",
                                                        "reader of packets", "writer of packets", "taker of buffers"])

    def test_the_model_knows_no_mistakes(self):
        self.assertTrue(check_layers.knows_mistakes("model/proto/psn.h", '#include "testbench/mutants/mistake.h"'))
        self.assertTrue(check_layers.knows_mistakes("tlm/pcie/link.h", "if (kMutants) return;"))
        self.assertFalse(check_layers.knows_mistakes("testbench/mutants/trial.cpp", "Mutant::begin_run();"))

    def test_good_rows_pass(self):
        self.assertEqual(self.whats(self.row(), self.row(id="C9-2", statement='"a ""b"", c"'), self.row(id="C9-3", services="any"),
                                   self.row(id="C9-4", mutant="rule:G2.3;seen")), [])

    def test_a_bad_row_is_found_with_its_line(self):
        for changed, what in (
                ({"group": "chapters"}, "group 'chapters'"), ({"role": "host"}, "role 'host'"), ({"applies": "HCA;TCA"}, "applies"),
                ({"ibta": "C9-7"}, "does not begin with the id"), ({"ibta": "C9-2;C9-2"}, "no list of different"), ({"status": "old"}, "status"), ({"kind": "thing"}, "kind"), ({"services": "RC;ANY"}, "services"),
                ({"services": "RC;RC"}, "services"), ({"framing": "roce;ib"}, "framing"), ({"source": "a file"}, "source"),
                ({"observable": "see the st" + "atement; G1"}, "shows nothing"), ({"observable": ""}, "observable is empty"),
                ({"statement": " It"}, "blanks"), ({"mutant": "\"a\nb\""}, "line break"),
                ({"mutant": "a;a"}, "no list of different"), ({"mutant": "a; b"}, "no list of different")):
            found = self.whats(self.row(), self.row(id="C9-2", **changed))
            self.assertEqual(len(found), 1, found)
            self.assertRegex(found[0], f"^3: .*{what}")

    def test_faults_of_the_format_are_found(self):
        for rows, what in (
                ([self.row(), self.row()], "3: id 'C9-1' occurs twice, first in line 2"),
                ([self.row(statement='a "b" c')], "2: a quote inside a field"), ([self.row(statement='"a" b')], "2: text after"),
                ([self.row(statement='"a')], "2: a quote is not closed"), (["C9-1,chapter\n"], "2: 2 fields instead of 14")):
            self.assertIn(what, self.whats(*rows)[0])
        self.assertIn("1: the columns", "%d: %s" % check_requirements.read_rows("id,group\n")[1][0])

    def test_numbers_that_do_not_exist_are_found(self):
        rows = {"C9-1": {}, "T10-5/RC": {}, "G2.1": {"statement": "x", "line": 7}, "SEND-5": {}}
        rows = {number: {"ibta": ""} | row for number, row in rows.items()}
        rules, tables = "## G2 Rules\n\n* G2.1 y\n\n| C9-105 | rule |\n", "## T10 Errors\n"
        known = check_requirements.Known(rows, rules, tables)
        good = "C9-1, C9-105, G2, G2.1, T10, T10-5, T10-5/RC, SEND-5 to SEND-5, [C9-1] and C99-1x, MT10, A-T10"
        self.assertEqual(list(check_requirements.unknown_numbers(good, known)), [])
        for bad in ("C9-2", "o9-1.a1", "G2.2", "G3", "T9", "T10-6", "T10-5/UC", "SEND-55", "[T17-en" + "try]"):
            self.assertEqual(len(list(check_requirements.unknown_numbers(f"one\n // ({bad})", known))), 1, bad)
        self.assertEqual(list(check_requirements.differences(rows, rules))[0][0], 3)

    def test_what_no_vector_shows_is_listed(self):
        rows = {number: {"status": "active", "applies": "CA", "services": services}
                for number, services in (("C9-1", "RC;UC"), ("C9-2", "any"), ("C9-3", "RD;XRC"), ("C9-4", "UD"))}
        breaches = check_requirements.breaches_of_missing(rows, "statement,missing\nC9-1,Nothing.\nC9-4,All.\n", {"C9-1"})
        self.assertEqual(list(breaches), [(2, "C9-1 has vectors"), (1, "C9-2 has neither vectors nor a row")])


if __name__ == "__main__":
    unittest.main()
