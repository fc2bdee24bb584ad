// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/item_pins.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "testbench/lockstep/checked_look_ups.h"
#include "testbench/lockstep/parsed_side_band.h"

namespace hca::testbench {
using namespace proto;

namespace {
// The place in the packet stays.
template <class Control>
void set_beside(Control& control, const Control& of_packet) {
  const bool first = control.first, last = control.last;
  const u8 bytes = control.bytes;
  control = of_packet;
  control.first = first;
  control.last = last;
  control.bytes = bytes;
}
void append(std::vector<u8>& to, const auto& beat) {
  to.insert(to.end(), beat.data.begin(), beat.data.begin() + beat.control.bytes);
}
}  // namespace

void Asked::look(const char* what, std::optional<u32> asked) {
  if (!asked) return;
  if (*asked != number_)
    throw std::runtime_error(
        fmt::format("RTL in the path asks for the {} {:#x}, not for {:#x}", what, *asked, number_));
  waits_ = true;
}

// ---- icrc
IcrcPins::IcrcPins(const Item& item) : item_(item), bytes_(item.frame, item.frame + item.bytes) {}

void IcrcPins::set_side_band(In& control) const {
  control.mode = u8(item_.mode);
  control.framing = u8(item_.framing);
  control.vlan = item_.vlan;
}

void IcrcPins::take(const rtl::Beat& beat) {
  append(left_, beat);
  last_ = beat.control;
}

void IcrcPins::finish(Item& item) const {
  std::copy(left_.begin(), left_.end(), item.frame);
  item.bytes = u32(left_.size());
  item.icrc_ok = last_.icrc_ok;
  item.vcrc_ok = last_.vcrc_ok;
}

// ---- packetizer
PacketizerPins::PacketizerPins(const Item& item) : item_(item) {
  put_ext(*item.opcode, *item.ext, descriptor_);
  descriptor_.address = *item.address;
  descriptor_.bth = *item.bth;
  descriptor_.payload_bytes = u16(item.payload_bytes);
  descriptor_.ip_id = item.ip_id;
}

void PacketizerPins::set_side_band(In& control) const { set_beside(control, descriptor_); }

void PacketizerPins::take(const rtl::Beat& beat) { append(left_, beat); }

void PacketizerPins::finish(Item& item) const {
  std::copy(left_.begin(), left_.end(), item.frame);
  item.bytes = u32(left_.size());
}

// ---- rx_parser
void RxParserPins::set_side_band(In& control) const {
  const bool native = item_.link == LinkLayer::InfiniBand;
  control.framing = u8(native ? Framing::IbLocal : Framing::RoceV2Ip4);
  control.icrc_ok = control.last && item_.crcs.icrc_ok;
  control.vcrc_ok = control.last && item_.crcs.vcrc_ok;
}

void RxParserPins::take(const rtl::BeatOf<rtl::Parsed>& beat) {
  if (!headers_) headers_ = beat.control.verdict;
  append(payload_, beat);
  last_ = beat.control;
}

namespace {
const OpcodeRow& row_of_packet(const OpcodeRow& row, const ExtHeaders& ext, u32 payload_bytes) {
  if (!row.is_class()) return row;
  return row_at_offset(row_or_class(row, ext.eoeth.extended_opcode), ext.eoeth, ext.reth,
                       payload_bytes);
}
// The block has no signals for unknown contents: their length, and what names a cut extended
// operation.
void read_unknown(std::span<const u8> frame, LinkLayer link, ParsedPacket& p) {
  ParsedPacket packet{};
  parse(frame, link, packet);
  p.icrc_offset = packet.icrc_offset;
  p.eoeth = packet.eoeth;
}
}  // namespace

void RxParserPins::finish(Item& item) const {
  blocks::ParsedFrame& out = *item.parsed;
  out.headers = *headers_;
  out.verdict = last_.verdict;
  if (!out.has_transport()) return;
  const AddressVector& to = last_.address;
  ParsedPacket& p = out.packet;
  p.framing = to.framing;
  p.bth = last_.bth;
  static_cast<ExtHeaders&>(p) = static_cast<const ExtHeaders&>(last_);
  p.payload_bytes = last_.payload_bytes;
  // An optional operation without its headers has no opcode (BTH-4).
  const OpcodeRow* const row = opcode_row(p.bth.opcode);
  const bool is_known = row && out.verdict != PacketVerdict::ReservedOpcode;
  p.opcode = is_known ? &row_of_packet(*row, p, p.payload_bytes) : nullptr;
  p.network_offset = u16(blocks::covered_from(to.framing, to.has_vlan));
  p.transport_offset = u16(p.network_offset + framing_row(to.framing).covered_header_bytes);
  p.payload_offset =
      u16(p.transport_offset + bytes_of<Bth>() + (p.opcode ? p.opcode->ext_bytes : 0));
  p.icrc_offset = p.payload_offset + p.payload_bytes + pad_of(p.payload_bytes);
  if (!p.opcode) read_unknown(item.frame, item.link, p);
  out.addressing = addressing_of(item.frame.data(), p);
  if (!(address_vector(p.framing, out.addressing) == to))
    throw std::runtime_error(
        "rtl/rx_parser/rx_parser.sv in the path: addresses that are not the frame's");
  out.whole.assign(p.payload_offset, 0);
  out.whole.insert(out.whole.end(), payload_.begin(), payload_.end());
}

// ---- responder_check
ResponderCheckPins::ResponderCheckPins(const Item& item)
    : item_(item), context_asked_(item.number()), region_asked_(item.key()) {
  const ParsedPacket& p = *item.packet;
  clear_headers(headers_);
  put_transport(p, addressing_of(item.frame.data(), p), headers_);
  headers_.verdict = p.opcode ? PacketVerdict::Good : PacketVerdict::ReservedOpcode;
  if (item.of_ee()) {
    headers_.rdeth = p.rdeth;
    headers_.deth = p.deth;
  }
  if (p.opcode) {
    put_ext(*p.opcode, p, headers_);
    headers_.payload_bytes = u16(p.payload_bytes);
  }
  context_ = checked_context(item);
  if (item.region) region_ = checked_region(*item.region);
}

void ResponderCheckPins::set_side_band(In& control) const { set_beside(control, headers_); }

bool ResponderCheckPins::answer(rtl::LookUpPins& look_ups) {
  if (item_.port) look_ups.set_pkeys(item_.port->pkeys);
  look_ups.set_rd(has(item_.qp->options, Capability::Rd));
  const bool context = context_asked_.take(), region = region_asked_.take();
  look_ups.answer(context ? &context_ : nullptr, region ? &region_ : nullptr);
  return item_.key() ? region : context;
}

void ResponderCheckPins::look(const rtl::LookUpPins& look_ups) {
  if (look_ups.context_asked() && look_ups.queue_asked() != item_.named_queue())
    throw std::runtime_error(
        fmt::format("rtl/responder_check/responder_check.sv in the path: the look-up names "
                    "queue {:#x}, the packet {:#x}",
                    look_ups.queue_asked(), item_.named_queue()));
  context_asked_.look("context", look_ups.context_asked());
  region_asked_.look("region", look_ups.region_asked());
}

void ResponderCheckPins::finish(Item& item) const { take_judged(judged_, item); }

// ---- requester_psn
rtl::PsnContext RequesterPsnPins::context_of(const Item& item) {
  return {{u16(item.path_mtu)}, *item.psns};
}

void RequesterPsnPins::finish(Item& item) const {
  const rtl::PsnStepped& s = stepped();
  *item.psns = s.state;
  *item.answer = {.result = blocks::PsnResult(s.result),
                  .repeated = s.repeated,
                  .progress = s.progress,
                  .psns = {s.psn, s.count},
                  .after = s.state};
}

// ---- completion
rtl::CqContext CompletionPins::context_of(const Item& item) {
  const EntryRing& cq = *item.cq;
  return {{cq.allocated, cq.log_entries, cq.address}, {cq.producer, cq.consumer, cq.overflowed}};
}

void CompletionPins::finish(Item& item) const {
  const rtl::CqStepped& s = stepped();
  EntryRing& cq = *item.cq;
  cq.producer = s.state.producer;
  cq.consumer = s.state.consumer;
  cq.overflowed = s.state.overflowed;
  blocks::CqAnswer& a = *item.answer;
  a.place = {CqResult(s.result), s.address};
  a.solicited = s.solicited;
  encode(s.cqe, a.bytes.data());
  a.after = cq;
}
}  // namespace hca::testbench
