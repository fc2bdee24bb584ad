// SPDX-License-Identifier: Apache-2.0
// The owner of a running state holds the Writer of its table; all others read Contexts. A Writer is
// made from mutable Contexts, which only the assembly of a device and the commands have.
#pragma once
#include <type_traits>

#include "model/device/contexts.h"

namespace hca::device {
template <auto kTable>
class Writer {
  using Table = std::remove_reference_t<decltype(std::declval<Contexts&>().*kTable)>;

 public:
  explicit Writer(Contexts& contexts) : table_(&(contexts.*kTable)) {}
  // By the number of an object, or by a connection.
  template <class Key>
  requires requires(Table& table, Key key) { table[key]; }
  typename Table::value_type& operator[](Key key) const { return (*table_)[key]; }
  // nullptr: the object does not exist.
  typename Table::value_type* find(u32 number) const { return find_entry(*table_, number); }
  bool holds(u32 number) const { return device::holds(*table_, number); }
  bool holds(Connection connection) const { return table_->holds(connection); }

 private:
  Table* table_;
};

using SendStates = Writer<&Contexts::send>;
using ReceiveStates = Writer<&Contexts::receive>;
using SharedQueues = Writer<&Contexts::srqs>;
using CompletionRings = Writer<&Contexts::cqs>;
using EventRings = Writer<&Contexts::eqs>;
using Vectors = Writer<&Contexts::vectors>;
using PostedSends = Writer<&Contexts::sends_posted>;

// The attributes of EE contexts: those of the queue pairs that they serve.
class ServedContexts {
 public:
  explicit ServedContexts(Contexts& contexts) : qps_(&contexts.qps) {}
  proto::QpConfig& operator[](u32 ee) const { return (*qps_)[ee]; }

 private:
  QpTable* qps_;
};

class SentMessages : Writer<&Contexts::sent> {
 public:
  using Writer::Writer;
  proto::SentMessage& message(Connection connection, u32 index) const {
    return message_in((*this)[connection], index);
  }
};
}  // namespace hca::device
