// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "model/blocks/lib/ring.h"
#include "model/blocks/memory/accesses.h"
#include "model/blocks/memory/host_timing.h"
#include "model/blocks/memory/outside.h"
#include "model/engine/counters.h"
#include "model/engine/link.h"
#include "model/proto/interface/work_rows.h"

namespace hca::blocks {
// Who asks for host memory, in the order of the links below.
enum class DmaClient : u8 {
  Command,
  WqeFetch,
  Packetizer,
  ReceiveWqe,
  Payload,
  ReadResponse,  // data of READs that the peer asked for
  Atomic,        // values of ATOMICs that the peer asked for
  Response,      // data of our own READs and ATOMICs
  Completion,
  Event,
  Context,  // entries of the context caches
  Count
};
inline constexpr unsigned kDmaClients = unsigned(DmaClient::Count);

struct DmaRequest {
  u64 address = 0;
  u8* buffer = nullptr;
  u32 bytes = 0;  // a read may have 0: it only keeps its place in the order
  bool write = false;
  bool notify = false;  // of a write: tell the client when it is ordered before all later ones
  bool failed = false;  // of a read that is done: memory answered with an error, all bytes are ones
  u8 operands = 0;      // of an AtomicOp, a read that changes what it reads: bytes that go with it
  // Of the Atomic client: a read locks its bytes, the write after it unlocks them.
  bool locks = false;
  Accesses::Era era = 0;
  void* context = nullptr;
  Cycle first_in = 0, last_in = 0;  // of a write: when its bytes are at hand

  // Fill a request in place (Link::start).
  void set_read(u64 from, u8* to, u32 n, void* with, bool tell = false) {
    address = from, buffer = to, bytes = n, write = false, notify = tell, context = with;
    failed = locks = false, operands = 0;
  }
  void set_atomic(u64 at, u8* original, u8 operand_bytes, void* with) {
    set_read(at, original, proto::kAtomicBytes, with);
    operands = operand_bytes;
  }
  void set_write(u64 to, const u8* from, u32 n, void* with, bool tell, Cycle first, Cycle last) {
    address = to, buffer = const_cast<u8*>(from), bytes = n, write = true, notify = tell;
    context = with, first_in = first, last_in = last, locks = false;
  }
};
using DmaLink = AccessLink<DmaRequest, 8>;

struct DmaCounters {
  u64 reads = 0, read_bytes = 0, writes = 0, write_bytes = 0, atomics = 0, failed_reads = 0;
  u64 waits_to_read = 0, waits_to_write = 0, waits_locked = 0;
};

// The chip's way to host memory. When a request reaches memory is the arithmetic of HostTiming; in
// that cycle the bytes move. Reads complete in order, writes are posted and pass no earlier write;
// a read passes no earlier write (G30.3). A client has reserved room for what it asks for.
//
// From the cycle in which an ATOMIC's read leaves to the one in which its write leaves, no other
// access to its bytes leaves (ATOM-2): it waits, and with it all that its client asked for later.
//
// Contract: a request seen in cycle n leaves in n, if HostTiming lets one of its kind leave then
// and no other client's turn comes first; one request a cycle. Of reads and of writes clients take
// turns by themselves; where both kinds may leave, so do these. No knobs: the times are those of
// what lies between chip and memory.
class Dma : public engine::Block {
 public:
  // `done`: of a read, in the cycle of its memory access, with the cycles in which first and last
  // data are back; of a write that asked for it, when it leaves, with the cycle from which it is
  // ordered. `released`: a write is in memory, its buffer free. `changed`: of an AtomicOp, in the
  // cycle of its memory access: what takes the place of the value in its buffer.
  struct Client {
    void* self = nullptr;
    void (*done)(void* self, const DmaRequest& request, Cycle first, Cycle last) = nullptr;
    void (*released)(void* self, const DmaRequest& request) = nullptr;
    const u8* (*changed)(void* self, const DmaRequest& request) = nullptr;
  };
  Dma(HostTiming& timing, Outside& outside, Accesses& accesses)
      : timing_(timing), outside_(outside), accesses_(accesses) {
    for (unsigned i = 0; i < kDmaClients; ++i) requests_in[i].mark(waiting_, 1u << i);
  }

  std::array<DmaLink, kDmaClients> requests_in;
  std::array<Client, kDmaClients> clients{};
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
  Ring<Access> reads_, writes_;  // on their way to memory
  Cycle read_memory_ = engine::kNever,
        write_memory_ = engine::kNever;  // when the first of them reaches it
  // By kind, reads and writes: the next may leave from this cycle on, and the client behind the one
  // served last is the first in turn.
  std::array<Cycle, 2> free_from_{};
  std::array<unsigned, 2> next_{};
  bool wrote_ = false;  // what left last was a write
  Cycle last_read_ = 0, last_read_memory_ = 0, last_write_memory_ = 0;
  std::array<Cycle, 2> counted_{};  // of waits of reads, of writes: up to here
  u32 waiting_ = 0;                 // clients with a request, seen or not
  std::vector<u64> locked_;         // addresses of ATOMICs between their read and their write
  u32 held_ = 0;                    // clients whose first request waits for one of them, since:
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
                        "PCIe, its line, tags or credits, of reads"),
                counter("waits_to_write", &C::waits_to_write, kWaited,
                        "PCIe, its line or credits, of writes"),
                counter("waits_locked", &C::waits_locked, kWaited,
                        "an ATOMIC between its read and its write, of accesses to its bytes"));
};
