// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <numeric>

#include "model/engine/cycle.h"
#include "model/engine/random.h"

namespace hca::engine {
// Bytes per cycle as a reduced fraction; nothing is ever rounded.
struct Rate {
  u64 bytes, cycles;  // `bytes` bytes take `cycles` cycles
  constexpr Rate(u64 bits_per_second, u64 hertz)
      : bytes(bits_per_second / common(bits_per_second, hertz)),
        cycles(8 * hertz / common(bits_per_second, hertz)) {}
  // Whole cycles in which `n` bytes fit.
  constexpr Cycle cycles_for(u64 n) const {
    if (is_short(n)) [[likely]]
      return (n * cycles + bytes - 1) / bytes;
    return Cycle((u128{n} * cycles + bytes - 1) / bytes);
  }
  // Whole bytes that fit into `n` cycles.
  constexpr u64 bytes_in(Cycle n) const {
    if (n < u64{1} << 24 && bytes < u64{1} << 40) [[likely]]
      return n * bytes / cycles;
    return u64(u128{n} * bytes / cycles);
  }
  // The duration of `n` bytes: whole cycles and a part of one, in units of 1 / bytes.
  struct Span {
    u64 n = 0;
    Cycle whole = 0;
    u64 part = 0;
  };
  constexpr Span span_of(u64 n) const {
    if (is_short(n)) [[likely]]
      return {n, n * cycles / bytes, n * cycles % bytes};
    const u128 all = u128{n} * cycles;
    return {n, Cycle(all / bytes), u64(all % bytes)};
  }

 private:
  // The product fits into 64 bits with room for a part.
  constexpr bool is_short(u64 n) const {
    return (n | bytes) < u64{1} << 40 && cycles < u64{1} << 22;
  }
  static constexpr u64 common(u64 bits_per_second, u64 hertz) {
    if (!bits_per_second || !hertz) broken("a rate of nothing", "rate", 0);
    if (bits_per_second >> 60 || hertz >> 56) broken("a rate beyond all wires", "rate", 0);
    return std::gcd(bits_per_second, 8 * hertz);
  }
};

// Divides by a number known only at run time, without a division.
class Divisor {
 public:
  constexpr explicit Divisor(u64 by) : by_(by), inverse_(~u64{0} / by) {}
  constexpr u64 value() const { return by_; }
  constexpr u64 quotient(u64 n) const {
    const u64 near = u64(u128{n} * inverse_ >> 64);  // the quotient, or 1 less
    return near + (n - near * by_ >= by_);
  }
  constexpr u64 rounded_down(u64 n) const { return quotient(n) * by_; }

 private:
  u64 by_, inverse_;
};

// Whole cycles for repeating sizes: the last result is cached to avoid a division.
class Meter {
 public:
  constexpr explicit Meter(Rate rate) : rate_(rate) {}
  constexpr Cycle cycles_for(u64 n) {
    if (n != known_) [[unlikely]]
      learn(n);
    return cycles_;
  }

 private:
  [[gnu::cold, gnu::noinline]] constexpr void learn(u64 n) {
    known_ = n;
    cycles_ = rate_.cycles_for(n);
  }
  u64 known_ = 0;
  Cycle cycles_ = 0;
  Rate rate_;
};

// A point in time, as a whole cycle and a part of one, that advances by bytes of a rate. Stream
// sizes repeat, so the duration of a size is cached and advancing needs no division.
class RationalTime {
 public:
  constexpr explicit RationalTime(Rate rate) : rate_(rate) {}
  constexpr const Rate& rate() const { return rate_; }
  constexpr void set(Cycle whole) {
    whole_ = whole;
    part_ = 0;
  }
  constexpr void advance(u64 n) { advance(span_of(n)); }
  constexpr void advance(const Rate::Span& span) {
    whole_ += span.whole;
    part_ += span.part;
    if (part_ >= rate_.bytes) {
      part_ -= rate_.bytes;
      ++whole_;
    }
  }
  // Advances to `span` after the edge of cycle `at`, if that is later.
  constexpr void not_before(Cycle at, const Rate::Span& span) {
    const Cycle whole = at + span.whole;
    if (whole > whole_ || (whole == whole_ && span.part > part_)) {
      whole_ = whole;
      part_ = span.part;
    }
  }
  constexpr Cycle whole() const { return whole_; }
  constexpr u64 part() const { return part_; }
  // The first cycle edge at or after it.
  constexpr Cycle edge() const { return whole_ + (part_ != 0); }
  constexpr const Rate::Span& span_of(u64 n) {
    Rate::Span& span = known_[(n ^ n >> 4) % known_.size()];
    if (span.n != n) [[unlikely]]
      learn(span, n);
    return span;
  }

 private:
  [[gnu::cold, gnu::noinline]] constexpr void learn(Rate::Span& span, u64 n) {
    span = rate_.span_of(n);
  }

  Rate rate_;
  Cycle whole_ = 0;
  u64 part_ = 0;
  std::array<Rate::Span, 8> known_{};
};

// Computes when the next packet may start on a wire. Back-to-back packets keep the fraction of a
// cycle in which the wire became free, so a stream runs at exactly its rate. Only one starts in a
// cycle: where those shorter than a cycle follow longer ones, a FIFO in front of the wire evens them
// out. After a pause a packet begins at the edge of its cycle.
class Pacer {
 public:
  constexpr explicit Pacer(Rate rate) : free_(rate) {}
  constexpr Pacer(u64 bits_per_second, u64 hertz) : free_(Rate(bits_per_second, hertz)) {}

  // A packet of `bytes` starts in cycle `start`, not before the cycle returned last. Returns the
  // first cycle in which another may start, at least start + 1.
  constexpr Cycle next(Cycle start, u64 bytes) {
    if (free_.edge() > start) broken("starts while the wire is busy", "pacer", start);
    if (bytes >= kTooLong) broken("a packet of 16 MiB or more", "pacer", start);
    if (start == next_) {
      if (free_.whole() + kFifo < start) free_.set(start - kFifo);
    } else if (free_.whole() + 1 < start || (free_.whole() + 1 == start && !free_.part())) {
      free_.set(start);
    }
    free_.advance(bytes);
    return next_ = std::max(free_.edge(), start + 1);
  }
  constexpr const Rate& rate() const { return free_.rate(); }

 private:
  static constexpr u64 kTooLong = u64{1} << 24;
  static constexpr Cycle kFifo = 8;  // cycles whose packets it holds
  RationalTime free_;                // when the wire becomes free
  Cycle next_ = 0;                   // the cycle returned last
};

inline constexpr u64 kPicosecondsPerSecond = 1'000'000'000'000;
inline constexpr u64 kPicosecondsPerNanosecond = 1000;

// The first cycle edge at or after `picoseconds`: for durations of the configuration.
constexpr Cycle cycles_from_picoseconds(u64 picoseconds, u64 hertz) {
  return Cycle((u128{picoseconds} * hertz + kPicosecondsPerSecond - 1) / kPicosecondsPerSecond);
}
// The time of a cycle edge since cycle 0, rounded down to 1 ps only once, so errors do not
// accumulate.
constexpr u64 picoseconds_from_cycles(Cycle cycles, u64 hertz) {
  return u64(u128{cycles} * kPicosecondsPerSecond / hertz);
}
}  // namespace hca::engine
