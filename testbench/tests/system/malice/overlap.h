// SPDX-License-Identifier: Apache-2.0
// Operations of several queue pairs, commands and the host on the same words and keys, begun before
// those in front of them have ended.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/random.h"

namespace hca::testbench::malice::overlap {
// Memory: kBytes that key 0 gives all of, keys 1 and 2 the places below; these two can be taken
// away, and come again with the next burst. ATOMICs have the first words alone, and the host's own
// writes the rest: no ATOMIC of an HCA is one to them.
inline constexpr u32 kBytes = 64, kAtomicBytes = 16;
struct Span {
  u32 begin, end;
};
inline constexpr std::array kKeys{Span{0, kBytes}, Span{0, 40}, Span{8, kBytes}};

// Each actor executes its operations in their order; those of different actors come in any.
enum Actor : u8 {
  kPeer0,  // requests of peers to three queue pairs
  kPeer1,
  kPeer2,
  kReader,   // responses to READs that a queue pair has posted
  kLocal,    // Local Invalidate of another one
  kCommand,  // commands of the host
  kHost,     // writes of the host
  kActors
};
inline constexpr std::size_t kPeers = 3, kQps = 5;

enum class What : u8 {
  Write,
  Read,
  FetchAdd,
  CompareSwap,
  Send,            // its receive WQE names the place
  SendInvalidate,  // the same; takes its key away
  ReadData,        // of a READ that was posted before the burst
  LocalInvalidate,
  Deregister,
  HostWrite,
  BeginTaking  // see Order::Loose
};
struct Operation {
  What what{};
  u8 actor = 0, key = 0;
  u8 fill = 0;                   // what it writes: all bytes are this one
  u32 at = 0, bytes = 0;         // its place
  u64 operand = 0, compare = 0;  // of an ATOMIC
  bool reuses =
      false;    // whoever sees its completion overwrites the place, or all that its key gave
  u32 gap = 0;  // ns between the beginning of the one in front of it and its own
};
constexpr bool is_receive(What what) { return what == What::Send || what == What::SendInvalidate; }
constexpr bool uses_key(What what) {
  return what == What::Write || what == What::Read || what == What::FetchAdd ||
         what == What::CompareSwap;
}
constexpr bool takes_key(What what) {
  return what == What::SendInvalidate || what == What::LocalInvalidate || what == What::Deregister;
}

// In the order in which they begin.
using Burst = std::vector<Operation>;
Burst random_burst(engine::Random& random);
std::string text_of(const Operation& operation);

// What was seen of an operation. Numbers of moments count what was seen in one run.
enum class Fate : u8 { Unanswered, Executed, Refused };
struct Seen {
  static constexpr u32 kNever = ~0u;
  Fate fate = Fate::Unanswered;
  std::vector<u8> data;  // of a READ; the eight bytes that an ATOMIC found
  u32 begun = kNever;
  u32 ended = kNever;  // its answer or its completion: other requests see it
  u32 told = kNever;   // its completion: the host sees it
};
// Operations are those of a burst, and after them the host's.
struct History {
  std::vector<Operation> operations;
  std::vector<Seen> seen;
};

// What the operations work on.
using Memory = std::array<u8, kBytes>;
enum class Key : u8 { Gone, Free, Leaving, Valid };  // Leaving: see Order::Loose
struct State {
  Memory memory{};
  std::array<Key, kKeys.size()> keys{Key::Valid, Key::Gone, Key::Gone};
};
// What one operation does to it by the rules, and what it reads. False: it is refused.
bool apply(const Operation& operation, State& state, std::vector<u8>& data);

// An order that explains what was seen, of indices: each actor's own is kept (C9-28); what ended
// before another one began comes before it, of the host's what it was told of; each operation,
// executed as a whole, has the fate and the data that were seen, and `end` is the memory that they
// leave. Unanswered ones are in no order. Nothing: there is none.
//
// Loose: a READ may be overtaken by what follows it of its actor (G30.2). What takes a key away is
// no single moment: from its beginning to its end an access may be refused or, judged before it,
// come late (MW-20); and that of a SEND with Invalidate is of no actor (INV-9). Indices are not
// those of `history` then.
enum class Order : u8 { Strict, Loose };
std::optional<std::vector<u32>> find_order(const History& history, const State& start,
                                           const Memory& end, Order kind);
}  // namespace hca::testbench::malice::overlap
