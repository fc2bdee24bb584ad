// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "model/blocks/lib/ring.h"
#include "model/blocks/memory/dma_request.h"
#include "model/blocks/memory/host_timing.h"
#include "model/blocks/memory/outside.h"
#include "model/engine/counters.h"

namespace hca::blocks {
struct DmaCounters {
  u64 reads = 0, read_bytes = 0, writes = 0, write_bytes = 0, atomics = 0, failed_reads = 0;
  u64 waits_to_read = 0, waits_to_write = 0, waits_locked = 0;
};

// The chip's path to host memory. HostTiming computes when a request reaches memory; in that cycle
// the bytes move. Reads complete in order. Writes are posted and pass no earlier write; a read
// passes no earlier write (G30.3). A client reserves room for the data before it requests them.
//
// From the departure of an ATOMIC's read to that of its write, no other access to its bytes leaves
// (ATOM-2): it waits, and so do all later requests of its client.
//
// Contract: a request seen in cycle n leaves in n if HostTiming lets one of its kind leave then and
// no other client's turn comes first; one request a cycle. Reading clients alternate, and so do
// writing clients; if a read and a write may both leave, the two kinds alternate. There are no
// knobs: the times are those of the path between chip and memory.
class Dma : public engine::Block {
 public:
  Dma(HostTiming& timing, Outside& outside, Accesses& accesses)
      : timing_(timing), outside_(outside), accesses_(accesses) {
    for (unsigned i = 0; i < kDmaClients; ++i) requests_in[i].mark(waiting_, 1u << i);
  }

  std::array<DmaLink, kDmaClients> requests_in;
  std::array<DmaCallbacks, kDmaClients> clients{};
  DmaCounters counters;

  void tick();

 private:
  struct Access {
    Cycle memory, first, last;
    DmaRequest request;
    u8 client;
  };
  void reach_memory();
  void finish_write();
  void finish_read();
  void read_memory(Access& a);
  void change_memory(const Access& a);
  [[gnu::always_inline]] void serve();
  void serve_several();
  unsigned client_in_turn(unsigned ready) const;
  unsigned ready_clients();
  void wait_for_way(bool write, Cycle from);
  void start(unsigned client);
  void start_read(DmaLink& link, unsigned client);
  void start_write(DmaLink& link, unsigned client);
  void leave(DmaLink& link, unsigned client);
  bool is_locked(const DmaRequest& request) const;
  bool waits_for_lock(unsigned client);
  void end_lock_wait(unsigned client);
  void change_lock(const DmaRequest& request);

  HostTiming& timing_;
  Outside& outside_;
  Accesses& accesses_;
  Ring<Access> reads_, writes_;  // in flight to memory
  Cycle read_memory_ = engine::kNever,
        write_memory_ = engine::kNever;  // when the first of them reaches memory
  // By kind, reads and writes: the cycle from which the next one may leave; the client after the
  // one served last comes first.
  std::array<Cycle, 2> free_from_{};
  std::array<unsigned, 2> next_{};
  bool wrote_ = false;  // the last request that left was a write
  Cycle last_read_ = 0, last_read_memory_ = 0, last_write_memory_ = 0;
  std::array<Cycle, 2> counted_{};  // waits of reads and of writes are counted up to this cycle
  u32 waiting_ = 0;                 // clients with a request, even one not yet visible
  std::vector<u64> locked_;         // addresses of ATOMICs between their read and their write
  u32 held_ = 0;                    // clients whose first request waits for such an address, since:
  std::array<Cycle, kDmaClients> held_since_{};
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::DmaCounters> {
  using C = hca::blocks::DmaCounters;
  static constexpr std::string_view block = "dma";
  static constexpr auto rows =
      make_rows(counter("reads", &C::reads, "requests", "reads of host memory"),
                counter("read_bytes", &C::read_bytes, "bytes", "bytes read from host memory"),
                counter("writes", &C::writes, "requests", "posted writes to host memory"),
                counter("write_bytes", &C::write_bytes, "bytes", "bytes written to host memory"),
                counter("atomics", &C::atomics, "requests", "AtomicOps, executed by the host"),
                counter("failed_reads", &C::failed_reads, "requests",
                        "reads that memory answered with an error"),
                counter("waits_to_read", &C::waits_to_read, kWaited,
                        "the PCIe line, tags or credits, for reads"),
                counter("waits_to_write", &C::waits_to_write, kWaited,
                        "the PCIe line or credits, for writes"),
                counter("waits_locked", &C::waits_locked, kWaited,
                        "the end of an ATOMIC on the same bytes, between its read and its write"));
};
