// SPDX-License-Identifier: Apache-2.0
// The optional operations and services of a device as a table: for each its option, its knob
// (hca.transport.*), its bit of QueryDevice, and its bit of the contexts that the RTL gets.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/rows.h"
#include "model/proto/wire/layout.h"

namespace hca::proto {
// The devices that execute an operation or have a service: all, those with an option, none.
enum class Capability : u8 { Base, Flush, AtomicWrite, Xrc, Apm, Extended, Rd, Missing };

// The options of a device. All are off by default; without them their requests are refused (T10-2).
struct Capabilities {
  bool flush = false;
  bool atomic_write = false;
  bool xrc = false;
  bool apm = false;
  bool extended = false;
  bool rd = false;
};
struct CapabilityRow {
  Capability capability;
  bool Capabilities::*has;
  std::string_view option;    // its knob, and its signal in the RTL
  std::string_view name;      // its bit of QueryDevice
  std::string_view meaning;   // of that bit
  std::string_view sentence;  // of the knob
};
inline constexpr std::array kCapabilities{
    CapabilityRow{
        Capability::Flush, &Capabilities::flush, "flush", "Flush", "RC has FLUSH",
        "RC executes FLUSH; otherwise a FLUSH request is refused, whatever follows its BTH "
        "(T10-2)"},
    CapabilityRow{Capability::AtomicWrite, &Capabilities::atomic_write, "atomic_write",
                  "AtomicWrite", "RC has ATOMIC WRITE",
                  "RC executes ATOMIC WRITE; otherwise it is refused (T10-2)"},
    CapabilityRow{Capability::Xrc, &Capabilities::xrc, "xrc", "Xrc", "the service XRC",
                  "the device has XRC: its domains, SRQs and queue pairs; otherwise it creates "
                  "none"},
    CapabilityRow{Capability::Apm, &Capabilities::apm, "apm", "Apm", "automatic path migration",
                  "connections may have an alternate path and migrate to it (G17); otherwise M is "
                  "sent as 1 and ignored (G17.5)"},
    CapabilityRow{Capability::Extended, &Capabilities::extended, "extended", "Extended",
                  "extended operations of the classes GET and PUT",
                  "reliable services execute the extended operations of extended_operations.h; "
                  "otherwise their opcodes are refused (T10-2)"},
    CapabilityRow{Capability::Rd, &Capabilities::rd, "rd", "Rd", "the service RD",
                  "the device has RD: its domains, EE contexts and queue pairs; otherwise it "
                  "creates none and drops their packets (G13.5)"},
};
// The rows are in the order of the enumerators, and each has its own member.
static_assert([] {
  for (std::size_t i = 0; i < kCapabilities.size(); ++i)
    if (std::size_t(kCapabilities[i].capability) != i + 1) return false;
  return std::size_t(Capability::Missing) == kCapabilities.size() + 1;
}());
static_assert(sizeof(Capabilities) == kCapabilities.size());

constexpr bool has(const Capabilities& device, Capability capability) {
  if (capability == Capability::Base) [[likely]]
    return true;
  for (const CapabilityRow& row : kCapabilities)
    if (row.capability == capability) return device.*row.has;
  return false;
}

// make_rows() of what `row` makes of each capability.
template <class Row>
constexpr auto rows_of_capabilities(Row row) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return make_rows(row(kCapabilities[i])...);
  }
  (std::make_index_sequence<kCapabilities.size()>{});
}
// One bit each, in a structure that has them.
template <class Structure>
constexpr auto capability_fields(std::string_view CapabilityRow::*name) {
  return rows_of_capabilities([&](const CapabilityRow& row) {
    return field<Structure, bool>(row.has, row.*name, 1, row.meaning);
  });
}
}  // namespace hca::proto
