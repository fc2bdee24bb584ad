// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/icrc_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hca::testbench {
namespace {
using blocks::IcrcMode;
using proto::Framing;

// ---- what is crossed ----
struct StreamRow {
  Framing framing;
  bool vlan;
};
constexpr std::array kStreams{
    StreamRow{Framing::IbLocal, false},   StreamRow{Framing::IbGlobal, false},
    StreamRow{Framing::RoceV1, false},    StreamRow{Framing::RoceV1, true},
    StreamRow{Framing::RoceV2Ip4, false}, StreamRow{Framing::RoceV2Ip4, true},
    StreamRow{Framing::RoceV2Ip6, false}, StreamRow{Framing::RoceV2Ip6, true},
};

// What is done and what comes out. Behind an Ethernet header there is no VCRC.
struct KindRow {
  std::string_view name;
  IcrcMode mode;
  bool icrc_ok, vcrc_ok;
  bool ethernet;  // can be there too
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

// Where the packet that enters ends in its last beat.
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

constexpr std::array<std::string_view, 3> kGroups{
    "framing x mode and verdict x bytes in the last beat",
    "framing x mode and verdict x payload x end in the last beat",
    "framing x special packets",
};

// ---- where a packet belongs ----
template <class Rows, class Fits>
u32 index_in(const Rows& rows, Fits fits) {
  return u32(std::find_if(rows.begin(), rows.end(), fits) - rows.begin());
}
u32 stream_of(const IcrcPacket& p) {
  return index_in(kStreams, [&](const StreamRow& row) {
    return row.framing == p.framing && row.vlan == p.vlan;
  });
}
u32 kind_of(const IcrcPacket& p, bool icrc_ok, bool vcrc_ok) {
  const bool check = p.mode == IcrcMode::Check;
  const bool vcrc = check && (vcrc_ok || !proto::is_native(p.framing));
  return index_in(kKinds, [&](const KindRow& row) {
    return row.mode == p.mode && row.icrc_ok == icrc_ok && row.vcrc_ok == vcrc;
  });
}
bool can_be(const StreamRow& stream, const KindRow& kind) {
  return proto::is_native(stream.framing) || kind.ethernet;
}
std::string name_of(const StreamRow& stream, std::string_view what) {
  return fmt::format("{}{}: {}", proto::framing_row(stream.framing).name,
                     stream.vlan ? " with VLAN" : "", what);
}
}  // namespace

// Bins that cannot be keep their place without a name.
IcrcCoverage::IcrcCoverage(u32 beat_bytes) : beat_bytes_(beat_bytes) {
  const auto cross = [&](u8 group, auto&& inner) {
    for (const StreamRow& stream : kStreams)
      for (const KindRow& kind : kKinds)
        inner([&](const std::string& where) {
          const std::string name = fmt::format("{}, {}", name_of(stream, kind.name), where);
          bins_.push_back({group, can_be(stream, kind) ? name : "", 0});
        });
  };
  cross(0, [&](auto add) {
    for (u32 bytes = 1; bytes <= beat_bytes_; ++bytes) add(fmt::format("{} bytes", bytes));
  });
  sizes_from_ = bins_.size();
  cross(1, [&](auto add) {
    for (const u32 payload : kPayloadsUpTo)
      for (const EndRow& end : kEnds) add(fmt::format("payload up to {}, {}", payload, end.name));
  });
  specials_from_ = bins_.size();
  for (const StreamRow& stream : kStreams)
    for (const std::string_view what : kSpecials) bins_.push_back({2, name_of(stream, what), 0});
}

void IcrcCoverage::count(const IcrcPacket& p, bool icrc_ok, bool vcrc_ok) {
  const u32 stream = stream_of(p), sent = u32(p.sent.size()), crcs = blocks::crc_bytes(p.framing);
  const u32 least = blocks::icrc_min_bytes(p.framing, p.vlan);
  const auto hit_special = [&](u32 what) {
    hit(specials_from_ + stream * kSpecials.size() + what);
  };
  if (p.mode == IcrcMode::Check && sent < least) hit_special(p.sealed ? 1 : 0);
  if (p.sealed && sent >= least) hit_special(4);
  if (!p.payload) return;
  const u32 kind = kind_of(p, icrc_ok, vcrc_ok);
  if (kKinds[kind].icrc_ok && kKinds[kind].vcrc_ok && sent == least) hit_special(2);
  if (p.mode == IcrcMode::Generate && sent + crcs == least) hit_special(3);
  const u32 last = (sent - 1) % beat_bytes_ + 1, row = stream * u32(kKinds.size()) + kind;
  hit(row * beat_bytes_ + last - 1);
  const u32 size = index_in(kPayloadsUpTo, [&](u32 up_to) { return *p.payload <= up_to; });
  const u32 end =
      index_in(kEnds, [&](const EndRow& e) { return last <= e.up_to(beat_bytes_, crcs); });
  hit(sizes_from_ + (row * kPayloadsUpTo.size() + size) * kEnds.size() + end);
}

std::vector<IcrcCoverage::Group> IcrcCoverage::groups() const {
  std::vector<Group> groups;
  for (const std::string_view crosses : kGroups) groups.push_back({crosses});
  for (const Bin& bin : bins_) {
    if (bin.name.empty()) continue;
    ++groups[bin.group].bins;
    groups[bin.group].hit += bin.packets != 0;
  }
  return groups;
}

std::vector<std::string> IcrcCoverage::holes() const {
  std::vector<std::string> names;
  for (const Bin& bin : bins_)
    if (bin.packets == 0 && !bin.name.empty()) names.push_back(bin.name);
  return names;
}

std::string IcrcCoverage::text() const {
  constexpr std::size_t kHoles = 10;
  std::string out;
  for (const Group& group : groups())
    out += fmt::format("  coverage: {} of {} bins, {}\n", group.hit, group.bins, group.crosses);
  const std::vector<std::string> names = holes();
  for (std::size_t i = 0; i < std::min(names.size(), kHoles); ++i)
    out += fmt::format("    not tried: {}\n", names[i]);
  if (names.size() > kHoles) out += fmt::format("    and {} more\n", names.size() - kHoles);
  return out;
}
}  // namespace hca::testbench
