// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/responder_check_coverage.h"

#include <fmt/format.h>

#include "model/proto/transport/ee_context.h"

namespace hca::testbench {
namespace {
using namespace proto;

// Verdicts: each rule, then no broken rule. Opcodes: each row, then a reserved one.
constexpr std::size_t kVerdicts = kRequestRules.size() + 1;
constexpr std::size_t kOpcodes = kOpcodeRows.size() + 1;

const RequestRule* rule_of(std::size_t verdict) {
  return verdict < kRequestRules.size() ? &kRequestRules[verdict] : nullptr;
}
std::string verdict_name(std::size_t verdict) {
  const RequestRule* rule = rule_of(verdict);
  return rule
             ? fmt::format("{} ({})", rule->statement, kRequestCauseNames[std::size_t(rule->cause)])
             : "good";
}
u32 verdict_of(const ResponderCheckPacket& p) {
  return index_in(kRequestRules, [&](const RequestRule& rule) {
    return rule.statement == p.checked.verdict.statement;
  });
}

bool has_key(const OpcodeRow& row) {
  return built_row(row).has(Ext::Reth) || row.has(Ext::AtomicEth);
}

// True: a request with this opcode to a queue pair of its service can break the rule without
// breaking an earlier one.
bool can_break(const OpcodeRow& row, const RequestRule& rule) {
  using enum RequestCause;
  if (rule.broken == request::wrong_service) return true;
  if (!includes(rule.services, row.service)) return false;
  const bool resync = row.operation == Operation::Resync;
  const bool reliable = is_reliable(row.service), begins = begins_message(row.position);
  if (rule.broken == request::changes_xrc_srq) return !begins;
  switch (rule.cause) {
    case Duplicate:
      return row.traits().is_saved() == (rule.action == RequestAction::Repeat);
    case NoRdQueue:
    case WrongRdDomain:
    case NakPending:
      return !resync;
    case BadQkey:
      return !resync;
    case PsnAhead:
    case BadSequence:
      if (resync) return false;
      if (rule.statement == "EXT-5") return row.traits().message == InMessage::Put;
      return reliable || !begins;
    case Unsupported:
      return !is_executed(row) || row.traits().needed_access || resync;
    case TooManyReads:
      return row.traits().is_saved();
    case NoReceiveWqe:
    case SharedQueueFailed:
      return request::takes_receive_wqe(row);
    case BadLength:
      return is_executed(row);
    case NoXrcSrq:
    case WrongXrcDomain:
      return row.has(Ext::XrcEth);
    case Misaligned:
      return row.traits().is_aligned();
    case BadRkey:
      return is_executed(row) && has_key(row);
    default:
      return true;
  }
}
bool reserved_can_break(const RequestRule& rule) {
  using enum RequestCause;
  if (rule.cause == Duplicate) return rule.action == RequestAction::Acknowledge;
  if (rule.cause == NoXrcSrq || rule.cause == WrongXrcDomain) return false;
  if (rule.cause == BadQkey) return rule.services == kRd;  // others have no DETH
  return rule.stage <= RuleStage::Support && rule.cause != BadSequence;
}
bool can_be(std::size_t opcode, std::size_t verdict) {
  const RequestRule* rule = rule_of(verdict);
  if (opcode == kOpcodeRows.size()) return rule && reserved_can_break(*rule);
  const OpcodeRow& row = kOpcodeRows[opcode];
  if (!row.is_request) return false;
  return rule ? can_break(row, *rule) : is_executed(row);
}
// The R_Key of a later packet of a PUT is not looked up.
bool carries_key(std::size_t verdict) {
  if (rule_of(verdict) && rule_of(verdict)->broken == request::leaves_put) return false;
  for (std::size_t i = 0; i < kOpcodeRows.size(); ++i)
    if (can_be(i, verdict) && has_key(kOpcodeRows[i])) return true;
  return false;
}

constexpr std::array<std::string_view, 3> kLate{"answers in time", "context late", "region late"};

constexpr std::array<std::string_view, 7> kDistances{"ePSN",          "ePSN + 1", "ePSN + 2^23 - 1",
                                                     "ePSN - 2^23",   "ePSN - 1", "further ahead",
                                                     "further behind"};
u32 distance_of(const ResponderCheckPacket& p) {
  constexpr std::array<std::int32_t, 5> kExact{0, 1, (1 << 23) - 1, -(1 << 23), -1};
  const std::int32_t d = psn_distance(p.before.epsn, p.parsed.bth.psn);
  const u32 exact = index_in(kExact, [&](std::int32_t e) { return e == d; });
  return exact < kExact.size() ? exact : d > 0 ? 5 : 6;
}
constexpr std::array kSequenced{Service::Rc, Service::Uc, Service::Rd, Service::Xrc};
constexpr std::array<std::string_view, 3> kExpected{"0 or 1", "2^24 - 1 or - 2", "another"};
u32 expected_of(const ResponderCheckPacket& p) {
  return p.before.epsn < 2 ? 0 : p.before.epsn >= kPsnModulus - 2 ? 1 : 2;
}

// Upper bounds of the number of packets back.
constexpr std::array<u32, 6> kBack{1, 2, 3, 7, 15, 40};
u32 back_of(u32 distance) {
  return index_in(kBack, [&](u32 up_to) { return distance <= up_to; });
}

constexpr std::array<u32, 4> kPayloadsUpTo{0, 64, 1024, 65535};

// A rule of this cause can be broken in this framing: only native ones have an LRH.
bool has_cause(Framing framing, RequestCause cause) {
  return cause == RequestCause::Good ||
         std::ranges::any_of(kRequestRules, [&](const RequestRule& rule) {
           const bool of_lrh =
               rule.cause == RequestCause::WrongVl || rule.broken == request::from_group;
           return rule.cause == cause && (!of_lrh || is_native(framing));
         });
}
// Opcodes as crossed with other dimensions: the reserved ones are one.
constexpr std::size_t kReservedKind = kOpcodeRows.size();
bool is_kind(u32 kind) { return kind == kReservedKind || kOpcodeRows[kind].is_request; }

// RD: what becomes of the WQE of a message that a request ends.
constexpr std::array<std::string_view, 4> kEnded{"no message of a SEND", "completes", "returns",
                                                 "is not the newest"};
u32 ended_of(const ResponderCheckPacket& p, bool by_resync) {
  if (p.before.message != InMessage::Send) return 0;
  const bool completes = by_resync ? p.qp.options.rd_abort == RdAbort::Complete
                                   : p.qp.options.rd_error_class == RdErrorClass::F;
  return completes ? 1 : p.checked.keeps_wqe ? 2 : 3;
}
// RD: why DestQP names no queue pair that takes requests.
constexpr std::array<std::string_view, 3> kNoQueue{"does not exist", "is of another service",
                                                   "is in another state"};
constexpr unsigned kSyndromes = 0x65;  // up to the last NAK code that a rule has
}  // namespace

ResponderCheckCoverage::ResponderCheckCoverage(u32) {
  add_group("opcode x verdict");
  for (std::size_t i = 0; i < kOpcodes; ++i)
    for (std::size_t v = 0; v < kVerdicts; ++v) {
      const bool is_row = i < kOpcodeRows.size();
      const std::string opcode = is_row
                                     ? fmt::format("{} {} {:#04x}", name_of(kOpcodeRows[i].service),
                                                   kOpcodeRows[i].name, kOpcodeRows[i].code)
                                     : "reserved";
      add(can_be(i, v) ? fmt::format("{}: {}", opcode, verdict_name(v)) : "");
    }
  late_ = add_group("verdict x look-ups");
  for (std::size_t v = 0; v < kVerdicts; ++v)
    for (std::size_t late = 0; late < kLate.size(); ++late)
      add(late == 2 && !carries_key(v) ? "" : fmt::format("{}: {}", verdict_name(v), kLate[late]));
  std::vector<std::string> kinds = opcode_names(), framings;
  kinds.emplace_back("reserved");
  for (unsigned f = 0; f < kFramingCount; ++f) framings.emplace_back(framing_row(Framing(f)).name);
  const Dimension framing{"framing", framings}, opcode{"opcode", kinds},
      payload{"payload", payload_names(kPayloadsUpTo)}, start{"start", start_names()},
      cause{"cause", {kRequestCauseNames.begin(), kRequestCauseNames.end()}};
  add_cross(std::array{&framing, &cause, &start}, [](std::span<const u32> values) {
    return has_cause(Framing(values[0]), RequestCause(values[1]));
  });
  add_cross(std::array{&framing, &opcode, &payload}, [](std::span<const u32> values) {
    return is_kind(values[1]) && (!values[2] || values[1] != kReservedKind) &&
           values[2] + 1 < kPayloadsUpTo.size();
  });
  add_cross(std::array{&opcode, &start}, [](auto values) { return is_kind(values[0]); });
  psns_ = add_group("service x PSN x ePSN");
  for (const Service service : kSequenced)
    for (const std::string_view distance : kDistances)
      for (const std::string_view expected : kExpected)
        add(fmt::format("{}: {}, ePSN is {}", name_of(service), distance, expected));
  hazards_ = add_group("action on the request before of the queue pair x requests between");
  for (std::size_t action = 0; action < kRequestActionNames.size(); ++action)
    for (const u32 back : kBack)
      add(fmt::format("{}, up to {} back", kRequestActionNames[action], back));
  shared_ = add_group("WQE taken from the SRQ by another queue pair x requests between");
  for (const u32 back : kBack) add(fmt::format("SRQ, up to {} back", back));
  rd_taken_ =
      add_group("WQE taken from a queue pair of RD by another EE context x requests between");
  for (const u32 back : kBack) add(fmt::format("queue pair of RD, up to {} back", back));
  rd_ended_ = add_group("request that ends a message of RD x WQE of the message");
  for (const std::string_view by : {"NAK", "RESYNC"})
    for (const std::string_view ended : kEnded) add(fmt::format("{}: {}", by, ended));
  rd_named_ = add_group("queue pair that RD names");
  for (const std::string_view why : kNoQueue) add(fmt::format("DestQP {}", why));
  syndromes_ = add_group("syndrome");
  for (unsigned syndrome = 0; syndrome < kSyndromes; ++syndrome)
    add(syndrome >= 0x40 && syndrome < 0x60 ? "" : fmt::format("syndrome {:#04x}", syndrome));
  add_cross(std::array{&payload, &start});
}

void ResponderCheckCoverage::count_rd(const ResponderCheckPacket& p) {
  const RequestVerdict& v = p.checked.verdict;
  if (p.rd_distance && p.rd_distance <= kBack.back()) hit(rd_taken_ + back_of(p.rd_distance));
  const bool by_resync = request::is_new_resync(p.parsed, v);
  if (by_resync || v.action == RequestAction::NakAndEnd)
    hit(rd_ended_ + by_resync * kEnded.size() + ended_of(p, by_resync));
  if (v.cause == RequestCause::NoRdQueue) hit(rd_named_ + (!p.named ? 0 : !p.rd ? 1 : 2));
}

void ResponderCheckCoverage::count(const ResponderCheckPacket& p) {
  if (p.of_ee()) count_rd(p);
  const u32 v = verdict_of(p);
  const u32 opcode =
      index_in(kOpcodeRows, [&](const OpcodeRow& row) { return row.code == p.parsed.bth.opcode; });
  hit(opcode * kVerdicts + v);
  hit(late_ + v * kLate.size() + (remote_key(p.parsed) && p.region_late ? 2 : p.context_late != 0));
  const u32 service = index_in(kSequenced, [&](Service s) { return s == p.qp.service; });
  if (service < kSequenced.size())
    hit(psns_ + (service * kDistances.size() + distance_of(p)) * kExpected.size() + expected_of(p));
  if (p.distance && p.distance <= kBack.back())
    hit(hazards_ + u32(p.action_before) * kBack.size() + back_of(p.distance));
  if (p.shared_distance && p.shared_distance <= kBack.back())
    hit(shared_ + back_of(p.shared_distance));
  if (p.qp.reliable && !is_silent(p.checked.verdict.action)) hit(syndromes_ + p.checked.syndrome);
  const u32 size =
      index_in(kPayloadsUpTo, [&](u32 up_to) { return p.parsed.payload_bytes <= up_to; });
  const u32 kind = opcode, start = u32(p.start);
  const u32 framing = u32(p.parsed.framing);
  hit_cross(0, {framing, u32(p.checked.verdict.cause), start});
  hit_cross(1, {framing, kind, size});
  hit_cross(2, {kind, start});
  hit_cross(3, {size, start});
}
}  // namespace hca::testbench
