// SPDX-License-Identifier: Apache-2.0
// hca decode: packets of capture files and hex text, field by field.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>

#include "testbench/cli/commands.h"
#include "testbench/packets/packet_listing.h"

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
  std::map<std::string, u64> not_judged;  // by what they are
  u64 frames = 0, judged = 0, without_icrc = 0, bad_fcs = 0, bad_icrc = 0, bad_vcrc = 0, broken = 0,
      remarked = 0, cut = 0;
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
  totals.judged += report.is_judged();
  if (!report.is_judged()) ++totals.not_judged[report.other()];
  totals.without_icrc += report.is_judged() && !report.dissection.has_network;
  totals.bad_fcs += report.fcs_bytes && !report.fcs_is_good;
  totals.bad_icrc += report.dissection.has_icrc && !report.dissection.icrc_is_good;
  totals.bad_vcrc += report.dissection.has_icrc &&
                     proto::is_native(report.dissection.packet.framing) &&
                     !report.dissection.vcrc_is_good;
  totals.cut += report.is_cut();
  totals.broken += report.count(proto::Grade::Broken) > 0;
  totals.remarked += report.count(proto::Grade::Remark) > 0;
}

// "12 not judged (ARP 3, TCP 9)"
std::string not_judged_text(const Totals& totals) {
  std::string kinds;
  for (const auto& [kind, count] : totals.not_judged)
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind, count);
  return fmt::format("{} not judged{}", totals.frames - totals.judged,
                     kinds.empty() ? "" : " (" + kinds + ")");
}

std::string summary_of(const Totals& t) {
  std::string text = fmt::format(
      "{} frames: {}, {} with a wrong ICRC, {} with a wrong VCRC, {} that break rules, {} with "
      "remarks",
      t.frames, not_judged_text(t), t.bad_icrc, t.bad_vcrc, t.broken, t.remarked);
  struct {
    u64 count;
    std::string_view what;
  } const seldom[] = {{t.cut, "cut by the capture"},
                      {t.without_icrc, "whose ICRC cannot be checked"},
                      {t.bad_fcs, "with a wrong FCS"}};
  for (const auto& [count, what] : seldom)
    if (count) text += fmt::format(", {} {}", count, what);
  return text + (t.judged == 0 ? "; nothing was judged" : "");
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
  fmt::print("{}\n", summary_of(totals));
  const bool strict = options.strict || options.pedantic;
  const bool failed =
      totals.judged == 0 || totals.broken > 0 || (options.pedantic && totals.remarked > 0);
  return strict && failed ? kCheckFailed : kSucceeded;
}

}  // namespace

void add_decode(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<DecodeArguments>();
  command
      .add_option("input", options->inputs,
                  "capture files (pcap, pcapng, packed by gzip, zstd or xz), files of text with "
                  "packets (dumps of "
                  "xxd, hexdump -C, tcpdump -x, -xx and Wireshark, arrays and strings of programs, "
                  "hex digits in one line a packet or several), - for such a file on standard "
                  "input, or hex digits")
      ->required();
  command.add_option("--json", options->json_path,
                     "also write the same content as JSON to this file");
  command
      .add_option("--link", options->link,
                  "where packets of text begin: auto, ethernet, infiniband (LRH), ip, udp or bth; "
                  "capture files say it themselves")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, HexLink>{{"auto", HexLink::Auto},
                                         {"ethernet", HexLink::Ethernet},
                                         {"infiniband", HexLink::InfiniBand},
                                         {"ip", HexLink::Ip},
                                         {"udp", HexLink::Udp},
                                         {"bth", HexLink::Bth}}))
      ->option_text("LINK");
  command
      .add_option("--payload", options->payload_bytes, "bytes of each payload to show (default 64)")
      ->check(CLI::Range(std::size_t{0}, testbench::kMaxRecordBytes));
  command.add_flag("--brief", options->brief, "one line for each packet");
  command.add_flag("--strict", options->strict,
                   "exit with 1 if a packet breaks a rule (a must), or none could be judged");
  command.add_flag("--pedantic", options->pedantic,
                   "exit with 1 for remarks too (recommendations, reserved bits)");
  command.callback([options, &exit_code] { exit_code = decode(*options); });
}

}  // namespace hca::cli
