// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/icrc_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hca::testbench {
namespace {
using blocks::IcrcMode;

// ---- crossed dimensions ----
// The mode and the result. A frame with an Ethernet header has no VCRC.
struct KindRow {
  std::string_view name;
  IcrcMode mode;
  bool icrc_ok, vcrc_ok;
  bool ethernet;  // possible with an Ethernet header as well
};
constexpr std::array kKinds{
    KindRow{"bypass", IcrcMode::Bypass, false, false, true},
    KindRow{"generate", IcrcMode::Generate, false, false, true},
    KindRow{"check, good", IcrcMode::Check, true, true, true},
    KindRow{"check, ICRC bad", IcrcMode::Check, false, true, true},
    KindRow{"check, VCRC bad", IcrcMode::Check, true, false, false},
    KindRow{"check, both bad", IcrcMode::Check, false, false, false},
};

constexpr std::array<u32, 4> kPayloadsUpTo{64, 256, 1024, 4096};

// Where the entering packet ends in its last beat.
struct EndRow {
  std::string_view name;
  u32 (*up_to)(u32 beat, u32 crcs);  // bytes in the last beat
};
constexpr std::array kEnds{
    EndRow{"1 byte", [](u32, u32) { return 1u; }},
    EndRow{"fewer bytes than CRCs", [](u32, u32 crcs) { return crcs - 1; }},
    EndRow{"as many bytes as CRCs", [](u32, u32 crcs) { return crcs; }},
    EndRow{"room for CRCs and more", [](u32 beat, u32 crcs) { return beat - crcs - 1; }},
    EndRow{"room for CRCs, no more", [](u32 beat, u32 crcs) { return beat - crcs; }},
    EndRow{"room for some of the CRCs", [](u32 beat, u32) { return beat - 1; }},
    EndRow{"full", [](u32 beat, u32) { return beat; }},
};

constexpr std::array<std::string_view, 5> kSpecials{
    "too short, CRCs wrong", "too short, CRCs right", "the shortest good one",
    "the shortest that gets CRCs", "right CRCs and more bytes behind"};

// ---- the bins of a packet ----
u32 kind_of(const IcrcPacket& p) {
  const bool check = p.mode == IcrcMode::Check;
  const bool vcrc = check && (p.vcrc_ok || !proto::is_native(p.framing));
  return index_in(kKinds, [&](const KindRow& row) {
    return row.mode == p.mode && row.icrc_ok == p.icrc_ok && row.vcrc_ok == vcrc;
  });
}
bool can_be(const StreamRow& stream, const KindRow& kind) {
  return proto::is_native(stream.framing) || kind.ethernet;
}
std::string name_of(const StreamRow& stream, std::string_view what) {
  return fmt::format("{}: {}", stream.name(), what);
}
}  // namespace

IcrcCoverage::IcrcCoverage(u32 beat_bytes) : beat_bytes_(beat_bytes) {
  const auto cross = [&](auto&& inner) {
    for (const StreamRow& stream : kStreams)
      for (const KindRow& kind : kKinds)
        inner([&](const std::string& where) {
          const std::string name = fmt::format("{}, {}", name_of(stream, kind.name), where);
          add(can_be(stream, kind) ? name : "");
        });
  };
  ends_from_ = add_group("framing x mode and verdict x bytes in the last beat");
  cross([&](auto put) {
    for (u32 bytes = 1; bytes <= beat_bytes_; ++bytes) put(fmt::format("{} bytes", bytes));
  });
  sizes_from_ = add_group("framing x mode and verdict x payload x end in the last beat");
  cross([&](auto put) {
    for (const u32 up_to : kPayloadsUpTo)
      for (const EndRow& end : kEnds) put(fmt::format("payload up to {}, {}", up_to, end.name));
  });
  specials_from_ = add_group("framing x special packets");
  for (const StreamRow& stream : kStreams)
    for (const std::string_view what : kSpecials) add(name_of(stream, what));
  std::vector<std::string> kinds;
  for (const KindRow& kind : kKinds) kinds.emplace_back(kind.name);
  const Dimension framing{"framing", stream_names()}, kind_of_packet{"mode and verdict", kinds},
      opcode{"opcode", opcode_names()}, payload{"payload", payload_names(kPayloadsUpTo)},
      start{"start", start_names()};
  add_cross(std::array{&framing, &kind_of_packet, &start}, [](std::span<const u32> values) {
    return can_be(kStreams[values[0]], kKinds[values[1]]);
  });
  add_cross(std::array{&framing, &opcode, &payload});
  add_cross(std::array{&opcode, &kind_of_packet});
  add_cross(std::array{&opcode, &start});
}

void IcrcCoverage::count(const IcrcPacket& p) {
  const u32 stream = stream_of(p.framing, p.vlan), sent = u32(p.sent.size()),
            crcs = blocks::crc_bytes(p.framing);
  const u32 least = blocks::icrc_min_bytes(p.framing, p.vlan);
  const auto hit_special = [&](u32 what) {
    hit(specials_from_ + stream * kSpecials.size() + what);
  };
  if (p.mode == IcrcMode::Check && sent < least) hit_special(p.sealed ? 1 : 0);
  if (p.sealed && sent >= least) hit_special(4);
  if (!p.payload) return;
  const u32 kind = kind_of(p);
  if (kKinds[kind].icrc_ok && kKinds[kind].vcrc_ok && sent == least) hit_special(2);
  if (p.mode == IcrcMode::Generate && sent + crcs == least) hit_special(3);
  const u32 last = (sent - 1) % beat_bytes_ + 1, row = stream * u32(kKinds.size()) + kind;
  hit(ends_from_ + row * beat_bytes_ + last - 1);
  const u32 size = index_in(kPayloadsUpTo, [&](u32 up_to) { return *p.payload <= up_to; });
  const u32 end =
      index_in(kEnds, [&](const EndRow& e) { return last <= e.up_to(beat_bytes_, crcs); });
  hit(sizes_from_ + (row * kPayloadsUpTo.size() + size) * kEnds.size() + end);
  hit_cross(0, {stream, kind, u32(p.start)});
  hit_cross(1, {stream, p.opcode, size});
  hit_cross(2, {p.opcode, kind});
  hit_cross(3, {p.opcode, u32(p.start)});
}
}  // namespace hca::testbench
