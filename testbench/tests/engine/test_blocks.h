// SPDX-License-Identifier: Apache-2.0
// The blocks of a small chip that uses each part of the wake-up contract once: timers,
// back-pressure, an arbiter, a budget, an internal table, a paced port, mailboxes and credits
// between chips. No protocol.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "model/engine/budget.h"
#include "model/engine/link.h"
#include "model/engine/mailbox.h"
#include "model/engine/probe.h"
#include "model/engine/random.h"
#include "model/engine/rate.h"
#include "testbench/tests/engine/test_chip.h"

namespace hca::engine::test {
struct Item {
  u32 id = 0;
  u16 source = 0, destination = 0;
  u16 beats = 1;
};
enum class Kind : u8 { Sent, Granted, Asked, Served, Wired, Received, Consumed };
using ItemLink = Link<Item, 8>;

// Sends bursts of items with pauses between them.
class Source : public Block {
 public:
  Source(const Config& c, u16 chip, u16 index, Probe p)
      : probe(p),
        config_(c),
        random_(c.seed * 1000 + chip * 10u + index),
        chip_(chip),
        index_(index) {}
  ItemLink* items_out = nullptr;
  Probe probe;

  [[gnu::noinline]] void tick() {
    if (sent_ == config_.items || now() < next_at_ || !items_out->can_push()) return;
    const u16 other = u16(1 + random_.below(config_.chips - 1));
    const Item item{sent_++ * 2 + index_, chip_, u16((chip_ + other) % config_.chips),
                    u16(1 + random_.below(config_.max_beats))};
    items_out->push(item, item.beats);
    probe.event(now(), Kind::Sent, item.id, item.beats);
    if (burst_-- == 0) {
      burst_ = u32(random_.below(8));
      next_at_ = now() + 1 + random_.below(config_.max_gap);
      wake_at(next_at_);
      return;
    }
    items_out->wake_when_free();
  }

 private:
  const Config& config_;
  Random random_;
  u16 chip_, index_;
  u32 sent_ = 0, burst_ = 3;
  Cycle next_at_ = 0;
};

// Two inputs, one output, round robin.
class Arbiter : public Block {
 public:
  explicit Arbiter(Probe p) : probe(p) {}
  std::array<ItemLink, 2> items_in{ItemLink{4}, ItemLink{2}};
  ItemLink* items_out = nullptr;
  Probe probe;

  [[gnu::noinline]] void tick() {
    for (unsigned k = 0; k < 2; ++k) {
      const unsigned i = (next_ + k) % 2;
      if (!items_in[i].can_pop()) continue;
      if (!items_out->can_push()) return;
      const Item item = items_in[i].pop();
      items_out->push(item, item.beats);
      probe.event(now(), Kind::Granted, item.id, i);
      next_ = 1 - i;
      if (items_in[next_].can_pop()) items_out->wake_when_free();
      return;
    }
    // No input has an item.
  }

 private:
  unsigned next_ = 0;
};

// A plain registered stage.
class PlainStage : public Block {
 public:
  ItemLink items_in{2};
  ItemLink* items_out = nullptr;
  void tick() {
    if (items_in.can_pop() && items_out->can_push()) items_out->push(items_in.pop());
  }
};

// Sends each item to the memory; limited by tags, which the memory returns, and by its own entries.
class Server : public Block {
 public:
  Server(const Config& c, Probe p) : tags(c.tags), probe(p), entries_(c.entries) {}
  ItemLink items_in{4}, answers_in{8};
  ItemLink *requests_out = nullptr, *items_out = nullptr;
  Budget tags;
  Probe probe;

  [[gnu::noinline]] void tick() {
    if (answers_in.can_pop() && items_out->can_push()) {
      const Item item = answers_in.pop();
      items_out->push(item);
      probe.event(now(), Kind::Served, item.id);
      ++entries_;
      if (items_in.can_pop()) wake_at(now() + 1);  // the entry is free from the next cycle on
      return;
    }
    if (!entries_ || !items_in.can_pop() || !tags.available() || !requests_out->can_push()) return;
    const Item item = items_in.pop();
    tags.take(), --entries_;
    requests_out->push(item);
    probe.event(now(), Kind::Asked, item.id);
  }

 private:
  unsigned entries_;
};

// Answers in order; each answer takes as many cycles as its item has beats.
class Memory : public Block {
 public:
  Memory(const Config& c, Budget& tags) : config_(c), tags_(tags) {}
  ItemLink requests_in{4};
  ItemLink* answers_out = nullptr;
  void tick() {
    if (!requests_in.can_pop() || !answers_out->can_push()) return;
    const Item item = requests_in.front();
    requests_in.pop(item.beats);
    answers_out->push(item, 1, config_.memory_latency);
    tags_.give(now() + config_.memory_latency / 4);
  }

 private:
  const Config& config_;
  Budget& tags_;
};

// Has credits for each destination; paced by a rational rate.
class Port : public Block {
 public:
  Port(const Config& c, Probe p)
      : items_in(c.fused_stages ? 2 * c.stages : 2, c.fused_stages ? c.stages : 1),
        credits(c.chips, Budget(c.credits)),
        probe(p),
        config_(c),
        pacer_(c.bits_per_second, c.hertz) {}
  ItemLink items_in;
  std::vector<Budget> credits;
  std::vector<Mailbox<Item>*> wires;  // by destination
  Probe probe;

  void tick() {
    if (!items_in.can_pop()) return;
    const Item item = items_in.front();
    if (!credits[item.destination].available()) return;
    credits[item.destination].take();
    items_in.pop(pacer_.next(now(), 64u * item.beats) - now());
    wires[item.destination]->deliver(now() + config_.wire_latency, item.source, item);
    probe.event(now(), Kind::Wired, item.id, item.destination);
  }

 private:
  const Config& config_;
  Pacer pacer_;
};

class Receiver : public Block {
 public:
  explicit Receiver(Probe p) : probe(p) {}
  Mailbox<Item> mail;
  ItemLink* items_out = nullptr;
  Probe probe;
  void tick() {
    if (!mail.can_pop() || !items_out->can_push()) return;
    const Item item = mail.pop(2);
    items_out->push(item);
    probe.event(now(), Kind::Received, item.id, item.source);
  }
};

// Consumes at its own pace and returns the credit over the wire.
class Sink : public Block {
 public:
  Sink(const Config& c, Probe p) : probe(p), config_(c) {}
  ItemLink items_in{2};
  std::vector<Budget*> credits;  // for this chip at each source
  Probe probe;
  u32 consumed = 0;
  void tick() {
    if (!items_in.can_pop()) return;
    const Item item = items_in.pop(config_.sink_interval);
    ++consumed;
    credits[item.source]->give(now() + config_.wire_latency);
    probe.event(now(), Kind::Consumed, item.id, item.source);
  }

 private:
  const Config& config_;
};
}  // namespace hca::engine::test
