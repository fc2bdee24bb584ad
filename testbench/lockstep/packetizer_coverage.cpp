// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/packetizer_coverage.h"

#include <fmt/format.h>

namespace hca::testbench {
namespace {
// The sizes of extension headers of opcodes with a payload.
const std::vector<u32>& ext_sizes() {
  static const std::vector<u32> sizes = [] {
    std::vector<u32> all;
    for (const proto::OpcodeRow& row : proto::kOpcodeRows)
      if (row.payload != proto::PayloadRule::None) all.push_back(built_row(row).ext_bytes);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }();
  return sizes;
}
constexpr std::array<u32, 7> kPayloadsUpTo{0, 3, 31, 64, 256, 1024, 4096};
constexpr u32 kPads = 4;
bool has_payload(u32 opcode) {
  return proto::kOpcodeRows[opcode].payload != proto::PayloadRule::None;
}
bool can_be(u32 up_to, u32 pad) { return up_to == 0 ? pad == 0 : up_to != 3 || pad != 0; }
}  // namespace

PacketizerCoverage::PacketizerCoverage(u32 beat_bytes) : beat_bytes_(beat_bytes) {
  const Dimension framing{"framing", stream_names()}, opcode{"opcode", opcode_names()},
      payload{"payload", payload_names(kPayloadsUpTo)}, start{"start", start_names()};
  add_cross(std::array{&framing, &opcode, &payload},
            [](std::span<const u32> values) { return values[2] == 0 || has_payload(values[1]); });
  add_cross(std::array{&framing, &payload, &start});
  add_cross(std::array{&opcode, &start});
  ends_from_ = add_group("framing x bytes of extension headers x bytes in the last beat");
  for (const StreamRow& stream : kStreams)
    for (const u32 ext : ext_sizes())
      for (u32 last = 0; last < beat_bytes_ / 4; ++last)
        add(fmt::format("{}: {} bytes of extension headers, {} to {} bytes", stream.name(), ext,
                        4 * last + 1, 4 * last + 4));
  sizes_from_ = add_group("framing x payload x pad");
  for (const StreamRow& stream : kStreams)
    for (const u32 up_to : kPayloadsUpTo)
      for (u32 pad = 0; pad < kPads; ++pad)
        add(can_be(up_to, pad)
                ? fmt::format("{}: payload up to {}, pad {}", stream.name(), up_to, pad)
                : "");
}

void PacketizerCoverage::count(const PacketizerPacket& p) {
  const u32 stream = stream_of(p.descriptor.address.framing, p.descriptor.address.has_vlan);
  const u32 opcode = index_of_opcode(p.opcode->code), start = u32(p.start);
  const std::vector<u32>& sizes = ext_sizes();
  const u32 last = (p.bytes_out - 1) % beat_bytes_;
  if (p.opcode->payload != proto::PayloadRule::None) {
    const u32 ext = index_in(sizes, [&](u32 bytes) { return bytes == p.opcode->ext_bytes; });
    hit(ends_from_ + (stream * sizes.size() + ext) * (beat_bytes_ / 4) + last / 4);
  }
  const u32 size = index_in(kPayloadsUpTo, [&](u32 up_to) { return p.payload.size() <= up_to; });
  hit(sizes_from_ + (stream * kPayloadsUpTo.size() + size) * kPads +
      proto::pad_of(u32(p.payload.size())));
  hit_cross(0, {stream, opcode, size});
  hit_cross(1, {stream, size, start});
  hit_cross(2, {opcode, start});
}
}  // namespace hca::testbench
