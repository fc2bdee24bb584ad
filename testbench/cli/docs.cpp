// SPDX-License-Identifier: Apache-2.0
// hca docs: the documents that are made from tables.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>

#include "testbench/cli/commands.h"
#include "testbench/generated_pages/device_doc.h"
#include "testbench/generated_pages/protocol_docs.h"
#include "testbench/generated_pages/timing_doc.h"
#include "testbench/text/text_file.h"

namespace hca::cli {
namespace {

struct Document {
  std::string_view file;
  std::string (*text)();
};

constexpr std::array kDocuments{
    Document{"device.md", testbench::device_document},
    Document{"headers.md", testbench::headers_document},
    Document{"knobs.md", testbench::timing_knob_table},
    Document{"opcodes.md", testbench::opcodes_document},
    Document{"packet_rules.md", testbench::packet_rules_document},
    Document{"syndromes.md", testbench::syndromes_document},
};

void write(const Document& document, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / document.file;
  testbench::write_text_file(
      path.string(),
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<!-- Made by `hca docs --out docs/generated`: change the tables, not this file. -->\n" +
          document.text());
  fmt::print("{}\n", path.string());
}

int write_all(const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const Document& document : kDocuments) write(document, folder);
  return kSucceeded;
}

}  // namespace

void add_docs(CLI::App& command, int& exit_code) {
  auto folder = std::make_shared<std::string>();
  command.add_option("--out", *folder, "the folder to write them to")->required();
  command.callback([folder, &exit_code] { exit_code = write_all(*folder); });
}

}  // namespace hca::cli
