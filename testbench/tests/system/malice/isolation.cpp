// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/system/malice/isolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/proto/memory/key.h"
#include "model/proto/transport/syndrome.h"

namespace hca::testbench::malice {
using namespace proto;
using Who = Bench::Who;

namespace {
// In memory: `kMargin` bytes, those of the target, `kMargin` bytes.
constexpr u64 kPhysical = (u64{1} << 33) + 0x1000, kMargin = 256;
constexpr u64 kAreaBytes = kMargin + Target::kBytes + kMargin;
constexpr u64 kRegionMargin = 64;  // of a window's region
constexpr u32 kKey = make_key(0x100, 0x5a), kWindowKey = make_key(0x101, 0x11);
constexpr u32 kDecoyKey = make_key(0x102, 0x77), kNoEntryKey = make_key(0x1ff, 0x5a);
constexpr u8 kSendOnly = 0x04, kWriteFirst = 0x06, kWriteOnly = 0x0a, kReadRequest = 0x0c,
             kReadOnly = 0x10, kAck = 0x11, kAtomicAck = 0x12, kFetchAdd = 0x14;
constexpr u64 kFetched = 0x0102030405060708;

constexpr u64 kLastAddress = ~u64{0};
bool is_window(const Target& t) { return t.kind != KeyKind::Region; }
bool is_type_2(const Target& t) { return is_window(t) && t.kind != KeyKind::Window1; }
u8 pattern(u64 i) { return u8(i * 7 + 3); }

// From `start` to its end, which may be 2^64.
u64 margin_behind(u64 start) {
  return std::min(kRegionMargin, kLastAddress - (start + (Target::kBytes - 1)));
}
u64 margin_before(u64 start) { return std::min(kRegionMargin, start); }

// Where a device would write that takes virtual addresses for physical ones.
std::optional<u64> alias_of(const Target& t) {
  if (t.start < kMargin || !tlm_::HostMemory::holds(t.start - kMargin, kAreaBytes))
    return std::nullopt;
  return t.start - kMargin;
}
}  // namespace

bool may_exist(const Target& t) {
  return !(t.rights & (kRemoteWrite | kRemoteAtomic)) || t.rights & kLocalWrite;
}

bool may_access(const Target& t, const Access& a) {
  if (!a.bytes) return true;                                  // G22.3
  if (a.way == Way::Atomic && a.va % 8) return false;         // ATOM-6
  if (!may_exist(t) || a.key != KeyUse::Right) return false;  // G22.1, G22.2
  if (t.owner == Who::Stranger) return false;                 // PD
  if (is_type_2(t) && t.owner != Who::Own) return false;      // MW-15, MW-16
  if (is_window(t) && is_local(a.way)) return false;          // MR-3: it has no L_Key
  static constexpr std::array<u8, kWays> needed{
      0, kLocalWrite, kLocalWrite, kLocalWrite, kRemoteWrite, kRemoteRead, kRemoteAtomic};
  const u8 right = needed[std::size_t(a.way)];
  if ((t.rights & right) != right) return false;  // MR-10, MR-12, MW-4
  // By their last bytes: they are addresses too.
  const u64 last = t.start + (Target::kBytes - 1);
  return a.va >= t.start && a.va <= last && a.bytes - 1 <= last - a.va;
}

bool is_possible(const Access& a) {
  if (is_atomic(a.way)) return a.bytes == 8;
  if (a.way == Way::Scatter || a.way == Way::ReadResult) return a.bytes <= kPathMtu;
  return a.bytes <= u32{1} << 31;
}

std::string text_of(const Target& t) {
  static constexpr std::array<const char*, 4> kinds{"region", "window 1", "window 2A", "window 2B"};
  static constexpr std::array<const char*, 3> owners{"own", "of another QP", "of another PD"};
  return fmt::format("{} {}, rights {:#x}, 64 bytes at {:#x}", kinds[std::size_t(t.kind)],
                     owners[std::size_t(t.owner)], t.rights, t.start);
}
std::string text_of(const Access& a) {
  static constexpr std::array<const char*, kWays> ways{
      "gather", "scatter", "READ result", "ATOMIC result", "WRITE", "READ", "ATOMIC"};
  static constexpr std::array<const char*, kKeyUses> keys{
      "right key", "wrong key byte", "index without entry", "key of another PD"};
  return fmt::format("{} of {} bytes at {:#x}, {}", ways[std::size_t(a.way)], a.bytes, a.va,
                     keys[std::size_t(a.key)]);
}

struct Isolation::Seen {
  std::vector<u8> before;
  std::vector<Frame> frames;
  std::vector<Wc> completions;
};

Isolation::Isolation(const ReplayRunner& runner) : bench_(runner) {}

// ---- The target
std::optional<std::string> Isolation::aim(const Target& t) {
  VerbsContext& verbs = bench_.verbs;
  if (held_key_) verbs.dealloc_mw({held_key_, target_.kind});
  verbs.dereg_mr({0, 0, kKey, kKey}), verbs.dereg_mr({0, 0, kDecoyKey, kDecoyKey});
  target_ = t, key_ = kKey, held_key_ = 0;
  const u64 before = margin_before(t.start), behind = margin_behind(t.start);
  const u64 around = before + Target::kBytes + behind;
  const auto register_mr = [&](u64 start, u64 bytes, Who owner, u32 key, u8 access) {
    return bench_.command(CommandOpcode::RegisterMr, key_index(key),
                          MrAttributes{start, bytes, kPhysical + (start - t.start),
                                       bench_.pd_of(owner)->number, key, access});
  };
  if (!register_mr(t.start - before, around, Who::Stranger, kDecoyKey, kAllAccess))
    return "the region of another PD is refused";
  bool given;
  if (!is_window(t)) {
    given = register_mr(t.start, Target::kBytes, t.owner, kKey, t.rights);
  } else {
    if (!register_mr(t.start - before, around, t.owner, kKey,
                     u8((t.rights & kLocalWrite) | kBindWindow)))
      return "the region of a window is refused";
    given = bind(t);
  }
  if (given == may_exist(t)) return std::nullopt;
  return given ? "it is given against MR-11, MW-3" : "it is refused";
}

bool Isolation::bind(const Target& t) {
  VerbsContext& verbs = bench_.verbs;
  Mw window = verbs.alloc_mw(t.kind, kWindowKey, bench_.pd_of(t.owner));
  if (!window.rkey) return false;
  held_key_ = window.rkey;
  const MemoryInfo memory{t.start, Target::kBytes, kKey, u8(t.rights & kWindowAccess)};
  if (!is_type_2(t)) {
    const bool bound = verbs.bind_mw(window, memory) == Error::None;
    key_ = held_key_ = window.rkey;
    return bound;
  }
  key_ = make_key(key_index(kWindowKey), u8(key_byte(kWindowKey) + 1));
  SendWr wr;
  wr.opcode = WorkOpcode::BindMw, wr.send_flags = kSignaled, wr.memory = memory, wr.rkey = key_;
  verbs.post_send(bench_.qp(t.owner), wr);
  bench_.run();
  const std::vector<Wc> done = bench_.completions();
  const bool bound = done.size() == 1 && done[0].status == WcStatus::Success;
  if (bound)
    held_key_ = key_;
  else
    bench_.restore(t.owner);
  return bound;
}

u32 Isolation::key_of(KeyUse use) const {
  const std::array<u32, kKeyUses> keys{key_, key_ ^ 0x80, kNoEntryKey, kDecoyKey};
  return keys[std::size_t(use)];
}

// ---- The memory
std::vector<u8> Isolation::area() const {
  const std::optional<u64> alias = alias_of(target_);
  std::vector<u8> all(alias ? 2 * kAreaBytes : kAreaBytes);
  bench_.memory().read(kPhysical - kMargin, all.data(), kAreaBytes);
  if (alias) bench_.memory().read(*alias, all.data() + kAreaBytes, kAreaBytes);
  return all;
}
void Isolation::wipe() {
  std::array<u8, kAreaBytes> bytes;
  for (u64 i = 0; i < kAreaBytes; ++i) bytes[i] = pattern(i);
  bench_.memory().write(kPhysical - kMargin, bytes);
  if (const auto alias = alias_of(target_)) bench_.memory().write(*alias, bytes);
}

// ---- A trial
std::vector<Frame> Isolation::exchange(const Access& a) {
  const u32 key = key_of(a.key), expected = bench_.expected(Who::Own);
  const SgeList sge{a.va, a.bytes, key};
  ExtHeaders ext;
  SendWr wr;
  wr.wr_id = 1, wr.send_flags = kSignaled, wr.sg_list = {&sge, 1};
  wr.remote_addr = 0x1000, wr.rkey = 0x5500, wr.compare_add = 1;
  Qp& own = bench_.qp(Who::Own);
  const auto ask = [&](WorkOpcode opcode, u8 answer, u32 payload) {
    wr.opcode = opcode;
    bench_.verbs.post_send(own, wr);
    bench_.run();
    std::vector<Frame> frames = bench_.sent();
    ext.aeth = {0x1f, 1}, ext.atomic_ack_eth = {kFetched};
    if (!frames.empty()) bench_.give(bench_.frame(answer, bench_.next(Who::Own), ext, payload));
    return frames;
  };
  switch (a.way) {
    case Way::Gather:
      return ask(WorkOpcode::Send, kAck, 0);
    case Way::ReadResult:
      return ask(WorkOpcode::RdmaRead, kReadOnly, a.bytes);
    case Way::AtomicResult:
      return ask(WorkOpcode::FetchAdd, kAtomicAck, 0);
    case Way::Scatter:
      bench_.verbs.post_recv(own, RecvWr{2, {&sge, 1}});
      bench_.run(), bench_.sent();  // the peer learns that there is one
      bench_.give(bench_.frame(kSendOnly, expected, ext, a.bytes));
      break;
    case Way::Write: {
      const bool is_only = a.bytes <= kPathMtu;
      ext.reth = {a.va, key, a.bytes};
      bench_.give(bench_.frame(is_only ? kWriteOnly : kWriteFirst, expected, ext,
                               is_only ? a.bytes : kPathMtu));
      break;
    }
    case Way::Read:
      ext.reth = {a.va, key, a.bytes};
      bench_.give(bench_.frame(kReadRequest, expected, ext));
      break;
    case Way::Atomic:
      ext.atomic_eth = {a.va, key, 1, 0};
      bench_.give(bench_.frame(kFetchAdd, expected, ext));
      break;
  }
  return bench_.sent();
}

std::optional<std::string> Isolation::try_access(const Access& a) {
  wipe();
  Seen seen;
  seen.before = area();
  seen.frames = exchange(a);
  seen.completions = bench_.completions();
  const bool allowed = may_access(target_, a);
  std::optional<std::string> wrong = allowed ? judge_allowed(a, seen) : judge_refused(a, seen);
  if (!allowed || wrong)
    bench_.restore(Who::Own);
  else if (is_local(a.way) && a.way != Way::Scatter)
    bench_.sent_request(Who::Own);
  else
    bench_.took_request(Who::Own);
  if (!wrong) return std::nullopt;
  std::string said = text_of(target_) + "; " + text_of(a) + (allowed ? "; allowed" : "; refused");
  for (const Frame& frame : seen.frames) {
    const ParsedPacket p = parsed(frame);
    said += fmt::format("; sent {} {:#x}", p.opcode->name, p.has(Ext::Aeth) ? p.aeth.syndrome : 0);
  }
  for (const Wc& wc : seen.completions) said += fmt::format("; CQE {}", name_of(wc.status));
  return said + ": " + *wrong;
}

std::optional<std::string> Isolation::judge_refused(const Access& a, const Seen& seen) {
  if (area() != seen.before) return "bytes changed";
  const bool asks = a.way == Way::ReadResult || a.way == Way::AtomicResult;
  for (const Frame& frame : seen.frames)
    if (!payload_of(frame).empty()) return "bytes left";
  if (is_local(a.way)) {
    if (seen.completions.size() != 1 || seen.completions[0].status != WcStatus::LocProtErr)
      return "no completion LOC_PROT_ERR";
    if (a.way != Way::Scatter) {
      const bool quiet = seen.frames.empty() || (asks && seen.frames.size() == 1);
      return quiet ? std::nullopt : std::optional<std::string>("a packet left");
    }
  } else if (!seen.completions.empty()) {
    return "a completion";
  }
  const u8 code = a.way == Way::Scatter ? 0x63 : a.way == Way::Atomic && a.va % 8 ? 0x61 : 0x62;
  if (seen.frames.size() != 1) return "not one answer";
  const ParsedPacket p = parsed(seen.frames[0]);
  if (p.bth.opcode != kAck || p.aeth.syndrome != code || p.bth.psn != bench_.expected(Who::Own))
    return fmt::format("no NAK {:#x} of the request", code);
  return std::nullopt;
}

std::optional<std::string> Isolation::judge_allowed(const Access& a, const Seen& seen) {
  const u64 at = kMargin + (a.va - target_.start);  // in the area
  std::vector<u8> wanted = seen.before, out, original(8);
  const std::span<const u8> held = std::span(seen.before).first(kAreaBytes);
  if (a.bytes) out.assign(held.begin() + long(at), held.begin() + long(at + a.bytes));
  const auto put = [&](auto&& byte) {
    for (u32 i = 0; i < a.bytes; ++i) wanted[at + i] = u8(byte(i));
  };
  // The host's words have their low byte first.
  const auto low_first = [](u64 word) { return [word](u32 i) { return u8(word >> 8 * i); }; };
  u64 word = 0;
  if (is_atomic(a.way))
    for (u32 i = 0; i < 8; ++i) word |= u64{out[i]} << 8 * i;
  if (a.way == Way::Scatter || a.way == Way::ReadResult || a.way == Way::Write)
    put([](u32 i) { return i + 1; });
  if (a.way == Way::AtomicResult) put(low_first(kFetched));
  if (a.way == Way::Atomic) put(low_first(word + 1));
  if (area() != wanted) return "memory is not as it must be";
  const bool completes = is_local(a.way);
  if (seen.completions.size() != completes ||
      (completes && seen.completions[0].status != WcStatus::Success))
    return "completions are not as they must be";
  if (seen.frames.size() != 1) return "not one packet";
  static constexpr std::array<u8, kWays> opcodes{kSendOnly, kAck,      kReadRequest, kFetchAdd,
                                                 kAck,      kReadOnly, kAtomicAck};
  const ParsedPacket p = parsed(seen.frames[0]);
  if (p.bth.opcode != opcodes[std::size_t(a.way)]) return "not the packet that must leave";
  if (p.has(Ext::Aeth) && syndrome_kind(p.aeth.syndrome) != SyndromeKind::Ack) return "a NAK";
  const bool reads = a.way == Way::Gather || a.way == Way::Read;
  if (payload_of(seen.frames[0]) != (reads ? out : std::vector<u8>{}))
    return "the bytes that left are others";
  if (a.way == Way::Atomic && p.atomic_ack_eth.original != word) return "the original is another";
  return std::nullopt;
}
}  // namespace hca::testbench::malice
