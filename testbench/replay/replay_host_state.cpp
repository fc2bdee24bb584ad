// SPDX-License-Identifier: Apache-2.0
// Queue pairs of RD, changes and queries of queue pair state by a replay's host, and its comparison
// of memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "model/proto/transport/qp_transitions.h"
#include "testbench/replay/replay_fields.h"
#include "testbench/replay/replay_host.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr std::array<std::string_view, 7> kStateNames{"RESET", "INIT", "RTR", "RTS",
                                                      "SQD",   "SQE",  "ERR"};

QpState state_of(const JsonAt& name) {
  const auto found = std::ranges::find(kStateNames, name.text());
  if (found == kStateNames.end())
    name.refuse("is " + name.value().dump(), fmt::format("{}", fmt::join(kStateNames, " | ")));
  return QpState(found - kStateNames.begin());
}

// The attributes of a modify by their names in the JSON.
struct Given {
  std::string_view name;
  u32 mask;
  void (*set)(QpAttributes& a, const JsonAt& value);
};
constexpr std::array kGiven{
    Given{"qp_access", kQpAccess,
          [](QpAttributes& a, const JsonAt& v) { a.access = access_of(v); }},
    Given{"timeout", kQpTimeout,
          [](QpAttributes& a, const JsonAt& v) { a.timeout = u8(v.number()); }},
    Given{"retry_cnt", kQpRetryCount,
          [](QpAttributes& a, const JsonAt& v) { a.retry_count = u8(v.number()); }},
    Given{"rnr_retry", kQpRnrRetry,
          [](QpAttributes& a, const JsonAt& v) { a.rnr_retry = u8(v.number()); }},
    Given{"min_rnr_timer", kQpMinRnrTimer,
          [](QpAttributes& a, const JsonAt& v) { a.min_rnr_timer = u8(v.number()); }},
    Given{"max_rd_atomic", kQpMaxRdAtomic,
          [](QpAttributes& a, const JsonAt& v) { a.max_rd_atomic = u8(v.number()); }},
    Given{"max_dest_rd_atomic", kQpMaxDestRdAtomic,
          [](QpAttributes& a, const JsonAt& v) { a.max_dest_rd_atomic = u8(v.number()); }},
    Given{"qkey", kQpQkey, [](QpAttributes& a, const JsonAt& v) { a.qkey = u32(v.number()); }},
};
}  // namespace

std::string_view state_name(QpState state) { return kStateNames.at(std::size_t(state)); }

u32 ReplayHost::rd_domain() {
  if (!rdd_) rdd_ = verbs_.alloc_rdd().value_or(0);
  must_execute(rdd_ ? Error::None : error_of(verbs_.last_status()), "qp");
  return rdd_;
}

// A queue pair of RD: its connections are those of EE contexts.
void ReplayHost::make_ready(const ReplayEvent& e) {
  Qp& q = qp(u32(e.number("qpn")));
  QpAttributes a{};
  a.port = 1;
  a.rdd = rd_domain();
  a.qkey = u32(e.number("qkey"));
  a.min_rnr_timer = u8(e.number("min_rnr_timer"));
  a.access = access_of(e.at("qp_access"));
  QpState from = QpState::Reset;
  for (const QpState state : {QpState::Init, QpState::Rtr, QpState::Rts}) {
    const QpTransition& t = *find_transition(kRd, std::exchange(from, state), state);
    a.state = state;
    a.mask = t.required | (t.optional & (kQpAccess | kQpMinRnrTimer));
    must_execute(verbs_.modify_qp(q, a), "rd_ready");
  }
}

void ReplayHost::modify(const ReplayEvent& e) {
  Qp& q = qp(u32(e.number("qpn")));
  QpAttributes a{};
  a.state = e.has("state") ? state_of(e.at("state")) : verbs_.query_qp(q).state;
  a.mask = kQpState;
  for (const Given& given : kGiven)
    if (e.has(std::string(given.name).c_str())) {
      given.set(a, e.at(std::string(given.name).c_str()));
      a.mask |= given.mask;
    }
  must_execute(verbs_.modify_qp(q, a), "modify");
}

QpAttributes ReplayHost::query(u32 qpn) { return verbs_.query_qp(qp(qpn)); }

std::optional<std::string> ReplayHost::compare_memory(const ReplayEvent& mem_final,
                                                      const std::function<bool(u64)>& may_differ,
                                                      u64& bytes_compared) {
  const std::string name = mem_final.text("mr");
  const MemoryRegion& region = region_of(mem_final);
  std::vector<u8> expected(region.length), got(region.length);
  std::vector<bool> told(region.length, region.has_pattern);
  for (u64 i = 0; i < region.length; ++i) expected[i] = pattern_byte(region.seed, i);
  for (const JsonAt& change : mem_final.at("changed").entries()) {
    const std::vector<u8> bytes = change[1].hex();
    const u64 at = change[0].number();
    check_inside(region, at, bytes.size(), change);
    std::copy(bytes.begin(), bytes.end(), expected.begin() + std::ptrdiff_t(at));
    std::fill_n(told.begin() + std::ptrdiff_t(at), bytes.size(), true);
  }
  device_.memory().read(region.address, got.data(), got.size());
  bytes_compared += u64(std::ranges::count(told, true));
  for (u64 i = 0; i < region.length; ++i)
    if (!told[i] || (expected[i] != got[i] && may_differ(region.address + i))) got[i] = expected[i];
  const auto [e, g] = std::mismatch(expected.begin(), expected.end(), got.begin());
  if (e == expected.end()) return std::nullopt;
  u64 different = 0;
  for (u64 i = 0; i < region.length; ++i) different += expected[i] != got[i];
  const u64 at = u64(e - expected.begin());
  return fmt::format(
      "region '{}' offset {} (address {:#x}): expected {:02x}, got {:02x}; {} bytes differ", name,
      at, region.address + at, *e, *g, different);
}
}  // namespace hca::testbench
