// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay_compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/psn.h"

namespace hca::testbench {
using namespace proto;

namespace {
struct HeaderAt {
  const HeaderInfo* header;
  u32 offset;
};

void append_network(std::vector<HeaderAt>& list, const FrameShape& shape) {
  static constexpr HeaderInfo ethernet = kHeaderInfo<Ethernet>, vlan = kHeaderInfo<Vlan>,
                              lrh = kHeaderInfo<Lrh>, grh = kHeaderInfo<Grh>,
                              ipv4 = kHeaderInfo<Ipv4>, ipv6 = kHeaderInfo<Ipv6>,
                              udp = kHeaderInfo<Udp>;
  u32 at = 0;
  const auto add = [&](const HeaderInfo& header) {
    list.push_back({&header, at});
    at += header.bytes;
  };
  if (is_native(shape.framing)) {
    add(lrh);
    if (shape.framing == Framing::IbGlobal) add(grh);
    return;
  }
  add(ethernet);
  if (shape.network_offset > at) add(vlan);
  if (shape.framing == Framing::RoceV1) return add(grh);
  add(shape.framing == Framing::RoceV2Ip4 ? ipv4 : ipv6);
  add(udp);
}

// All headers of a good packet, in order.
std::vector<HeaderAt> headers_of(const ParsedPacket& p) {
  static constexpr HeaderInfo bth = kHeaderInfo<Bth>;
  std::vector<HeaderAt> list;
  append_network(list, p);
  list.push_back({&bth, p.transport_offset});
  u32 at = p.transport_offset + bth.bytes;
  p.opcode->ext.for_each([&](Ext e) {
    list.push_back({&kExtHeaders[unsigned(e)], at});
    at += kExtHeaders[unsigned(e)].bytes;
  });
  return list;
}

std::string hex(std::span<const u8> bytes) {
  std::string text;
  for (const u8 byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

class Comparison {
 public:
  Comparison(FramePair pair, AllowedUses& uses) : pair_(pair), uses_(uses) {}

  void field(const HeaderAt& recorded, const HeaderAt& ours, const FieldInfo& f) {
    if (f.bits > 64) {
      const auto a = pair_.recorded.subspan(recorded.offset + f.bit_at / 8, f.bits / 8);
      const auto b = pair_.ours.subspan(ours.offset + f.bit_at / 8, f.bits / 8);
      if (!std::ranges::equal(a, b)) add(recorded.header->name, f.name, hex(a), hex(b));
      return;
    }
    const u64 a = get_bits(pair_.recorded.data() + recorded.offset, f.bit_at, f.bits);
    const u64 b = get_bits(pair_.ours.data() + ours.offset, f.bit_at, f.bits);
    value(recorded.header->name, f.name, a, b);
  }

  void value(std::string_view header, std::string_view name, u64 recorded, u64 ours) {
    if (recorded == ours) return;
    pair_.recorded_value = recorded, pair_.our_value = ours;
    if (!allowed(header, name))
      add(header, name, fmt::format("{:#x}", recorded), fmt::format("{:#x}", ours));
  }

  void payload() {
    const auto part = [](std::span<const u8> frame, const ParsedPacket& p) {
      return frame.subspan(p.payload_offset, p.icrc_offset - p.payload_offset);  // with pad
    };
    const auto a = part(pair_.recorded, pair_.recorded_packet),
               b = part(pair_.ours, pair_.our_packet);
    const std::size_t n = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < n; ++i)
      if (a[i] != b[i])
        return add(i < pair_.recorded_packet.payload_bytes ? "payload" : "pad",
                   fmt::format("Byte {}", i), fmt::format("{:02x}", a[i]),
                   fmt::format("{:02x}", b[i]));
    if (a.size() != b.size())
      add("payload", "Length", std::to_string(a.size()), std::to_string(b.size()));
  }

  void icrc() {
    const auto of = [](std::span<const u8> frame, const ParsedPacket& p) {
      return load_be<4>(frame.data() + p.icrc_offset);
    };
    if (!icrc_good(pair_.ours, pair_.our_packet))
      return add("ICRC", "Value", "a good one",
                 fmt::format("{:#x}", of(pair_.ours, pair_.our_packet)));
    value("ICRC", "Value", of(pair_.recorded, pair_.recorded_packet),
          of(pair_.ours, pair_.our_packet));
  }

  void padding() {
    const auto behind = [](std::span<const u8> frame, const ParsedPacket& p) {
      return frame.subspan(p.icrc_offset + kIcrcBytes);
    };
    const auto a = behind(pair_.recorded, pair_.recorded_packet),
               b = behind(pair_.ours, pair_.our_packet);
    if (!std::ranges::equal(a, b) && !allowed("frame", "Padding"))
      add("frame", "Padding", hex(a), hex(b));
  }

  void add(std::string_view header, std::string_view field, std::string expected, std::string got) {
    found.push_back({std::string(header), std::string(field), std::move(expected), std::move(got)});
  }
  std::vector<FieldDifference> found;

 private:
  bool allowed(std::string_view header, std::string_view name) {
    const auto rows = allowed_differences();
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].header == header && rows[i].field == name && rows[i].holds(pair_)) {
        ++uses_[i];
        return true;
      }
    return false;
  }

  FramePair pair_;
  AllowedUses& uses_;
};
}  // namespace

std::vector<FieldDifference> compare_frames(std::span<const u8> recorded, std::span<const u8> ours,
                                            AllowedUses& uses) {
  uses.resize(allowed_differences().size());
  ParsedPacket theirs, mine;
  const PacketVerdict a = parse(recorded, LinkLayer::Ethernet, theirs),
                      b = parse(ours, LinkLayer::Ethernet, mine);
  if (a != PacketVerdict::Good || b != PacketVerdict::Good) {
    if (std::ranges::equal(recorded, ours)) return {};
    return {
        {"frame", "Structure", std::string(verdict_row(a).name), std::string(verdict_row(b).name)}};
  }
  Comparison all({recorded, ours, theirs, mine, 0, 0}, uses);
  const std::vector<HeaderAt> left = headers_of(theirs), right = headers_of(mine);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i].header->name != right[i].header->name) {
      all.add("frame", "Headers", std::string(left[i].header->name),
              std::string(right[i].header->name));
      break;
    }
    for (const FieldInfo& f : *left[i].header) all.field(left[i], right[i], f);
  }
  if (left.size() != right.size())
    all.add("frame", "Headers", std::to_string(left.size()), std::to_string(right.size()));
  all.payload();
  all.icrc();
  all.padding();
  return std::move(all.found);
}

std::string describe_frame(std::span<const u8> frame) {
  ParsedPacket p;
  const PacketVerdict verdict = parse(frame, LinkLayer::Ethernet, p);
  if (verdict != PacketVerdict::Good)
    return fmt::format("{} bytes, {}", frame.size(), verdict_row(verdict).name);
  std::string text =
      fmt::format("{} {} QP {:#x} PSN {}{}", name_of(p.opcode->service), p.opcode->name,
                  p.bth.dest_qp, p.bth.psn, p.bth.ack_req ? " A" : "");
  if (p.has(Ext::Reth))
    text += fmt::format(" VA {:#x} R_Key {:#x} DMALen {}", p.reth.va, p.reth.rkey, p.reth.dma_len);
  if (p.has(Ext::Aeth))
    text += fmt::format(" syndrome {:#04x} MSN {}", p.aeth.syndrome, p.aeth.msn);
  if (p.payload_bytes) text += fmt::format(", {} bytes", p.payload_bytes);
  return text;
}
}  // namespace hca::testbench
