// SPDX-License-Identifier: Apache-2.0
// Captured frames as a port sees them, their FCS, and what is said of cut ones.
#include "testbench/packets/opened_frame.h"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "testbench/packets/packet_listing.h"
#include "testbench/tests/proto/hex.h"

using namespace hca;
using namespace hca::testbench;
using proto::Layer;
using test::hex;

namespace {

const std::string kSendIp =
    "450000300001400040 11B6B8C0000201C0000202C40012B7001C0000 0400FFFF0000002000001000DEADBE00"
    "D3FB9233";
const std::string kSendMacs = "02000000000B 02000000000A ";
const std::string kSendFrame = kSendMacs + "0800" + kSendIp;

CapturedFrame captured(const std::string& bytes, Layer begins = Layer::Ethernet) {
  CapturedFrame frame;
  frame.bytes = hex(bytes);
  frame.bytes_on_wire = u32(frame.bytes.size());
  frame.begins = begins;
  return frame;
}
CapturedFrame cut_to(std::size_t bytes) {
  CapturedFrame frame = captured(kSendFrame);
  frame.bytes.resize(bytes);
  return frame;
}
std::string brief(const CapturedFrame& frame) {
  const SourceFrame source{"file", 1, false, frame};
  return one_line(FrameReport(source));
}

}  // namespace

TEST_CASE("a port sees the packet without tunnel, second tag, recorder and FCS",
          "[captures][open]") {
  const std::vector<u8> plain = hex(kSendFrame),
                        tagged = hex(kSendMacs + "8100 6064 0800" + kSendIp);
  CHECK(device_frame(captured(kSendFrame)).bytes == plain);
  CHECK(device_frame(captured(kSendMacs + "8100 6064 0800" + kSendIp)).bytes == tagged);
  CHECK(device_frame(captured(kSendMacs + "88A8 000A 8100 6064 0800" + kSendIp)).bytes == tagged);
  const std::string vxlan =
      "0A0000000001 0A0000000002 0800 45000000 00014000 4011 0000 C6336401 "
      "C6336402 15B3 12B5 00000000 08000000 00002A00";
  CHECK(device_frame(captured(vxlan + kSendFrame)).bytes == plain);
  const DeviceFrame cooked =
      device_frame(captured("0000 0001 0006 02000000000A0000 0800" + kSendIp, Layer::Sll));
  CHECK(cooked.bytes == hex("000000000000 000000000000 0800" + kSendIp));
  CHECK_FALSE(cooked.has_ethernet);
  CHECK(device_frame(captured(kSendMacs + "0806 0001")).other == "ARP");

  CapturedFrame with_fcs = captured(kSendFrame);
  const u32 crc = u32(crc32(0, with_fcs.bytes.data(), uInt(with_fcs.bytes.size())));
  for (unsigned i = 0; i < 4; ++i) with_fcs.bytes.push_back(u8(crc >> 8 * i));
  with_fcs.bytes_on_wire += 4;
  CHECK(fcs_bytes_of(with_fcs) == 4);
  CHECK(device_frame(with_fcs).bytes == plain);
  with_fcs.bytes.back() ^= 1;
  CHECK(fcs_bytes_of(with_fcs) == 0);  // four bytes of padding, unless the capture says otherwise
  with_fcs.fcs_bytes = 4;
  CHECK(device_frame(with_fcs).bytes == plain);
}

TEST_CASE("of a cut frame OpCode, queue pair and PSN are shown as far as they are there",
          "[decode][open]") {
  CHECK(brief(cut_to(56)) ==
        "     1  RoCEv2 IPv4  192.0.2.1 > 192.0.2.2  RC SEND Only  QP 0x000020  PSN 4096  4 B  cut "
        "by the capture\n");
  CHECK(brief(cut_to(53)) == "     1  not judged: cut before its BTH  RC SEND Only  QP 0x000020\n");
  CHECK(brief(cut_to(50)) == "     1  not judged: cut before its BTH  RC SEND Only  QP 0x000020\n");
  CHECK(brief(cut_to(49)) == "     1  not judged: cut before its BTH  RC SEND Only\n");
  CHECK(brief(cut_to(42)) == "     1  not judged: cut before its BTH\n");
  for (const std::size_t bytes : {56u, 50u, 42u, 40u, 20u}) {
    INFO(bytes);
    const SourceFrame source{"file", 1, false, cut_to(bytes)};
    const FrameReport report(source);
    CHECK(report.is_cut());
    CHECK(report.broken.empty());
    CHECK(to_json(report)["cut"] == true);
  }
}
