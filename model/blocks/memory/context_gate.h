// SPDX-License-Identifier: Apache-2.0
// A queue in which work waits, in order, for its contexts before the block that uses them.
#pragma once
#include <algorithm>
#include <vector>

#include "model/blocks/items.h"
#include "model/blocks/memory/context_cache.h"
#include "model/blocks/send/read_order.h"
#include "model/engine/mailbox.h"

namespace hca::blocks {
// Looks up what each item needs, of the first one and of `lookahead` - 1 after it. Items leave in
// order, each when all its contexts are on chip.
// `note(item)` states an item's needs by need(). A block of the domain calls move() in each tick.
//
// Contract: one look-up a cycle; an item whose last look-up is answered in cycle n leaves in n.
template <class Item>
class ContextGate {
 public:
  explicit ContextGate(const ContextCache& cache) : cache_(cache) {}

  ContextAskLink* asks_out = nullptr;
  ContextAnswerLink answers_in;

  bool full() const { return waiting_.size() >= cache_.lookahead(); }
  void enter(Item item) {
    Waiting& w = waiting_.add();
    w.item = item;
    w.open = 0;
    needs_.clear();
  }
  // Adds a need of the item that entered last.
  void need(proto::ContextKind kind, u64 number) {
    const ContextAsk ask{kind, number, first_ + waiting_.size() - 1};
    const auto same = [&](const ContextAsk& a) { return a.kind == kind && a.number == number; };
    if (cache_.holds_all(kind) || std::any_of(needs_.begin(), needs_.end(), same)) return;
    needs_.push_back(ask);
    asks_.push(ask);
    ++waiting_.at(waiting_.size() - 1).open;
  }
  // The item that entered last is a turn: its WQEs are needed in the WQE cache, after their fetch
  // or to repeat them.
  void need_wqes(Turn* turn, bool fills) {
    if (cache_.holds_all(proto::ContextKind::Wqe)) return;
    asks_.push({proto::ContextKind::Wqe, 0, first_ + waiting_.size() - 1, turn, fills});
    ++waiting_.at(waiting_.size() - 1).open;
  }
  // For a queue pair: index after the last WQE whose acknowledgement has passed this gate.
  u32& acknowledged(u32 qpn) {
    if (qpn >= acknowledged_.size()) acknowledged_.resize(qpn + 1);
    return acknowledged_[qpn];
  }
  void move() {
    if (answers_in.can_pop()) --waiting_.at(answers_in.pop() - first_).open;
    if (asks_.empty() || !asks_out->can_push()) return;
    asks_out->push(asks_.pop());
    if (!asks_.empty()) asks_out->wake_when_free();
  }
  // Call in each tick: true if the first item may leave.
  bool ready(Cycle now) {
    const bool is_ready = !waiting_.empty() && !waiting_.front().open;
    const bool held = !waiting_.empty() && !is_ready;
    if (held != (held_since_ != engine::kNever)) hold(held, now);
    return is_ready;
  }
  Item pop() {
    ++first_;
    return waiting_.pop().item;
  }
  // Cycles in which the first item waited for a context.
  const u64& waited() const { return waited_; }
  const ContextCache& cache() const { return cache_; }

 private:
  struct Waiting {
    Item item{};
    u32 open = 0;  // unanswered look-ups
  };
  void hold(bool held, Cycle now) {
    if (!held) waited_ += now - held_since_;
    held_since_ = held ? now : engine::kNever;
  }
  const ContextCache& cache_;
  u64 waited_ = 0;
  Cycle held_since_ = engine::kNever;
  Ring<Waiting> waiting_;
  Ring<ContextAsk> asks_;
  std::vector<ContextAsk> needs_;
  std::vector<u32> acknowledged_;
  u32 first_ = 0;  // ticket of the first waiting item
};

// A gate in the middle of a link.
template <class L, class Item>
class LinkGate : public engine::Block {
 public:
  using Note = void (*)(const device::Contexts& contexts, const Item& item,
                        ContextGate<Item>& gate);
  LinkGate(const ContextCache& cache, const device::Contexts& contexts, Note note)
      : gate(cache), contexts_(contexts), note_(note) {}

  L in, not_read_in;  // turns use both; the one seen first enters
  L* out = nullptr;
  ContextGate<Item> gate;

  [[gnu::noinline]] void tick() {
    enter();
    gate.move();
    if (gate.ready(now()) && out->can_push()) {
      out->push(gate.pop());
      if (gate.ready(now())) out->wake_when_free();
    }
    if (waits() && !gate.full()) wake_at(now() + 1);
  }

 private:
  bool waits() const { return shows(in) || shows(not_read_in); }
  void enter() {
    if (!waits() || gate.full()) return;
    const Item item = next_of(not_read_in, in).pop();
    gate.enter(item);
    note_(contexts_, item, gate);
  }
  const device::Contexts& contexts_;
  const Note note_;
};

// A gate between the wire and the receiving half of a port. Waiting packets occupy the buffer of
// the port.
class PacketGate : public engine::Block {
 public:
  PacketGate(const ContextCache& cache, const device::Contexts& contexts, unsigned port)
      : gate(cache), contexts_(contexts), port_(port) {}

  engine::Mailbox<Packet*> in;
  engine::Mailbox<Packet*>* out = nullptr;
  ContextGate<Packet*> gate;

  void tick();

 private:
  void note(Packet* packet);

  const device::Contexts& contexts_;
  const unsigned port_;
  u32 left_ = 0;  // packets, counted
};

// States the needs of a fetched turn: its queue pair, and the memory that its SGEs name. Its WQEs
// are inserted into the WQE cache.
void note_turn(const device::Contexts& contexts, Turn* const& turn, ContextGate<Turn*>& gate);
// States the needs of a turn before its fetch: only the queue pair, or for a repetition the WQEs.
void note_queue_pair(const device::Contexts& contexts, Turn* const& turn, ContextGate<Turn*>& gate);
struct ReceiveBatch;
void note_batch(const device::Contexts& contexts, ReceiveBatch* const& batch,
                ContextGate<ReceiveBatch*>& gate);
// States the needs of a response: the WQE of its READ or ATOMIC, and those of the messages that it
// acknowledges.
void note_response(const device::Contexts& contexts, const Acknowledgement& response,
                   ContextGate<Acknowledgement>& gate);
void note_completion(const device::Contexts& contexts, const Completed& completed,
                     ContextGate<Completed>& gate);

// A key, and the translation of [va, va + bytes).
template <class Item>
void need_memory(const device::Contexts& contexts, u32 key, u64 va, u64 bytes,
                 ContextGate<Item>& gate) {
  gate.need(proto::ContextKind::Mpt, proto::key_index(key));
  const proto::Region* region = contexts.find_region(key);
  if (!bytes || !region || !region->exists() || va < region->start ||
      va - region->start >= region->bytes)
    return;
  const u8 log_line = u8((region->pages ? region->log_page : gate.cache().log_page()) +
                         std::bit_width(proto::kPagesOfLine) - 1);
  const u64 first = (va - region->origin) >> log_line;
  const u64 in_region = std::min(bytes, region->bytes - (va - region->start));
  const u64 last = (va - region->origin + in_region - 1) >> log_line;
  for (u64 line = first; line <= last; ++line)
    gate.need(proto::ContextKind::Mtt, proto::mtt_number(proto::key_index(key), line));
}
}  // namespace hca::blocks
