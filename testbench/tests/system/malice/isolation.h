// SPDX-License-Identifier: Apache-2.0
// Memory accesses by key: compares the rules of the specification with the behaviour of a device.
#pragma once
#include <optional>
#include <string>

#include "model/proto/interface/object_attributes.h"
#include "testbench/tests/system/malice/bench.h"

namespace hca::testbench::malice {
// The range and owner of a key. A window lies in a region that is 64 bytes longer on both sides, as
// far as there are addresses.
struct Target {
  static constexpr u64 kBytes = 64;
  proto::KeyKind kind{};
  Bench::Who owner{};  // Sibling: type 2, bound by another queue pair of the same PD
  u8 rights = 0;       // local write is a right of the region
  u64 start = 0;       // virtual; ends at 2^64 at most
};

enum class KeyUse : u8 { Right, WrongByte, NoEntry, OtherPd };
inline constexpr std::size_t kKeyUses = 4;

// How memory is accessed: its content leaves the device, or it is changed.
enum class Way : u8 {
  Gather,        // a SEND's SGE
  Scatter,       // a receive's SGE
  ReadResult,    // a READ's SGE
  AtomicResult,  // a FetchAdd's SGE
  Write,         // by the peer
  Read,
  Atomic
};
inline constexpr std::size_t kWays = 7;
constexpr bool is_local(Way way) { return way < Way::Write; }
constexpr bool is_atomic(Way way) { return way == Way::Atomic || way == Way::AtomicResult; }

// By queue pair `own`.
struct Access {
  Way way{};
  KeyUse key{};
  u64 va = 0;
  u32 bytes = 0;  // ATOMICs: 8
};

// MR-11, MW-3: true if such a target can be created.
bool may_exist(const Target& target);
// G22.2 to G22.4, MR-10, MR-12, MW-4, MW-15, MW-16.
bool may_access(const Target& target, const Access& access);
// The accesses that a trial can perform: an access by a receive's SGE is as long as the message.
bool is_possible(const Access& access);

std::string text_of(const Target& target);
std::string text_of(const Access& access);

// A device with watched memory: each trial compares all reachable memory with the rules.
class Isolation {
 public:
  explicit Isolation(const ReplayRunner& runner);
  // Replaces the previous target by this one. Returns a message if the device creates it although
  // MR-11 and MW-3 forbid it, or refuses it although they allow it.
  std::optional<std::string> aim(const Target& target);
  // Returns a message if the device violates the rules.
  std::optional<std::string> try_access(const Access& access);

 private:
  struct Seen;
  u32 key_of(KeyUse use) const;
  std::vector<u8> area() const;
  void wipe();
  bool bind(const Target& target);
  void post(const Access& access, bool allowed);
  std::optional<std::string> judge(const Access& access, bool allowed, const Seen& seen);
  std::optional<std::string> judge_refused(const Access& access, const Seen& seen);
  std::optional<std::string> judge_allowed(const Access& access, const Seen& seen);
  // The incoming frame, if any; returns the frames sent in response.
  std::vector<Frame> exchange(const Access& access);

  mutable Bench bench_;
  Target target_;
  u32 key_ = 0;       // the right key
  u32 held_key_ = 0;  // key of the existing window
};
}  // namespace hca::testbench::malice
