// SPDX-License-Identifier: Apache-2.0
// The interface between a block and `dma`.
#pragma once
#include "model/blocks/memory/accesses.h"
#include "model/blocks/packet.h"
#include "model/engine/link.h"
#include "model/proto/interface/work_rows.h"

namespace hca::blocks {
using engine::Cycle;

// Clients of host memory, in the order of the links of `dma`.
enum class DmaClient : u8 {
  Command,
  WqeFetch,
  Packetizer,
  ReceiveWqe,
  Payload,
  ReadResponse,  // data of READs by the peer
  Atomic,        // values of ATOMICs by the peer
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
  u32 bytes = 0;  // 0 for a read that only keeps its place in the order
  u32 moved = 0;  // of these, the first ones, which have a place in the buffer
  bool write = false;
  bool notify = false;  // for a write: notify the client when it is ordered before all later ones
  // Memory returned an error: all moved bytes of a read are ones, a write is lost.
  bool failed = false;
  u8 operands = 0;  // for an AtomicOp (a read that modifies): bytes of operands sent with it
  // For the Atomic client: a read locks its bytes, the following write unlocks them.
  bool locks = false;
  Accesses::Era era = 0;
  void* context = nullptr;
  Cycle first_in = 0, last_in = 0;  // for a write: when its bytes are available

  // Fill a request in place (Link::start).
  void set_read(u64 from, u8* to, u32 n, void* with, bool tell = false) {
    address = from;
    buffer = to;
    bytes = moved = n;
    write = false;
    notify = tell;
    context = with;
    failed = locks = false;
    operands = 0;
  }
  void set_read(u64 from, const PayloadPiece& to, void* with, bool tell) {
    set_read(from, to.at, to.bytes, with, tell);
    moved = to.held;
  }
  void set_atomic(u64 at, u8* original, u8 operand_bytes, void* with) {
    set_read(at, original, proto::kAtomicBytes, with);
    operands = operand_bytes;
  }
  void set_write(u64 to, const u8* from, u32 n, void* with, bool tell, Cycle first, Cycle last) {
    address = to;
    buffer = const_cast<u8*>(from);
    bytes = moved = n;
    write = true;
    notify = tell;
    context = with;
    first_in = first;
    last_in = last;
    locks = false;
  }
  void set_write(u64 to, const PayloadPiece& from, void* with, bool tell, Cycle first, Cycle last) {
    set_write(to, from.at, from.bytes, with, tell, first, last);
    moved = from.held;
  }
};
using DmaLink = AccessLink<DmaRequest, 8>;

// Callbacks of a client.
// `done`: for a read, called in the cycle of its memory access with the cycles in which its first
// and last data are back; for a write with `notify`, called when it leaves with the cycle from
// which it is ordered.
// `released`: a write is in memory, its buffer is free.
// `changed`: for an AtomicOp, called in the cycle of its memory access; returns the new value.
struct DmaCallbacks {
  void* self = nullptr;
  void (*done)(void* self, const DmaRequest& request, Cycle first, Cycle last) = nullptr;
  void (*released)(void* self, const DmaRequest& request) = nullptr;
  const u8* (*changed)(void* self, const DmaRequest& request) = nullptr;
};
}  // namespace hca::blocks
