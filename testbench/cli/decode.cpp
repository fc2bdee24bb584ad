// SPDX-License-Identifier: Apache-2.0
// hca decode: packets of capture files and hex text, field by field.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>

#include "testbench/cli/commands.h"
#include "testbench/packet_listing.h"

namespace hca::cli {
namespace {

using testbench::FrameReport;
using testbench::HexLink;
using testbench::SourceFrame;

struct DecodeArguments {
  std::vector<std::string> inputs;
  std::string json_path;
  HexLink link = HexLink::Auto;
  std::size_t payload_bytes = 64;
  bool brief = false;
  bool strict = false, pedantic = false;
};

struct Totals {
  u64 frames = 0, foreign = 0, bad_icrc = 0, bad_vcrc = 0, broken = 0, remarked = 0, cut = 0;
};

// Writes the reports as one JSON array, frame by frame.
class JsonFile {
 public:
  explicit JsonFile(const std::string& path) : path_(path) {
    if (path.empty()) return;
    file_.open(path);
    if (!file_) throw std::runtime_error(path + ": cannot be written");
    file_ << "[";
  }
  void add(const FrameReport& report) {
    if (path_.empty()) return;
    file_ << (first_ ? "\n" : ",\n") << to_json(report).dump(1);
    first_ = false;
  }
  void close() {
    if (path_.empty()) return;
    file_ << "\n]\n";
    file_.close();
    if (!file_) throw std::runtime_error(path_ + ": could not be written whole");
  }

 private:
  std::string path_;
  std::ofstream file_;
  bool first_ = true;
};

void count(const FrameReport& report, Totals& totals) {
  ++totals.frames;
  totals.foreign += report.is_foreign();
  totals.bad_icrc += report.dissection.has_icrc && !report.dissection.icrc_is_good;
  totals.bad_vcrc += report.dissection.has_icrc &&
                     proto::is_native(report.dissection.packet.framing) &&
                     !report.dissection.vcrc_is_good;
  totals.cut += report.is_cut();
  totals.broken += report.count(proto::Grade::Broken) > 0;
  totals.remarked += report.count(proto::Grade::Remark) > 0;
}

int decode(const DecodeArguments& options) {
  JsonFile json(options.json_path);
  Totals totals;
  testbench::for_each_frame(options.inputs, options.link, [&](const SourceFrame& frame) {
    const FrameReport report(frame);
    count(report, totals);
    fmt::print("{}",
               options.brief ? one_line(report) : listing(report, options.payload_bytes) + "\n");
    json.add(report);
  });
  json.close();
  fmt::print(
      "{} frames: {} of other protocols, {} with a wrong ICRC, {} with a wrong VCRC, {} that break "
      "rules, {} with remarks{}\n",
      totals.frames, totals.foreign, totals.bad_icrc, totals.bad_vcrc, totals.broken,
      totals.remarked, totals.cut ? fmt::format(", {} cut by the capture", totals.cut) : "");
  const bool strict = options.strict || options.pedantic;
  const bool failed = totals.broken > 0 || (options.pedantic && totals.remarked > 0);
  return strict && failed ? kCheckFailed : kSucceeded;
}

}  // namespace

void add_decode(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<DecodeArguments>();
  command
      .add_option("input", options->inputs,
                  "capture files (pcap, pcapng), files with one packet of hex digits in each "
                  "line, - for such a file on standard input, or hex digits")
      ->required();
  command.add_option("--json", options->json_path,
                     "also write the same content as JSON to this file");
  command.add_option("--link", options->link, "how hex digits begin: auto, ethernet or infiniband")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, HexLink>{{"auto", HexLink::Auto},
                                         {"ethernet", HexLink::Ethernet},
                                         {"infiniband", HexLink::InfiniBand}}))
      ->option_text("LINK");
  command
      .add_option("--payload", options->payload_bytes, "bytes of each payload to show (default 64)")
      ->check(CLI::Range(std::size_t{0}, testbench::kMaxRecordBytes));
  command.add_flag("--brief", options->brief, "one line for each packet");
  command.add_flag("--strict", options->strict, "exit with 1 if a packet breaks a rule (a must)");
  command.add_flag("--pedantic", options->pedantic,
                   "exit with 1 for remarks too (recommendations, reserved bits)");
  command.callback([options, &exit_code] { exit_code = decode(*options); });
}

}  // namespace hca::cli
