// SPDX-License-Identifier: Apache-2.0
#include "testbench/sma/subnet_agent.h"

#include <algorithm>

#include "testbench/sma/attributes.h"

namespace hca::sma {
using namespace proto;

namespace {
constexpr u8 kLidClass = 0x01, kDirectedClass = 0x81, kBaseVersion = 1, kClassVersion = 1;
constexpr u64 kNsPerSecond = 1'000'000'000;
// Places in a MAD, in bytes (13.4.2, 14.2.1).
constexpr unsigned kClassAt = 1, kVersionAt = 2, kMethodAt = 3, kStatusAt = 4, kHopPointerAt = 6,
                   kHopCountAt = 7, kAttributeAt = 16, kModifierAt = 20, kMKeyAt = 24,
                   kDrSlidAt = 32, kDrDlidAt = 34, kReturnPathAt = 192, kPathBytes = 64;
constexpr u16 kDirection = 0x8000;
constexpr u16 kPermissive = 0xffff;

enum class Method : u8 { Get = 0x01, Set = 0x02, Trap = 0x05, TrapRepress = 0x07, GetResp = 0x81 };
constexpr u8 kNever = 4;  // above all protections
// What a method asks of the M_Key (14.2.4): the protection from which on a wrong one is refused.
struct MethodRow {
  Method method;
  u8 refused_from;
  bool answers;
};
constexpr std::array kMethods{
    MethodRow{Method::Get, 2, true},
    MethodRow{Method::Set, 0, true},
    MethodRow{Method::Trap, kNever, false},
    MethodRow{Method::TrapRepress, 0, false},
};
const MethodRow* method_row(u8 method) {
  const auto row = std::ranges::find(kMethods, Method(method), &MethodRow::method);
  return row == kMethods.end() ? nullptr : row;
}

// 14.2.2: a directed SMP is for this end port if its route ends here.
bool ends_here(const u8* smp) {
  const u8 pointer = smp[kHopPointerAt], count = smp[kHopCountAt];
  if (load_be<2>(smp + kStatusAt) & kDirection) return false;  // a response
  return count < kPathBytes && pointer == count && load_be<2>(smp + kDrDlidAt) == kPermissive;
}

// The answer to a directed SMP goes back on the path by which it came.
void turn_back(u8* smp, u8 port) {
  const u8 count = smp[kHopCountAt];
  if (count) smp[kReturnPathAt + count] = port;
  smp[kHopPointerAt] = count;
}

// 14.2.4.1; a wrong key of a request that is refused counts, and starts the lease.
bool passes_key(ManagedPort& port, const Received& received, const MethodRow& method) {
  const u64 key = load_be<8>(received.bytes.data() + kMKeyAt);
  if (port.lease_ends && received.now_ns >= port.lease_ends) port.protect = 0, port.lease_ends = 0;
  if (!port.m_key || key == port.m_key) {
    port.lease_ends = 0;
    return true;
  }
  if (port.protect < method.refused_from) return true;
  if (port.m_key_violations != 0xffff) ++port.m_key_violations;
  if (port.lease && !port.lease_ends) port.lease_ends = received.now_ns + port.lease * kNsPerSecond;
  return false;
}
}  // namespace

std::optional<Answer> SubnetAgent::take(const Received& received) {
  if (received.bytes.size() != kMadBytes) return std::nullopt;
  Answer answer{};
  u8* const smp = answer.bytes.data();
  std::ranges::copy(received.bytes, smp);
  const bool directed = smp[kClassAt] == kDirectedClass;
  if (!directed && smp[kClassAt] != kLidClass) return std::nullopt;
  if (directed && !ends_here(smp)) return std::nullopt;
  const MethodRow* const method = method_row(smp[kMethodAt]);
  if (smp[kMethodAt] & 0x80) return std::nullopt;  // a response is for the manager
  SmpStatus status = SmpStatus::Good;
  if (smp[0] != kBaseVersion || smp[kVersionAt] != kClassVersion) {
    status = SmpStatus::BadVersion;
  } else if (!method) {
    status = SmpStatus::BadMethod;
  } else {
    if (!passes_key(port_, received, *method)) return std::nullopt;
    if (!method->answers) return std::nullopt;
    const AttributeRow* const row = attribute_row(load_be<2>(smp + kAttributeAt), facts_);
    const bool sets = method->method == Method::Set;
    AccessFunction* const access = !row ? nullptr : sets ? row->set : row->get;
    const bool matches = load_be<8>(smp + kMKeyAt) == port_.m_key;
    Access at{facts_,
              port_,
              device_,
              u32(load_be<4>(smp + kModifierAt)),
              std::span<u8, kSmpDataBytes>(smp + kSmpDataAt, kSmpDataBytes),
              matches};
    status = access ? access(at) : SmpStatus::BadAttribute;
  }
  smp[kMethodAt] = u8(Method::GetResp);
  if (!facts_.echoes_key) store_be<8>(smp + kMKeyAt, 0);
  store_be<2>(smp + kStatusAt, u16(status) | (directed ? kDirection : 0));
  const u16 dr_slid = u16(load_be<2>(smp + kDrSlidAt));
  answer.dlid = directed && dr_slid == kPermissive ? kPermissive : received.slid;
  if (directed) turn_back(smp, device_.number);
  return answer;
}
}  // namespace hca::sma
