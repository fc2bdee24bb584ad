// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/random_packets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hca::testbench {
namespace {
proto::Gid random_gid(engine::Random& random) {
  proto::Gid gid;
  for (u8& b : gid.bytes) b = u8(random());
  return gid;
}

}  // namespace

std::vector<u8> random_bytes(engine::Random& random, std::size_t size) {
  std::vector<u8> bytes(size);
  for (std::size_t i = 0; i < size; i += 8) {
    const u64 word = random();
    for (std::size_t k = i; k < std::min(size, i + 8); ++k) bytes[k] = u8(word >> 8 * (k - i));
  }
  return bytes;
}

void randomize(proto::ExtHeaders& ext, engine::Random& random) {
  with_rows([&](const auto&... row) { (randomize(ext.*row.at, random), ...); }, proto::kExtRows);
}

proto::AddressVector random_address(engine::Random& random, proto::Framing framing, bool vlan) {
  proto::AddressVector av;
  av.framing = framing;
  av.source_mac = random() & proto::low_mask(48);
  av.destination_mac = random() & proto::low_mask(48);
  av.has_vlan = vlan;
  av.priority = u8(random.below(8));
  av.vlan_id = u16(random.below(4095));
  av.source_lid = u16(random.below(0xc000));
  av.destination_lid = u16(random.below(0xc000));
  av.service_level = u8(random.below(16));
  av.virtual_lane = u8(random.below(15));
  const bool ipv4 = framing == proto::Framing::RoceV2Ip4;
  av.source_gid = ipv4 ? proto::gid_of_ipv4(u32(random())) : random_gid(random);
  av.destination_gid = ipv4 ? proto::gid_of_ipv4(u32(random())) : random_gid(random);
  av.traffic_class = u8(random());
  av.flow_label = u32(random.below(1 << 20));
  av.hop_limit = u8(1 + random.below(255));
  av.udp_source_port =
      u16(random.chance(1, 4) ? random() : proto::kFirstUdpSourcePort + random.below(0x4000));
  return av;
}

std::string StreamRow::name() const {
  return fmt::format("{}{}", proto::framing_row(framing).name, vlan ? " with VLAN" : "");
}

void Regime::change(engine::Random& random) {
  constexpr std::array<u32, 6> kPayloads{8, 70, 200, 600, 1100, 4096};
  constexpr std::array<u32, 5> kGapPercent{0, 0, 0, 25, 90};
  constexpr std::array<u32, 3> kGaps{1, 6, 40};
  largest_payload_ = kPayloads[random.below(kPayloads.size())];
  packets_ = 20 + random.below(largest_payload_ > 300 ? 60 : 400);
  gap_percent_ = kGapPercent[random.below(kGapPercent.size())];
  largest_gap_ = kGaps[random.below(kGaps.size())];
}

engine::Cycle Regime::gap(engine::Random& random) {
  if (packets_ == 0) change(random);
  --packets_;
  return random.chance(gap_percent_, 100) ? 1 + random.below(largest_gap_) : 0;
}
}  // namespace hca::testbench
