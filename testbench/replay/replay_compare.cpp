// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/transport/psn.h"

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

class Comparison {
 public:
  Comparison(const Seen& recorded, const Seen& ours, const QpHistory* qp, AllowedUses& uses)
      : uses_(uses) {
    s_.qp = qp;
    s_.recorded = &recorded;
    s_.ours = &ours;
  }

  void field(const HeaderAt& recorded, const HeaderAt& ours, const FieldInfo& f) {
    if (f.bits > 64) {
      const auto part = [&](const Seen& s, u32 at) {
        return std::span(s.bytes).subspan(at + f.bit_at / 8, f.bits / 8);
      };
      const auto a = part(*s_.recorded, recorded.offset), b = part(*s_.ours, ours.offset);
      if (!std::ranges::equal(a, b)) add(recorded.header->name, f.name, hex_text(a), hex_text(b));
      return;
    }
    const u64 a = get_bits(s_.recorded->bytes.data() + recorded.offset, f.bit_at, f.bits);
    const u64 b = get_bits(s_.ours->bytes.data() + ours.offset, f.bit_at, f.bits);
    value(recorded.header->name, f.name, a, b);
  }

  void value(std::string_view header, std::string_view name, u64 recorded, u64 ours) {
    if (recorded == ours) return;
    s_.recorded_value = recorded;
    s_.our_value = ours;
    if (!allowed(header, name))
      add(header, name, fmt::format("{:#x}", recorded), fmt::format("{:#x}", ours));
  }

  void payload() {
    const auto part = [](const Seen& s) {
      return std::span(s.bytes).subspan(s.packet.payload_offset,
                                        s.packet.icrc_offset - s.packet.payload_offset);
    };  // with pad
    const auto a = part(*s_.recorded), b = part(*s_.ours);
    const std::size_t n = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < n; ++i)
      if (a[i] != b[i])
        return add(i < s_.recorded->packet.payload_bytes ? "payload" : "pad",
                   fmt::format("Byte {}", i), fmt::format("{:02x}", a[i]),
                   fmt::format("{:02x}", b[i]));
    if (a.size() != b.size())
      add("payload", "Length", std::to_string(a.size()), std::to_string(b.size()));
  }

  void icrc() {
    const auto of = [](const Seen& s) { return load_be<4>(s.bytes.data() + s.packet.icrc_offset); };
    if (!s_.ours->good)
      return add("ICRC", "Value", "a good one", fmt::format("{:#x}", of(*s_.ours)));
    value("ICRC", "Value", of(*s_.recorded), of(*s_.ours));
  }

  void padding() {
    const auto behind = [](const Seen& s) {
      return std::span(s.bytes).subspan(s.packet.icrc_offset + kIcrcBytes);
    };
    const auto a = behind(*s_.recorded), b = behind(*s_.ours);
    if (is_native(s_.ours->packet.framing) && !std::ranges::equal(a, b) && allowed("VCRC", "Value"))
      return;
    if (!std::ranges::equal(a, b) && !allowed("frame", "Padding"))
      add("frame", "Padding", hex_text(a), hex_text(b));
  }

  void add(std::string_view header, std::string_view field, std::string expected, std::string got) {
    found.push_back({std::string(header), std::string(field), std::move(expected), std::move(got)});
  }
  std::vector<FieldDifference> found;

  bool allowed(std::string_view header, std::string_view name) {
    return find_allowed(header, name, s_, uses_) != nullptr;
  }

 private:
  Situation s_;
  AllowedUses& uses_;
};
}  // namespace

std::vector<FieldDifference> compare_frames(const Seen& recorded, const Seen& ours,
                                            const QpHistory* qp, AllowedUses& uses) {
  if (recorded.form != PacketVerdict::Good || ours.form != PacketVerdict::Good) {
    if (recorded.bytes == ours.bytes) return {};
    return {{"frame", "Structure", std::string(verdict_row(recorded.form).name),
             std::string(verdict_row(ours.form).name)}};
  }
  Comparison all(recorded, ours, qp, uses);
  std::vector<HeaderAt> left = headers_of(recorded.packet), right = headers_of(ours.packet);
  if (left.size() != right.size() && all.allowed("frame", "Headers")) {
    const auto is_aeth = [](const HeaderAt& h) {
      return h.header == &kExtHeaders[unsigned(Ext::Aeth)];
    };
    std::erase_if(left, is_aeth);
    std::erase_if(right, is_aeth);
  }
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
}  // namespace hca::testbench
