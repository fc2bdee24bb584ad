// SPDX-License-Identifier: Apache-2.0
// Any bytes as text with packets: they give frames, or a line that is refused. Each frame is opened
// under every layer with which it may begin.
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

#include "testbench/fuzz/shared/device.h"
#include "testbench/packets/opened_frame.h"
#include "testbench/packets/packet_listing.h"

using namespace hca;
using namespace hca::testbench;

namespace {
constexpr proto::Layer kBeginnings[]{proto::Layer::Ethernet, proto::Layer::Lrh, proto::Layer::Ip,
                                     proto::Layer::Udp,      proto::Layer::Bth, proto::Layer::Sll,
                                     proto::Layer::Loopback, proto::Layer::Gre};
constexpr u32 kCut = 40;  // bytes of a frame that a capture has less

void look_at(const TextFrame& frame, proto::Layer begins, u32 missing) {
  SourceFrame source{"text", 1, false, {}};
  source.captured.bytes = frame.bytes;
  source.captured.bytes_on_wire = u32(frame.bytes.size()) + missing;
  source.captured.begins = begins;
  const FrameReport report(source);
  for (const proto::HeaderPlace& place : report.dissection)
    fuzz::require(place.offset + place.header->bytes <= frame.bytes.size());
  fuzz::require(!one_line(report).empty() && !listing(report, 64).empty());
  fuzz::require(!to_json(report).dump().empty());
  const DeviceFrame device = device_frame(source.captured);
  fuzz::require(device.other.empty() == !device.bytes.empty());
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  constexpr std::size_t kLookedAt = 4;
  try {
    std::vector<TextFrame> frames =
        frames_of_text(std::string(reinterpret_cast<const char*>(data), size), HexLink::Auto);
    if (frames.size() > kLookedAt) frames.resize(kLookedAt);
    for (const TextFrame& frame : frames)
      for (const proto::Layer begins : kBeginnings)
        for (const u32 missing : {0u, kCut}) look_at(frame, begins, missing);
  } catch (const TextError& error) {
    fuzz::require(error.line >= 1);
  }
  return 0;
}
