// SPDX-License-Identifier: Apache-2.0
// Operations of several queue pairs, commands and the host on the same words and keys, begun before
// earlier ones have ended.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/random.h"

namespace hca::testbench::malice::overlap {
// The peers are of RC, XRC and RD; the one of RD has two queue pairs over one EE context.
//
// Memory: kBytes, all accessible by key 0; keys 1 and 2 cover the places below. These two can be
// removed, and are restored with the next burst. ATOMICs have the first words to themselves and the
// host's own writes the rest: an HCA's ATOMIC is not atomic towards the host.
inline constexpr u32 kBytes = 64, kAtomicBytes = 16;
struct Span {
  u32 begin, end;
};
inline constexpr std::array kKeys{Span{0, kBytes}, Span{0, 40}, Span{8, kBytes}};

// Each actor executes its operations in order; different actors are independent.
enum Actor : u8 {
  kPeer0,    // requests of peers: RC
  kPeer1,    // XRC
  kPeer2,    // RD, to two queue pairs
  kReader,   // responses to READs that a queue pair has posted
  kLocal,    // Local Invalidate by another queue pair
  kCommand,  // commands of the host
  kHost,     // writes of the host
  kActors
};
inline constexpr std::size_t kPeers = 3, kQps = 5;

enum class What : u8 {
  Write,
  Put,  // an extended operation
  Read,
  Get,  // an extended operation
  FetchAdd,
  CompareSwap,
  Send,            // its receive WQE names the place
  SendInvalidate,  // the same; invalidates its key
  ReadData,        // of a READ posted before the burst
  LocalInvalidate,
  Deregister,
  HostWrite,
  BeginTaking,  // see Order::Loose
  EndTaking
};
struct Operation {
  What what{};
  u8 actor = 0, key = 0;
  u8 fill = 0;                   // the value of all bytes that it writes
  u32 at = 0, bytes = 0;         // its place
  u64 operand = 0, compare = 0;  // of an ATOMIC
  bool second = false;           // of RD: to the second queue pair
  bool reuses = false;  // after its completion the place, or all memory of its key, is overwritten
  u32 gap = 0;          // ns after the beginning of the previous operation
};
constexpr bool is_receive(What what) { return what == What::Send || what == What::SendInvalidate; }
constexpr bool reads(What what) { return what == What::Read || what == What::Get; }
constexpr bool uses_key(What what) {
  return what == What::Write || what == What::Put || reads(what) || what == What::FetchAdd ||
         what == What::CompareSwap;
}
constexpr bool takes_key(What what) {
  return what == What::SendInvalidate || what == What::LocalInvalidate || what == What::Deregister;
}

// In order of beginning.
using Burst = std::vector<Operation>;
Burst random_burst(engine::Random& random);
std::string text_of(const Operation& operation);

// The observation of an operation. Moments are numbered by observations of one run.
enum class Fate : u8 { Unanswered, Executed, Refused };
struct Seen {
  static constexpr u32 kNever = ~0u;
  Fate fate = Fate::Unanswered;
  std::vector<u8> data;  // of a READ; for an ATOMIC the previous eight bytes
  u32 begun = kNever;
  u32 ended = kNever;  // its answer or completion is visible to other requests
  u32 told = kNever;   // its completion is visible to the host
  u32 after = kNever;  // the operation that comes before it: its beginning
};
// The operations of a burst, followed by the host's.
struct History {
  std::vector<Operation> operations;
  std::vector<Seen> seen;
};

// The memory that the operations use.
using Memory = std::array<u8, kBytes>;
enum class Key : u8 { Gone, Free, Leaving, Valid };  // Leaving: see Order::Loose
struct State {
  Memory memory{};
  std::array<Key, kKeys.size()> keys{Key::Valid, Key::Gone, Key::Gone};
};
// The effect of one operation by the rules, and the data that it reads. False: it is refused.
bool apply(const Operation& operation, State& state, std::vector<u8>& data);

// Finds an order, as indices, that explains the observations. Each actor keeps its order (C9-28).
// An operation that ended before another one began comes before it; for the host, its notification
// counts. Each operation, executed as a whole, has the observed fate and data, and `end` is the
// memory that they leave. Unanswered operations are in no order. Empty: there is none.
//
// Loose: a READ may be overtaken by later operations of its actor (G30.2). The removal of a key
// takes time: from its beginning to its end an access may be refused, or, if it was judged earlier,
// come late (MW-20). Its beginning decides whether it is executed, and the next work request of its
// actor may begin before its end (G22.6). The removal by a SEND with Invalidate belongs to no actor
// (INV-9). Indices are then not those of `history`.
enum class Order : u8 { Strict, Loose };
std::optional<std::vector<u32>> find_order(const History& history, const State& start,
                                           const Memory& end, Order kind);
}  // namespace hca::testbench::malice::overlap
