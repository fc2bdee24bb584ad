// SPDX-License-Identifier: Apache-2.0
// PortInfo (14.2.5.6): what it returns, what a Set may change.
#include <algorithm>

#include "testbench/sma/attributes.h"

namespace hca::sma {
using namespace proto;

namespace {
constexpr HeaderInfo kPortInfo = mad_header("PortInfo", kPortInfoFields);

class Fields {
 public:
  explicit Fields(std::span<u8, kSmpDataBytes> data) : data_(data) {}
  u64 get(std::string_view name) const {
    const FieldInfo& f = find(name);
    return get_bits(data_.data(), f.bit_at, f.bits);
  }
  void put(std::string_view name, u64 value) {
    const FieldInfo& f = find(name);
    set_bits(data_.data(), f.bit_at, f.bits, value);
  }

 private:
  static const FieldInfo& find(std::string_view name) {
    return *std::ranges::find(kPortInfo.begin(), kPortInfo.end(), name, &FieldInfo::name);
  }
  std::span<u8, kSmpDataBytes> data_;
};

constexpr u8 kLinkWidth4x = 2, kLinkSpeedSdr = 1, kLinkUp = 5, kPolling = 2, kNoOperation = 0;
constexpr u8 kArbitrationCap = kArbitrationEntries;
constexpr u16 kLastUnicastLid = 0xbfff;
constexpr u32 kMtus[]{256, 512, 1024, 2048, 4096};  // by code, from 1 on
u8 mtu_code(u32 mtu) { return u8(std::ranges::find(kMtus, mtu) - std::begin(kMtus) + 1); }
// "ClientReregister" is supported: bit 25; nothing else is.
constexpr u32 kCapabilities = 1u << 25;

// Modifier 0 is the port that received the SMP.
bool is_of_this_port(const Access& a) { return !a.modifier || a.modifier == a.device.number; }

// The states that a manager may ask for: Down, Armed from Init, Active from Armed. Down ends in
// Init, as the link comes up again.
bool next_state(PortState now, u8 asked, PortState& next) {
  switch (asked) {
    case kNoOperation:
      next = now;
      return true;
    case u8(PortState::Down):
      next = PortState::Init;
      return true;
    case u8(PortState::Armed):
      next = PortState::Armed;
      return now == PortState::Init || now == PortState::Armed;
    case u8(PortState::Active):
      next = PortState::Active;
      return now == PortState::Armed || now == PortState::Active;
    default:
      return false;
  }
}

// With a wrong M_Key and protection 1 the key is not shown (14.2.4.1).
u64 shown_key(const Access& a) { return a.port.protect == 1 && !a.key_matches ? 0 : a.port.m_key; }

bool lids_ok(const Fields& f) {
  const u64 lid = f.get("LID"), lmc = f.get("LMC"), sm = f.get("MasterSMLID");
  const bool sm_ok = sm >= 1 && sm <= kLastUnicastLid;
  return lid >= 1 && lid <= kLastUnicastLid && !(lid & ((1u << lmc) - 1)) && sm_ok;
}
bool lanes_ok(const Access& a, const Fields& f) {
  return f.get("OperationalVLs") <= a.facts.vl_cap;
}
bool mtu_ok(const Fields& f) {
  const u64 mtu = f.get("NeighborMTU");
  return mtu >= 1 && mtu <= std::size(kMtus);
}

void change_record(ManagedPort& port, const Fields& f) {
  port.m_key = f.get("M_Key");
  port.protect = u8(f.get("M_KeyProtectBits"));
  port.lease = u16(f.get("M_KeyLeasePeriod"));
  port.sm_sl = u8(f.get("MasterSMSL"));
  port.vl_high_limit = u8(f.get("VLHighLimit"));
  port.subnet_timeout = u8(f.get("SubnetTimeOut"));
  if (f.get("OperationalVLs")) port.operational_vls = u8(f.get("OperationalVLs"));
  if (!f.get("M_KeyViolations")) port.m_key_violations = 0;  // another value changes nothing
}
PortAttributes changed_port(const PortAttributes& now, const Fields& f, PortState state) {
  PortAttributes port = now;
  port.lid = u16(f.get("LID"));
  port.lmc = u8(f.get("LMC"));
  port.sm_lid = u16(f.get("MasterSMLID"));
  port.mtu = kMtus[f.get("NeighborMTU") - 1];
  port.state = state;
  port.reregister = f.get("ClientReregister");
  if (!f.get("P_KeyViolations")) port.bad_pkeys = 0;
  if (!f.get("Q_KeyViolations")) port.bad_qkeys = 0;
  for (Gid& gid : port.gids)
    if (load_be<8>(gid.bytes.data() + 8)) store_be<8>(gid.bytes.data(), f.get("GidPrefix"));
  return port;
}
}  // namespace

SmpStatus get_port_info(Access& a) {
  if (!is_of_this_port(a)) return SmpStatus::BadValue;
  std::ranges::fill(a.data, u8{0});
  const PortAttributes port = a.device.query();
  Fields f(a.data);
  f.put("M_Key", shown_key(a));
  f.put("GidPrefix", load_be<8>(port.gids[0].bytes.data()));
  f.put("LID", port.lid);
  f.put("MasterSMLID", port.sm_lid);
  f.put("CapabilityMask", kCapabilities);
  f.put("M_KeyLeasePeriod", a.port.lease);
  f.put("LocalPortNum", a.device.number);
  for (const char* width : {"LinkWidthEnabled", "LinkWidthSupported", "LinkWidthActive"})
    f.put(width, kLinkWidth4x);
  for (const char* speed : {"LinkSpeedSupported", "LinkSpeedActive", "LinkSpeedEnabled"})
    f.put(speed, kLinkSpeedSdr);
  f.put("PortState", u8(port.state));
  f.put("PortPhysicalState", is_down(port) ? kPolling : kLinkUp);
  f.put("LinkDownDefaultState", kPolling);
  f.put("M_KeyProtectBits", a.port.protect);
  f.put("LMC", port.lmc);
  f.put("NeighborMTU", mtu_code(port.mtu));
  f.put("MasterSMSL", a.port.sm_sl);
  f.put("VLCap", a.facts.vl_cap);
  f.put("VLHighLimit", a.port.vl_high_limit);
  if (a.facts.vl_cap > 1) {
    f.put("VLArbitrationHighCap", kArbitrationCap);
    f.put("VLArbitrationLowCap", kArbitrationCap);
  }
  f.put("MTUCap", std::size(kMtus));
  f.put("OperationalVLs", a.port.operational_vls);
  f.put("M_KeyViolations", a.port.m_key_violations);
  f.put("P_KeyViolations", port.bad_pkeys);
  f.put("Q_KeyViolations", port.bad_qkeys);
  f.put("GuidCap", kGidEntries);
  f.put("SubnetTimeOut", a.port.subnet_timeout);
  return SmpStatus::Good;
}

// A Set with a bad value changes nothing. Read-only fields are ignored.
SmpStatus set_port_info(Access& a) {
  if (!is_of_this_port(a)) return SmpStatus::BadValue;
  const PortAttributes now = a.device.query();
  Fields f(a.data);
  PortState state{};
  const bool good = next_state(now.state, u8(f.get("PortState")), state) && lids_ok(f) &&
                    lanes_ok(a, f) && mtu_ok(f) && a.device.set(changed_port(now, f, state));
  const bool reregisters = f.get("ClientReregister");
  if (good) {
    change_record(a.port, f);
    a.key_matches = true;
  }
  get_port_info(a);
  if (good) f.put("ClientReregister", reregisters);
  return good ? SmpStatus::Good : SmpStatus::BadValue;
}
}  // namespace hca::sma
