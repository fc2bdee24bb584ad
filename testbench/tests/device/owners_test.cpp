// SPDX-License-Identifier: Apache-2.0
// Who may change a table of a device: the types say it, so what is not allowed does not compile.
#include <catch2/catch.hpp>
#include <type_traits>

#include "model/device/port_counts.h"
#include "model/device/writers.h"

namespace hca::device {
namespace {
// An entry of a table; those of connections are found by handle alone.
template <class Table>
auto entry_of(Table& table) -> decltype(*std::begin(table));
template <class Table>
auto entry_of(Table& table) -> decltype(table[std::declval<Connection>()]);
template <auto kTable, class From>
using EntryOf = decltype(entry_of(std::declval<From&>().*kTable));

// Whoever reads Contexts cannot change an entry, nor make itself a Writer of the table.
template <auto kTable>
constexpr bool is_owned() {
  return std::is_const_v<std::remove_reference_t<EntryOf<kTable, const Contexts>>> &&
         !std::is_const_v<std::remove_reference_t<EntryOf<kTable, Contexts>>> &&
         !std::is_constructible_v<Writer<kTable>, const Contexts&> &&
         std::is_constructible_v<Writer<kTable>, Contexts&>;
}
template <auto... kTables>
constexpr bool are_owned = (is_owned<kTables>() && ...);

using C = Contexts;
static_assert(are_owned<&C::qps, &C::send, &C::receive, &C::sent, &C::regions, &C::ports,
                        &C::cables, &C::drops, &C::transport, &C::given, &C::qp_contexts,
                        &C::sends_posted, &C::bound_windows, &C::pds, &C::cqs, &C::eqs, &C::srqs,
                        &C::members, &C::vectors, &C::rd_domains, &C::ee_contexts>);
static_assert(!std::is_constructible_v<PortCounts, const Contexts&>);
static_assert(!std::is_constructible_v<SentMessages, const Contexts&>);
// The Writer of one table is none of another, though their entries are of one type.
static_assert(!std::is_convertible_v<CompletionRings, EventRings>);

// Only Contexts make a handle: a QPN or an SRQN is none, and finds no state by itself.
template <class Handle>
constexpr bool is_given_out =
    !std::is_constructible_v<Handle, u32> && !std::is_convertible_v<u32, Handle> &&
    std::is_copy_constructible_v<Handle>;
static_assert(is_given_out<Connection> && !std::is_default_constructible_v<Connection>);
static_assert(is_given_out<ReceiveQueue>);
template <class Table, class Key>
concept IsFoundBy = requires(Table table, Key key) {
  table[key];
};
static_assert(IsFoundBy<SendStates, Connection> && !IsFoundBy<SendStates, u32> &&
              !IsFoundBy<decltype(C::send), u32> && !IsFoundBy<decltype(C::receive), u32> &&
              !IsFoundBy<decltype(C::sent), u32>);
}  // namespace

TEST_CASE("what a Writer changes, all readers of the device see", "[device]") {
  Contexts contexts;
  const Connection connection = contexts.connection_of(1);
  contexts.send.make(connection), contexts.sent.make(connection).resize(4);
  contexts.srqs.resize(2), contexts.srqs[1].allocated = true;
  const SendStates send(contexts);
  const SharedQueues srqs(contexts);
  send[connection].started = 7;
  SentMessages(contexts).message(connection, 6).packets = 3;
  srqs.find(1)->taken = 5;
  const Contexts& reader = contexts;
  CHECK(reader.send_of(1).started == 7);
  CHECK(reader.message(connection, 2).packets == 3);  // modulo the queue's size
  CHECK(reader.find_srq(1)->taken == 5);
  CHECK_FALSE(srqs.find(0));
  CHECK_FALSE(srqs.find(2));
}

TEST_CASE("violations of keys stop at their largest number; other drops do not",
          "[device][G18.2][G19.2]") {
  Contexts contexts;
  const PortCounts counts(contexts);
  contexts.ports[0].bad_pkeys = 0xfffe;
  for (int i = 0; i < 3; ++i) counts.drop(1, &proto::DropCounters::bad_pkey);
  CHECK(contexts.ports[0].bad_pkeys == 0xffff);
  CHECK(contexts.ports[0].bad_qkeys == 0);
  CHECK(contexts.drops[0].bad_pkey == 3);
  counts.drop(1, nullptr);
  proto::QpConfig qp;
  counts.timeout(qp);
  qp.reliable = false;
  counts.timeout(qp);
  CHECK(contexts.transport[0].timeouts == 1);  // of reliable services
}
}  // namespace hca::device
