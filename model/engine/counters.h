// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <utility>

#include "model/proto/rows.h"
#include "model/proto/types.h"

namespace hca::engine {
// The unit of a counter of cycles in which work was blocked; its sentence names the missing thing.
inline constexpr std::string_view kWaited = "cycles waited";

// One counter of a struct of plain u64 members: a row of its table.
template <class C>
struct Counter {
  std::string_view name;
  u64 C::*member;
  std::string_view unit;  // what it counts: "packets", "bytes", "cycles"
  std::string_view sentence;
};

// The table of a counter struct, declared once beside it:
//   struct PortCounters { u64 packets = 0, bytes = 0; };
//   template <> struct Counters<PortCounters> {
//     static constexpr std::string_view block = "port";
//     static constexpr auto rows = make_rows(
//         counter("packets", &PortCounters::packets, "packets", "packets put on the wire"), ...);
//   };
template <class C>
struct Counters;

template <class C>
constexpr Counter<C> counter(std::string_view name, u64 C::*member, std::string_view unit,
                             std::string_view sentence) {
  return {name, member, unit, sentence};
}

// Calls fn(row, value) for each row in the table's order; value is a reference, const if `counters`
// is.
template <class C, class Fn>
void for_each_counter(C& counters, Fn&& fn) {
  with_rows([&](const auto&... row) { (fn(row, counters.*row.member), ...); },
            Counters<std::remove_const_t<C>>::rows);
}

// Adds the counters of several chips or ports.
template <class C>
void add_counters(C& sum, const C& more) {
  with_rows([&](const auto&... row) { ((sum.*row.member += more.*row.member), ...); },
            Counters<C>::rows);
}
}  // namespace hca::engine
