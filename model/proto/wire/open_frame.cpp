// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/open_frame.h"

#include <algorithm>
#include <vector>

#include "model/proto/wire/form_rules.h"
#include "model/proto/wire/ip_checksum.h"
#include "model/proto/wire/parse_at.h"

namespace hca::proto {
namespace {

using Bytes = std::span<const u8>;
using enum PacketVerdict;

bool is_network(Layer layer) {
  return layer == Layer::Ipv4 || layer == Layer::Ipv6 || layer == Layer::Grh || layer == Layer::Lrh;
}
// True: the packet is ours, whatever is wrong with it.
bool is_ours(Layer layer) { return layer == Layer::Bth || layer == Layer::Grh; }

bool is_extension(Layer layer) {
  return layer == Layer::HopByHop || layer == Layer::Routing ||
         layer == Layer::DestinationOptions || layer == Layer::Fragment;
}

// Records the first header of a packet for parse_at(); the GRH of a native packet belongs to its
// LRH.
void note_start(Layer layer, u32 at, Bytes frame, OpenedFrame& out) {
  if (layer == Layer::Ethernet) {
    out.has_ethernet = true;
    out.ethernet_offset = at;
  }
  if (is_network(layer)) out.has_extensions = out.is_fragment = false;
  out.has_extensions |= is_extension(layer);
  if (layer == Layer::Fragment && at + bytes_of<Ipv6Fragment>() <= frame.size())
    out.is_fragment = decode<Ipv6Fragment>(frame.data() + at).has_more;
  // No statement covers extension headers: the packet is judged from its UDP header on.
  const bool first = (at == 0 && (layer == Layer::Udp || layer == Layer::Bth)) ||
                     (layer == Layer::Udp && out.has_extensions);
  if (!first && (!is_network(layer) || (layer == Layer::Grh && out.starts_at == Layer::Lrh)))
    return;
  out.starts_at = layer;
  out.packet_offset = at;
}

void take_partial(const HeaderInfo& header, u32 at, Bytes frame, OpenedFrame& out) {
  if (at < frame.size()) out.partial = {&header, at};
}

void walk_transport(Bytes frame, u32 at, u32 crc_bytes, OpenedFrame& out) {
  out.transport_offset = at;
  if (at + bytes_of<Bth>() > frame.size()) return take_partial(kHeaderInfo<Bth>, at, frame, out);
  out.add(kHeaderInfo<Bth>, at);
  out.has_transport = true;
  const OpcodeRow* const row = opcode_row(frame[at]);
  if (row == nullptr) return;
  at += bytes_of<Bth>();
  bool whole = true;
  const auto take = [&](Ext e) {
    const HeaderInfo& header = kExtHeaders[unsigned(e)];
    if (!whole) return;
    whole = at + header.bytes + crc_bytes <= frame.size() && out.add(header, at);
    if (!whole) return take_partial(header, at, frame, out);
    at += header.bytes;
  };
  row->ext.for_each(take);
  if (!row->is_class() || !whole) return;
  const auto eoeth = decode<Eoeth>(&frame[at - bytes_of<Eoeth>()]);
  headers_after_eoeth(*row, eoeth.extended_opcode).for_each(take);
}

// Follows the headers to the BTH, or to a layer that is not opened; `kind`: why it stopped.
struct WalkEnd {
  bool is_ours;
  std::string kind;
};
WalkEnd walk(Bytes frame, Layer layer, u32 crc_bytes, OpenedFrame& out) {
  bool ours = false;
  std::string inside;  // the enclosing tunnel or tag
  for (u32 at = 0;;) {
    note_start(layer, at, frame, out);
    ours |= is_ours(layer);
    if (layer == Layer::Bth) {
      walk_transport(frame, at, crc_bytes, out);
      return {true, {}};
    }
    const LayerRow& row = layer_row(layer);
    const u32 least = row.header ? row.header->bytes : 0;
    if (at + least > frame.size()) {
      take_partial(*row.header, at, frame, out);
      return {ours, "ends before its headers do"};
    }
    if (row.header && !out.add(*row.header, at)) return {false, "more headers than are opened"};
    const NextLayer next = row.next(frame.subspan(at));
    if (next.layer == Layer::Other) return {false, next.kind};
    // A GRH with another NxtHdr: the verdict reports it; the content after it is unknown.
    if (layer == Layer::Grh && decode<Grh>(frame.data() + at).nxt_hdr != kNextHeaderIba)
      return {true, {}};
    at += next.bytes;
    if (at > frame.size()) return {is_ours(next.layer), "ends before its headers do"};
    layer = next.layer;
  }
}

// Verdicts that no later byte of the frame could change.
bool is_before_transport(PacketVerdict verdict) {
  constexpr std::array all{BadLver,       BadIpVersion, BadIpHeaderLength,
                           BadIpChecksum, Fragment,     BadNextHeader};
  return std::ranges::find(all, verdict) != all.end();
}

// The structure for a receiver that executes every operation.
PacketVerdict form_at(Bytes frame, OpenedFrame& out) {
  const PacketVerdict v = parse_at(frame, out.starts_at, out.packet_offset, out.packet);
  return v == ReservedOpcode ? form_if_executed(out.packet) : v;
}

// The structure of a truncated capture, as if its missing bytes were there.
PacketVerdict parse_completed(Bytes frame, u32 bytes_on_wire, OpenedFrame& out) {
  std::vector<u8> whole(frame.begin(), frame.end());
  whole.resize(std::max<std::size_t>(frame.size(), std::min(bytes_on_wire, kMaxCompleted)));
  for (const HeaderPlace& place : out)
    if (place.header->name == Layout<Udp>::name)  // it covers bytes that are missing
      std::fill_n(whole.begin() + place.offset + byte_of<Udp>("Checksum"), 2, u8{0});
  const PacketVerdict verdict = form_at(whole, out);
  if (out.has_transport || is_before_transport(verdict)) return verdict;
  return Truncated;
}

void check_crcs(Bytes frame, OpenedFrame& out) {
  const PacketVerdict v = out.structure;
  out.has_icrc = out.has_network && !out.is_cut &&
                 (v == Good || v == BadTver || v == BadPad || v == ReservedOpcode);
  if (!out.has_icrc) return;
  out.icrc_is_good = icrc_good(frame, out.packet);
  out.vcrc_is_good = is_native(out.packet.framing) && vcrc_good(frame, out.packet);
}

}  // namespace

OpenedFrame open_frame(Bytes frame, Layer begins, u32 bytes_on_wire) {
  OpenedFrame out;
  const bool shortened = frame.size() < bytes_on_wire;
  WalkEnd end = walk(frame, begins, shortened ? 0 : kIcrcBytes, out);
  if (!end.is_ours) {
    out.is_cut = shortened && end.kind.starts_with("ends ");
    out.other = out.is_cut ? "cut before its BTH" : end.kind;
    return out;
  }
  out.has_network = is_network(out.starts_at);
  out.structure = form_at(frame, out);
  // A BTH alone has no length that could show that bytes are missing.
  const bool ends_early =
      out.structure == Truncated || out.starts_at == Layer::Lrh || out.starts_at == Layer::Bth;
  if (shortened && ends_early) {
    out.is_cut = true;
    out.structure = parse_completed(frame, bytes_on_wire, out);
    if (out.structure == Truncated && !out.has_transport) out.other = "cut before its BTH";
  }
  if (out.is_fragment && out.structure == Truncated && out.has_transport) {
    const u32 length = decode<Udp>(frame.data() + out.packet_offset).length;
    out.structure = parse_completed(frame, out.packet_offset + length, out);
  }
  check_crcs(frame, out);
  return out;
}

namespace {
// A BTH has no mark of its own: every check must pass.
bool is_plausible(Bytes frame, const OpenedFrame& opened) {
  return opened.structure == Good && broken_rules(frame, opened).empty();
}
// True: a device could have sent this packet, whatever its real length is. For LRHs, as many bytes
// look like one.
bool has_likely_lrh(Bytes frame, const OpenedFrame& opened) {
  constexpr u32 kLeastWords = (bytes_of<Lrh>() + bytes_of<Bth>() + kIcrcBytes) / 4;
  if (!opened.has_transport || opened.structure == BadLver) return false;
  if (decode<Lrh>(frame.data()).pkt_len < kLeastWords) return false;
  const Bth bth = decode<Bth>(frame.data() + opened.transport_offset);
  const auto broken = broken_rules(frame, opened);
  const bool reserved = std::ranges::count(broken, Grade::Remark, &BrokenRule::grade) != 0;
  return bth.tver == 0 && opcode_row(bth.opcode) != nullptr && !reserved;
}
}  // namespace

Fit fit_of(Bytes frame, Layer begins) {
  using enum Fit;
  const OpenedFrame opened = open_frame(frame, begins, u32(frame.size()));
  if (!opened.is_judged()) {
    const bool known = opened.header_count > 0 && !opened.other.starts_with("EtherType") &&
                       !opened.other.starts_with("ends ") && opened.other != "LLC";
    if (begins == Layer::Ethernet) return known ? Named : None;
    const bool ip = begins == Layer::Ip && known && frame.size() >= bytes_of<Ipv4>();
    return ip && (frame[0] >> 4 != kIpVersion4 || ipv4_checksum_good(frame.data())) ? Weak : None;
  }
  if (opened.has_icrc && opened.icrc_is_good) return Proved;
  if (begins == Layer::Bth) return is_plausible(frame, opened) ? Plausible : None;
  if (opened.structure == Good) return Whole;
  if (begins == Layer::Lrh) return has_likely_lrh(frame, opened) ? Weak : None;
  return opened.has_transport ? Reached : None;
}

}  // namespace hca::proto
