// SPDX-License-Identifier: Apache-2.0
// What `hca decode` shows: the specification's sample packet, by the values that were read from it
// by hand.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "model/proto/wire/print.h"
#include "testbench/packets/packet_listing.h"

using namespace hca;
using namespace hca::testbench;

namespace {

// T2, vector 1: VL 7, SL 1, DLID 375C, SLID 17D2; RC RDMA WRITE Only; 14 bytes and 2 of
// pad.
const std::string kSample =
    "70 12 37 5C 00 0E 17 D2 0A 20 24 87 00 87 B1 B3 00 0D EC 2A 01 71 0A 1C 01 5D 40 02 38 F2 7A "
    "05"
    "00 00 00 0E BB 88 4D 85 FD 5C FB A4 72 8B C0 69 0E D4 00 00 96 25 B7 5A 45 FA";

std::vector<SourceFrame> frames_of(const std::vector<std::string>& arguments,
                                   HexLink link = HexLink::Auto) {
  std::vector<SourceFrame> frames;
  for_each_frame(arguments, link, [&](const SourceFrame& frame) { frames.push_back(frame); });
  return frames;
}
std::string error_of(const std::vector<std::string>& arguments) {
  try {
    frames_of(arguments);
    return "read";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() / ("hca_hex_" + std::to_string(getpid())))
                  .string()) {
    std::ofstream(path_) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("a packet is listed field by field with its CRCs", "[decode][T2]") {
  const std::vector<SourceFrame> frames = frames_of({kSample});
  REQUIRE(frames.size() == 1);
  const FrameReport report(frames[0]);
  const std::vector<std::string> lines = lines_of(listing(report, 64));
  const auto has = [&](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  CHECK(lines[0] == "hex frame 1  58 bytes");
  CHECK(lines[1] ==
        "IB local  LID 6098 > 14172  RC RDMA WRITE Only  QP 0x87B1B3  PSN 912426  14 B");
  CHECK(has("LRH at 0"));
  CHECK(has("     0.7  VL                  7"));
  CHECK(has("     1.1  LNH                 2  IBA local"));
  CHECK(has("BTH at 8"));
  CHECK(has("       8  OpCode              0x0A  RC RDMA WRITE Only"));
  CHECK(has("     9.5  PadCnt              2"));
  CHECK(has("      17  PSN                 0x0DEC2A (912426)"));
  CHECK(has("      20  VA                  0x01710A1C015D4002"));
  CHECK(has("      32  DMALen              14"));
  CHECK(has("payload at 36: 14 bytes and 2 of pad"));
  CHECK(has("ICRC at 52: 96 25 B7 5A  good"));
  CHECK(has("VCRC at 56: 45 FA  good"));
  CHECK(report.broken.empty());
}

TEST_CASE("wrong CRCs and broken rules are said with the right value and the statement",
          "[decode][T12-1]") {
  std::string changed = kSample;
  changed.replace(changed.find("00 0D EC 2A"), 2, "40");  // Resv7 of the BTH
  const std::vector<SourceFrame> frames = frames_of({changed});
  const FrameReport report(frames[0]);
  const std::string text = listing(report, 0);
  CHECK(text.find("ICRC at 52: 96 25 B7 5A  WRONG, should be ") != std::string::npos);
  CHECK(text.find("VCRC at 56: 45 FA  WRONG, should be ") != std::string::npos);
  CHECK(text.find("REMARK C9-7     BTH.Resv7 is not 0\n") != std::string::npos);
  CHECK(text.find("BROKEN T12-1    the ICRC is wrong\n") != std::string::npos);
  CHECK(text.find("  16.6  Resv7               0x40\n") != std::string::npos);
  const auto json = to_json(report);
  CHECK(json["icrc"]["good"] == false);
  CHECK(json["broken_rules"].size() == 2);
  REQUIRE(json["remarks"].size() == 1);
  CHECK(json["remarks"][0]["statement"] == "C9-7");
}

TEST_CASE("the JSON has the same content by field name", "[decode]") {
  const std::vector<SourceFrame> frames = frames_of({kSample});
  const auto json = to_json(FrameReport(frames[0]));
  CHECK(json["verdict"] == "good");
  CHECK(json["service"] == "RC");
  CHECK(json["opcode"] == "RDMA WRITE Only");
  REQUIRE(json["headers"].size() == 3);
  CHECK(json["headers"][0]["header"] == "LRH");
  CHECK(json["headers"][0]["fields"]["DLID"] == 0x375C);
  CHECK(json["headers"][1]["offset"] == 8);
  CHECK(json["headers"][1]["fields"]["PSN"] == 0x0DEC2A);
  CHECK(json["headers"][1]["fields"]["Resv6"] == 0);
  CHECK(json["headers"][2]["fields"]["VA"] == 0x01710A1C015D4002);
  CHECK(json["payload"]["bytes"] == 14);
  CHECK(json["payload"]["pad"] == 2);
  CHECK(json["payload"]["hex"] == "bb884d85fd5cfba4728bc0690ed4");
  CHECK(json["icrc"]["bytes"] == "96 25 B7 5A");
  CHECK(json["vcrc"]["good"] == true);
}

TEST_CASE("hex text comes as arguments or as a file with one packet in each line", "[decode]") {
  CHECK(frames_of({"0x70,12:37-5c", "000E"})[0].captured.bytes ==
        std::vector<u8>{0x70, 0x12, 0x37, 0x5C, 0x00, 0x0E});
  const TextFile file("# two packets\n" + kSample + "  # the sample\n\n0102 03\n");
  const std::vector<SourceFrame> frames = frames_of({file.path()});
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].captured.bytes.size() == 58);
  CHECK(frames[0].captured.link == proto::LinkLayer::InfiniBand);
  CHECK(frames[1].captured.bytes == std::vector<u8>{1, 2, 3});
  CHECK(frames_of({kSample}, HexLink::Ethernet)[0].captured.link == proto::LinkLayer::Ethernet);
}

TEST_CASE("input that cannot be read says what and where", "[decode]") {
  CHECK(error_of({"absent.pcap"}) == "absent.pcap: no such file, and no hex digits either");
  CHECK(error_of({"123"}) == "hex digits: odd number of hex digits");
  const TextFile bad("00 01\n02 0g\n");
  CHECK(error_of({bad.path()}) ==
        bad.path() + " is no capture file, and as hex text, line 2: 'g' is no hex digit");
  const TextFile empty("# nothing\n");
  CHECK(error_of({empty.path()}) == empty.path() + ": holds no frame");
  CHECK(error_of({"/"}) == "/: is a directory");
}

TEST_CASE("addresses are written as people write them", "[decode]") {
  using proto::gid_text;
  const auto text = [](std::array<u8, 16> bytes) { return gid_text(bytes.data()); };
  CHECK(text({0xFE, 0x80, 0, 0, 0, 0, 0, 0, 2, 2, 0xC9, 0xFF, 0xFE, 0, 0, 1}) ==
        "fe80::202:c9ff:fe00:1");
  CHECK(text({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1}) == "::ffff:10.0.0.1");
  CHECK(text({}) == "::");
  CHECK(text({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) == "::1");
  CHECK(text({0x20, 1, 0x0D, 0xB8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}) == "2001:db8:0:1::");
  CHECK(text({0x20, 1, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6}) == "2001:0:1:2:3:4:5:6");
  CHECK(proto::mac_text(0x0200C0FFEE01) == "02:00:c0:ff:ee:01");
  CHECK(proto::ipv4_text(0xC0000201) == "192.0.2.1");
}
