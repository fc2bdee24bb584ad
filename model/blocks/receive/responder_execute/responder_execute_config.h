// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/engines.h"
#include "model/blocks/lib/limits.h"
#include "model/blocks/lib/stage_config.h"
#include "model/blocks/port/lane_arbiter.h"

namespace hca::blocks {
// Where ATOMICs are executed.
enum class AtomicBy : u8 { Device, Host };
inline constexpr std::array<std::string_view, 2> kAtomicByNames{"device", "host"};

struct ResponderExecuteConfig {
  Cycle latency = 3, interval = 1;
  u32 parking = 64;        // packets that wait for receive WQEs
  u32 batch = 8;           // receive WQEs read at once
  u32 shared_batches = 8;  // of an SRQ, here or being read
  u32 outcomes = 256;      // executed requests whose answer has not left, before ACKs merge
  u32 responses = 32;      // per port: response packets between memory and wire
  u32 lane_responses = 0;  // the same per lane; 0: all lanes share `responses`
  // Bytes of them: what a link of 100 Gb/s sends in 2.6 us, several round trips to memory.
  u32 response_bytes = 32 << 10;
  Cycle read_interval = 1, fetch_add = 0;
  u32 engines = 1;
  Cycle engine_interval = 1;
  EngineAssignment assignment = EngineAssignment::Modulo;
  u32 engine_queue = 16;
  u32 atomics = 1;
  AtomicBy atomic_by = AtomicBy::Device;
  u32 atomic_lock_bits = 64;
  static constexpr u32 kMostAtomics = 32;  // bits of a mask
};
struct ResponderExecuteCounters {
  u64 writes = 0, sends = 0, reads = 0, atomics = 0, atomic_writes = 0, flushes = 0;
  u64 repeated = 0, not_saved = 0, abandoned = 0, merged = 0, crowded_out = 0;
  u64 receive_fetches = 0, parked = 0, failed = 0, credit_updates = 0, engine_waits = 0;
  u64 atomic_cycles = 0, waits_lock = 0, waits_atomics = 0, waits_places = 0, waits_engine = 0;
  u64 waits_read_interval = 0, waits_wqes = 0, waits_shared_wqes = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::ResponderExecuteConfig> {
  using C = hca::blocks::ResponderExecuteConfig;
  static constexpr std::string_view block = "responder_execute";
  static constexpr std::string_view sentence =
      "receive WQEs, writes, READs and ATOMICs in host memory";
  static constexpr auto rows = join_rows(
      join_rows(hca::blocks::stage_rows<C>("from a request to its first DMA write",
                                           "between two requests"),
                hca::blocks::engine_rows<C>("between two requests of an engine")),
      make_rows(
          knob("engine_queue", &C::engine_queue, Unit::Count, 1, 4096,
               "requests that wait for an engine"),
          knob("parking", &C::parking, Unit::Count, 1, 4096, "packets that wait for receive WQEs"),
          knob("batch", &C::batch, Unit::Count, 1, 16, "receive WQEs read at once"),
          knob("shared_batches", &C::shared_batches, Unit::Count, 0, 64,
               "batches of WQEs of an SRQ that are here or being read; 0: each message reads its "
               "own WQE"),
          knob("outcomes", &C::outcomes, Unit::Count, 1, 65536,
               "executed requests whose answer has not left; beyond them ACKs of a queue pair "
               "merge, "
               "and duplicate READs and ATOMICs are dropped"),
          knob("responses", &C::responses, Unit::Count, 1, blocks::kMostPackets,
               "READ response packets of a port between memory and wire"),
          knob("lane_responses", &C::lane_responses, Unit::Count, 0,
               blocks::kMostPackets / blocks::kLanes,
               "instead, for each lane of link_control of a port; 0: all lanes share "
               "`responses`"),
          knob("response_bytes", &C::response_bytes, Unit::Bytes, 256, 16 << 20,
               "bytes of responses, and of lane_responses each: another packet is begun while "
               "fewer are held"),
          knob("read_interval", &C::read_interval, Unit::Cycles, 1, 100'000,
               "between the first packets of two READs of a port"),
          knob("fetch_add", &C::fetch_add, Unit::Cycles, 0, 100'000,
               "from the value of a FetchAdd to its write, beyond the time of a CmpSwap"),
          knob("atomics", &C::atomics, Unit::Count, 1, C::kMostAtomics,
               "ATOMICs of different queue pairs under way at once"),
          knob("atomic_by", &C::atomic_by, blocks::kAtomicByNames,
               "executor of ATOMICs: the device, by a read and then a write, or the host, by an "
               "AtomicOp across PCIe"),
          knob("atomic_lock_bits", &C::atomic_lock_bits, Unit::Count, 3, 64,
               "by the device: ATOMICs wait for each other if their addresses agree in this many "
               "low bits")));
};
template <>
struct hca::engine::Counters<hca::blocks::ResponderExecuteCounters> {
  using C = hca::blocks::ResponderExecuteCounters;
  static constexpr std::string_view block = "responder_execute";
  static constexpr auto rows = make_rows(
      counter("writes", &C::writes, "packets", "RDMA WRITE packets executed"),
      counter("sends", &C::sends, "packets", "SEND packets executed"),
      counter("reads", &C::reads, "messages", "RDMA READs executed, repeated ones included"),
      counter("atomics", &C::atomics, "messages", "ATOMICs executed"),
      counter("atomic_writes", &C::atomic_writes, "messages", "ATOMIC WRITEs executed"),
      counter("flushes", &C::flushes, "messages", "FLUSHes executed"),
      counter("repeated", &C::repeated, "messages", "duplicate READs and ATOMICs answered again"),
      counter("not_saved", &C::not_saved, "packets",
              "duplicate READs and ATOMICs dropped: nothing saved answers them"),
      counter("merged", &C::merged, "answers",
              "ACKs that took the place of an earlier one (outcomes)"),
      counter("crowded_out", &C::crowded_out, "packets",
              "duplicate READs and ATOMICs dropped: no place (outcomes)"),
      counter("receive_fetches", &C::receive_fetches, "reads", "batches of receive WQEs read"),
      counter("parked", &C::parked, "packets", "packets that waited for a receive WQE"),
      counter("engine_waits", &C::engine_waits, "packets", "requests that waited for their engine"),
      counter("credit_updates", &C::credit_updates, "packets", "ACKs sent only for their credits"),
      counter("abandoned", &C::abandoned, "packets",
              "dropped without an answer while they were executed"),
      counter("failed", &C::failed, "packets", "requests refused while they were executed"),
      counter("atomic_cycles", &C::atomic_cycles, "cycles",
              "busy cycles, of all units that execute ATOMICs"),
      counter("waits_lock", &C::waits_lock, kWaited,
              "the lock of their address (atomic_lock_bits), of the first ATOMIC"),
      counter("waits_atomics", &C::waits_atomics, kWaited,
              "a unit that executes ATOMICs (atomics), of the first one"),
      counter("waits_places", &C::waits_places, kWaited,
              "a place to wait for receive WQEs or ATOMICs (parking), of the first request"),
      counter("waits_engine", &C::waits_engine, kWaited,
              "a place before its engine (engine_queue), of the first request"),
      counter("waits_read_interval", &C::waits_read_interval, kWaited,
              "the time from one READ to the next (read_interval), of the first one"),
      counter("waits_wqes", &C::waits_wqes, kWaited,
              "receive WQEs that are being read (batch), of all queue pairs"),
      counter("waits_shared_wqes", &C::waits_shared_wqes, kWaited,
              "the WQE of a shared receive queue that is being read, of all queue pairs"));
};
