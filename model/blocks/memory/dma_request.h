// SPDX-License-Identifier: Apache-2.0
// What a block and `dma` have to do with each other.
#pragma once
#include "model/blocks/memory/accesses.h"
#include "model/engine/link.h"
#include "model/proto/interface/work_rows.h"

namespace hca::blocks {
using engine::Cycle;

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
    address = from;
    buffer = to;
    bytes = n;
    write = false;
    notify = tell;
    context = with;
    failed = locks = false;
    operands = 0;
  }
  void set_atomic(u64 at, u8* original, u8 operand_bytes, void* with) {
    set_read(at, original, proto::kAtomicBytes, with);
    operands = operand_bytes;
  }
  void set_write(u64 to, const u8* from, u32 n, void* with, bool tell, Cycle first, Cycle last) {
    address = to;
    buffer = const_cast<u8*>(from);
    bytes = n;
    write = true;
    notify = tell;
    context = with;
    first_in = first;
    last_in = last;
    locks = false;
  }
};
using DmaLink = AccessLink<DmaRequest, 8>;

// `done`: of a read, in the cycle of its memory access, with the cycles in which first and last
// data are back; of a write that asked for it, when it leaves, with the cycle from which it is
// ordered. `released`: a write is in memory, its buffer free. `changed`: of an AtomicOp, in the
// cycle of its memory access: what takes the place of the value in its buffer.
struct DmaCallbacks {
  void* self = nullptr;
  void (*done)(void* self, const DmaRequest& request, Cycle first, Cycle last) = nullptr;
  void (*released)(void* self, const DmaRequest& request) = nullptr;
  const u8* (*changed)(void* self, const DmaRequest& request) = nullptr;
};
}  // namespace hca::blocks
