// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/responder_check_stimulus.h"

#include <fmt/format.h>

namespace hca::testbench {
namespace {
using namespace proto;

AddressVector turned(const AddressVector& av) {
  AddressVector out = av;
  std::swap(out.source_gid, out.destination_gid);
  std::swap(out.source_mac, out.destination_mac);
  std::swap(out.source_lid, out.destination_lid);
  return out;
}
// The first and last bits of the bytes of a key; those of the whole key twice.
constexpr std::array<u32, 10> kEdges{0, 0, 7, 8, 15, 16, 23, 24, 31, 31};
// A request that does not continue the message, or does not begin one if there is none.
bool out_of_turn(const OpcodeRow& row, InMessage in) {
  const bool starts = begins_message(row.position);
  return in == InMessage::None ? !starts : starts || row.traits().message != in;
}
}  // namespace

// Mostly a request that continues the message, or begins one.
const OpcodeRow& ResponderCheckStimulus::choose_opcode(const CheckedQp& qp) {
  const Service service = qp.config.service;
  const u64 kind = plain_ ? 19 : random_.below(20);
  const bool extends = is_reliable(service) && qp.ahead.message == InMessage::None && kind > 2 &&
                       random_.chance(1, 4);
  const bool names_queue = service == Service::Xrc || service == Service::Rd;
  const bool restarts = qp.ahead.message != InMessage::None && odd(1, names_queue ? 4 : 16);
  for (;;) {
    const OpcodeRow& row = *packet_rows()[random_.below(packet_rows().size())];
    // With RD its opcodes, and no others, go to EE contexts.
    if (has_rd_ && (row.service == Service::Rd) != (service == Service::Rd)) continue;
    if (kind == 0) return row;
    if (row.service != service || !row.is_request) continue;
    if (kind == 1) return row;
    if (!is_executed(row)) continue;
    if (kind == 2) return row;
    if (extends && !row.has(Ext::Eoeth)) continue;
    if (restarts && !begins_message(row.position)) continue;
    if (restarts) return row;
    const InMessage in = qp.ahead.message;
    const bool resync = row.operation == Operation::Resync;
    if (resync ? random_.chance(1, 2) : out_of_turn(row, in)) continue;
    // Long messages must end eventually, and WRITEs at their announced length.
    const u32 mtu = qp.config.path_mtu;
    const bool placed = row.traits().places_payload() && in != InMessage::None;
    if (placed && qp.ahead.write_left <= mtu && !ends_message(row.position)) continue;
    if (placed && qp.ahead.write_left > mtu && ends_message(row.position) && random_.chance(7, 8))
      continue;
    // Short messages give more requests.
    if (in == InMessage::None && !ends_message(row.position) && random_.chance(1, 2)) continue;
    return row;
  }
}

u32 ResponderCheckStimulus::choose_psn(const ReceiveState& state, const OpcodeRow& row) {
  const u32 epsn = state.epsn;
  if (row.operation == Operation::Resync && random_.chance(3, 4))
    return psn_add(epsn, random_.chance(1, 8) ? kPsnWindow - 1 : u32(random_.below(8)));
  if (plain_) return epsn;
  if (state.nak_sent && random_.chance(1, 3)) return psn_add(epsn, 1 + u32(random_.below(8)));
  switch (random_.below(24)) {
    case 0:
      return psn_add(epsn, 1);
    case 1:
      return psn_sub(epsn, 1);
    case 2:
      return psn_add(epsn, kPsnWindow - 1);
    case 3:
      return psn_add(epsn, kPsnWindow);
    case 4:
    case 6:
      return psn_sub(epsn, 1 + u32(random_.below(8)));
    case 5:
      return u32(random_()) & kPsnMask;
    default:
      return epsn;
  }
}

u32 ResponderCheckStimulus::choose_payload(const CheckedQp& qp, const OpcodeRow& row) {
  const u32 mtu = qp.config.path_mtu;
  if (odd(1, 10)) {
    const std::array<u32, 8> kOdd{0, 0, 1, mtu - 1, mtu, mtu + 1, mtu - 4, u32(random_.below(65))};
    return std::min<u32>(one_of(random_, kOdd), 4096);
  }
  if (row.operation == Operation::Resync) return odd(1, 4) ? 1 + u32(random_.below(64)) : 0;
  if (row.payload == PayloadRule::Eight) return kAtomicBytes;
  if (row.payload == PayloadRule::UpTo256 && random_.chance(1, 2))
    return one_of(random_,
                  std::array<u32, 4>{1, u32(random_.below(257)), 256, odd(1, 4) ? 257u : 0});
  if (row.traits().is_saved()) return 0;
  if (!is_executed(row)) return one_of(random_, std::array<u32, 3>{0, u32(random_.below(65)), mtu});
  if (!ends_message(row.position)) {
    if (!odd(1, 24)) return mtu;
    return random_.chance(1, 2) ? 0 : u32(random_.below(65));
  }
  if (row.traits().places_payload() && !begins_message(row.position) && qp.ahead.write_left <= mtu)
    return qp.ahead.write_left;
  switch (random_.below(8)) {
    case 0:
      return mtu;
    case 1:
      return !plain_ && (row.position == Position::Only || random_.chance(1, 2)) ? 0 : 1;
    default:
      return 1 + u32(random_.below(64));
  }
}

void ResponderCheckStimulus::choose_headers(Packet& p, const OpcodeRow& row, u32 payload,
                                            ExtHeaders& ext) {
  randomize(ext, random_);
  const u32 mtu = p.qp.path_mtu;
  constexpr u32 kMost = u32{1} << 31;
  if (row.has(Ext::Reth)) {
    u32& bytes = ext.reth.dma_len;
    const bool longer = random_.chance(1, 6);  // of any length
    const u32 most = kMost >> (random_.chance(1, 2) ? 0 : random_.below(24));
    const bool longest = random_.chance(1, 8);
    if (!row.traits().places_payload())
      bytes = u32(longest                ? kMost
                  : longer               ? 1 + random_.below(most)
                  : random_.chance(1, 3) ? mtu * random_.below(4)
                                         : random_.below(3 * mtu));
    else
      bytes = row.position == Position::First
                  ? std::min(kMost, payload + 1 + u32(random_.below(longer ? most : 2 * mtu)))
                  : payload;
    const std::array<u32, 12> kOdd{0,         payload,   payload + 1,    payload - 1,
                                   mtu * 4u,  kMost,     kMost,          kMost,
                                   kMost + 1, kMost + 1, u32(random_()), ~u32(random_.below(256))};
    if (odd(1, 8)) bytes = one_of(random_, kOdd);
    if (!row.traits().places_payload() && odd(1, 10)) bytes = kMost + 1;
    if (row.traits().exact_bytes && !odd(1, 8)) bytes = row.traits().exact_bytes;
    if (odd(1, 24)) ext.reth.rkey = 0;
  }
  if (row.has(Ext::Eoeth)) choose_extended(p, row, ext);
  if (row.traits().is_aligned() && row.has(Ext::Reth)) {
    ext.reth.va &= ~u64{7};
    if (odd(1, 8)) ext.reth.va |= u64{1} << random_.below(3);
  }
  if (row.has(Ext::Feth)) {  // placement types of one bit more often: each has its right
    ext.feth = {u8(random_.below(2)), u8(random_.chance(1, 2) ? 1 + random_.below(3) : 2)};
    const std::array<Feth, 3> kOdd{
        Feth{ext.feth.selectivity, 0},
        {ext.feth.selectivity, u8(ext.feth.placement_type | 4u << random_.below(2))},
        {u8(ext.feth.selectivity | 2), ext.feth.placement_type}};
    if (odd(1, 2)) ext.feth = one_of(random_, kOdd);
  }
  if (row.has(Ext::AtomicEth)) {
    ext.atomic_eth.va &= ~u64{7};
    if (odd(3, 4)) ext.atomic_eth.va |= u64{1} << random_.below(3);
    if (odd(1, 24)) ext.atomic_eth.rkey = 0;
  }
  if (random_.chance(1, 16)) ext.reth.va |= ~u64{0} << random_.below(33);  // close to the end
  ext.deth.qkey = own_qkey(p.qp);
  if (odd(1, 12)) ext.deth.qkey ^= 1u << random_.below(32);
  if (odd(1, 24)) ext.deth.qkey = p.qp.qkey;
  if (turns(Turned::Qkey) && row.has(Ext::Deth)) ext.deth.qkey ^= 1u << next_bit(32);
}

// Mostly just around the access; else with one error.
void ResponderCheckStimulus::choose_region(Packet& p, const OpcodeRow& row, const ExtHeaders& ext) {
  const bool atomic = row.traits().is_atomic();
  if (!row.has(Ext::Reth) && !row.has(Ext::AtomicEth)) return;
  const u32 key = atomic ? ext.atomic_eth.rkey : ext.reth.rkey;
  const u64 va = atomic ? ext.atomic_eth.va : ext.reth.va;
  const u64 bytes = atomic ? 8 : ext.reth.dma_len;
  Region& r = p.region;
  p.has_region = key != 0 && !odd(1, 24);
  r.key = key;
  r.pd = remote_accessor(p.qp, p.srq ? &p.srq->ahead : nullptr).pd;
  r.access = kEveryRight;
  r.state = KeyState::Valid;
  r.qpn = random_.chance(1, 2) ? kAnyQp : queue_pair_of(p.qp);
  const u64 before = random_.chance(1, 2) ? 0 : random_.below(100),
            behind = random_.chance(1, 2) ? 0 : random_.below(100);
  r.start = va - std::min(before, va);
  r.bytes = va - r.start + bytes + behind;
  if (turns(Turned::Region)) return turn_region(p);
  if (!odd(1, 3)) return;
  // Single bits of numbers more often: there are many, and each is compared.
  constexpr std::array<u32, 16> kWrong{0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  switch (one_of(random_, kWrong)) {
    case 0:
      r.key ^= 1u << (random_.chance(1, 2) ? random_.below(32) : one_of(random_, kEdges));
      break;
    case 1:
      r.pd ^= 1u << random_.below(32);
      break;
    case 2:
      r.qpn = queue_pair_of(p.qp) ^ (1u << random_.below(32));
      break;
    case 3:
      r.access = Rights(random_());
      break;
    case 4:
      r.state = random_.chance(1, 2) ? KeyState::Free : KeyState::Invalid;
      break;
    case 5:
      r.start = va + 1;
      r.bytes = bytes + 1;
      break;
    case 6:
      r.start = va;
      r.bytes = bytes - (bytes != 0);
      break;
    case 7:
      r.start = va - 1;
      r.bytes = bytes;
      break;
    case 8:
      r.bytes = random_.below(16);
      break;
    case 9:
      r.start = 0;
      r.bytes = ~u64{0} >> random_.below(2);
      break;
    default:
      r.start = random_();
      r.bytes = random_();
  }
}

// Chooses among the numbers that the request has; addresses outnumber all others.
ResponderCheckStimulus::Turned ResponderCheckStimulus::choose_turned(const OpcodeRow& row) {
  const bool names = row.has(Ext::XrcEth) || row.service == Service::Rd;
  if (names && !begins_message(row.position) && random_.chance(1, 2)) return Turned::Queue;
  if ((row.has(Ext::Reth) || row.has(Ext::AtomicEth)) && random_.chance(2, 3))
    return Turned::Region;
  if (row.has(Ext::Deth) && random_.chance(1, 3)) return Turned::Qkey;
  if (request::takes_receive_wqe(row) && random_.chance(1, 4)) return Turned::Posted;
  return random_.chance(1, 8) ? Turned::Pkey : Turned::Path;
}

// One bit of a compared number is inverted; or the region is larger than 4 GiB, starts that far
// before the access, or ends at or after the last address.
void ResponderCheckStimulus::turn_region(Packet& p) {
  Region& r = p.region;
  const u32 bit = next_bit(6 * 32 + 8);
  const u32 mask = 1u << bit % 32;
  switch (bit / 32) {
    case 0:
      r.key ^= mask;
      break;
    case 1:
      r.pd ^= mask;
      break;
    case 2:
      r.qpn = queue_pair_of(p.qp) ^ mask;
      break;
    case 3:
      r.bytes = (u64{mask} << 32) + r.bytes / 2;
      break;
    case 4:
      r.start -= u64{mask} << 32;
      break;
    case 5:
      r.qpn = kAnyQp ^ mask;
      break;
    default:
      r.bytes = ~r.start + bit % 4;
  }
}

// The addresses of the peer with one bit inverted; GIDs with and without the default prefix.
AddressVector ResponderCheckStimulus::turn_path(AddressVector av) {
  const bool ipv4 = av.framing == Framing::RoceV2Ip4;
  const bool local = av.framing == Framing::IbLocal;
  const u32 each = local ? 16 : ipv4 ? 32 : 128 + 128;  // the second half with the default prefix
  const u32 bit = next_bit(2 * each);
  const bool peers = bit / each == 0;
  const u32 at = bit % each;
  if (local) {
    u16& lid = peers ? av.source_lid : av.destination_lid;
    lid = u16(lid ^ (1u << at));
    return av;
  }
  Gid& gid = peers ? av.source_gid : av.destination_gid;
  if (at >= 128) store_be<8>(gid.bytes.data(), kDefaultGidPrefix);
  const u32 turned = ipv4 ? 96 + at : at % 128;
  gid.bytes[turned / 8] ^= u8(1u << turned % 8);
  return av;
}

// The peer's addresses, or others.
AddressVector ResponderCheckStimulus::choose_path(const Packet& p) {
  AddressVector av = turned(p.of->address);
  if (turns(Turned::Path)) return turn_path(av);
  const bool ipv4 = av.framing == Framing::RoceV2Ip4;
  const auto prefixed = [&](Gid& gid) {
    if (!ipv4) store_be<8>(gid.bytes.data(), kDefaultGidPrefix);
  };
  if (random_.chance(1, 8)) prefixed(av.source_gid);
  if (random_.chance(1, 8)) prefixed(av.destination_gid);
  if (odd(1, 10)) {
    const u32 byte = ipv4 ? 12 + u32(random_.below(4)) : u32(random_.below(16));
    const u8 bit = u8(1u << random_.below(8));
    switch (random_.below(5)) {
      case 0:
        av.source_gid.bytes[byte] ^= bit;
        break;
      case 1:
        av.destination_gid.bytes[byte] ^= bit;
        break;
      case 2:
        av.source_lid = (av.source_lid ^ u16(1u << random_.below(16)));
        break;
      case 3:
        av.destination_lid = u16(av.destination_lid ^ u16(1u << random_.below(16)));
        break;
      default: {
        const StreamRow other = one_of(random_, kStreams);
        if (other.framing == av.framing) break;
        const AddressVector fresh = random_address(random_, other.framing, other.vlan);
        const bool same_kind = (other.framing == Framing::RoceV2Ip4) == ipv4;
        const Gid source = av.source_gid, destination = av.destination_gid;
        const u16 slid = av.source_lid, dlid = av.destination_lid;
        av = fresh;
        av.source_lid = slid;
        av.destination_lid = dlid;
        if (same_kind) {
          av.source_gid = source;
          av.destination_gid = destination;
        }
      }
    }
  }
  if (p.qp.qpn == kQp0 ? !odd(1, 4) : odd(1, 10)) av.virtual_lane = kQp0Lane;
  if (odd(1, 32))  // a group's, or the permissive one
    av.source_lid = u16(random_.chance(1, 4) ? 0xffff : 0xc000 | (random_() & 0x3fff));
  return av;
}

void ResponderCheckStimulus::build(Packet& p) {
  const OpcodeRow& chosen = choose_opcode(*p.of);
  if (plain_) turned_ = choose_turned(chosen);
  // A request out of sequence lacks its rights as well: the first of the two rules decides.
  if (is_executed(chosen) && out_of_turn(chosen, p.of->ahead.message) && random_.chance(3, 4))
    p.qp.access = 0;
  OpcodeRow row = chosen;
  if (odd(1, 40)) {
    const auto fits = [&](u8 code) {
      const bool of_rd = code >> 5 == unsigned(Service::Rd);
      return !opcode_row(code) && (!has_rd_ || of_rd == p.of_ee());
    };
    do
      row.code =
          u8(random_.chance(1, 2) ? random_() : (random_() & 31) | unsigned(p.qp.service) << 5);
    while (!fits(row.code));
    row.name = "reserved";
    row.ext = p.of_ee() ? Ext::Rdeth | Ext::Deth : ExtSet{};
    row.ext_bytes = p.of_ee() ? bytes_of<Rdeth>() + bytes_of<Deth>() : 0;
  }
  const AddressVector av = choose_path(p);
  // The largest values that lengths of 16 bits allow, whatever the headers.
  const bool longest = !is_native(av.framing) && !plain_ && random_.chance(1, 1000);
  const u32 payload = longest ? u32(random_.below(65400)) : choose_payload(*p.of, chosen);
  ExtHeaders ext{};
  choose_rd_queue(p, chosen);
  choose_headers(p, row, payload, ext);
  choose_xrc_queue(p, row);
  ext.xrc_eth.xrc_srq = p.named_srq;
  ext.rdeth.ee_context = device::eecn_of(p.qp.qpn);
  if (opcode_row(row.code)) choose_region(p, row, ext);
  const Path path = make_path(av);
  Bth bth{};
  randomize(bth, random_);
  bth.tver = 0;
  bth.dest_qp = p.of_ee() ? p.dest_qp : p.qp.qpn;
  bth.psn = choose_psn(p.of->ahead, chosen);
  bth.pkey = u16(p.qp.pkey | 0x8000);
  if (p.qp.qpn == kQp1) bth.pkey = u16(one_of(random_, port_->pkeys) | 0x8000);
  if (odd(1, p.qp.service == Service::Ud ? 4 : 12)) bth.pkey ^= u16(1u << random_.below(16));
  if (turns(Turned::Pkey)) bth.pkey ^= u16(1u << next_bit(16));
  p.frame.assign(frame_bytes(path, row, payload), 0);
  write_headers(path, row, bth, ext, payload, p.frame.data(), u16(random_()));
  p.link = framing_row(av.framing).link;
  p.what = fmt::format("{} {:#04x} of {} bytes to {} {}", row.name, row.code, payload,
                       p.of_ee() ? "an EE context of" : "a QP of", name_of(p.qp.service));
}
}  // namespace hca::testbench
