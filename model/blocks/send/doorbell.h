// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>

#include "model/blocks/items.h"
#include "model/blocks/lib/per_port.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/send/doorbell_config.h"
#include "model/device/contexts.h"
#include "model/engine/mailbox.h"

namespace hca::blocks {
struct DoorbellCounters {
  u64 doorbells = 0, pushed = 0, bad = 0, fallbacks = 0, pieces = 0;
};

// Decodes the writes that arrive at the BAR. A write whose target block has no room waits, and so
// do all later ones: back-pressure on the PCIe side.
//
// Contract: a write that arrives in cycle n is seen by its block from n + latency on; one write
// each `interval` cycles.
class Doorbell : public engine::Block {
 public:
  struct Outputs {
    SendBellLink* send_out = nullptr;
    PerPort<ReceiveBellLink*> receive_out{};  // to the port of the queue pair
    CqBellLink* cq_out = nullptr;
    EqBellLink* eq_out = nullptr;
    CommandBellLink* command_out = nullptr;
  };
  Doorbell(const DoorbellConfig& config, const device::Contexts& contexts)
      : config_(config), contexts_(contexts) {}

  // A write of `data` at `offset` of the BAR in cycle `at`. A write that is not a doorbell is
  // counted and ignored. A push that arrives as several writes is treated as a plain doorbell by
  // its first one.
  void write(Cycle at, u32 offset, std::span<const u8> data);

  Outputs outputs;
  // Told of each write of so many bytes that leaves the queue of the BAR, in a cycle not before the
  // present one: its flow-control credits go back then. Empty: nobody counts them.
  std::function<void(Cycle at, u32 bytes)> taken;
  DoorbellCounters counters;
  engine::Probe probe;
  struct Write {
    u32 offset = 0, bytes = 0;  // of the register; of the write on the BAR
    u64 value = 0;
  };
  engine::Mailbox<Write> writes_in;

  void tick();

 private:
  bool pass(u32 offset, u64 value);
  void tell_taken(Cycle at, std::size_t bytes) const {
    if (taken) taken(at, u32(bytes));
  }
  // A write that no block sees.
  void ignore(Cycle at, std::size_t bytes, u64& counter) {
    ++counter;
    tell_taken(at, bytes);
  }

  const DoorbellConfig config_;
  const device::Contexts& contexts_;
  u32 arrivals_ = 0;
  Pool<PushedWqe> pool_;
  Ring<PushedWqe*> pushed_;  // they belong to the push writes in `writes_in`, in order
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::DoorbellCounters> {
  using C = hca::blocks::DoorbellCounters;
  static constexpr std::string_view block = "doorbell";
  static constexpr auto rows =
      make_rows(counter("doorbells", &C::doorbells, "writes", "doorbells taken"),
                counter("pushed", &C::pushed, "WQEs", "WQEs pushed with their doorbell"),
                counter("bad", &C::bad, "writes", "writes that are not a doorbell"),
                counter("fallbacks", &C::fallbacks, "writes",
                        "pushes without their whole WQE, which is fetched"),
                counter("pieces", &C::pieces, "writes", "remaining writes of such pushes"));
};
