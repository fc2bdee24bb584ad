// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/queue_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "testbench/vectors/format_values.h"

namespace hca::testbench {
using namespace proto;

enum class QueueSide : u8 { Requester, Responder };

// One key. `most`: of its value, perhaps by an attribute of the queue pair.
struct QueueStateRow {
  std::string_view name;
  QueueSide side;
  Services services;
  u32 (*most)(const QpAttributes&);
  void (*put)(SendState&, ReceiveState&, u32 value);
};

namespace {
u32 a_psn(const QpAttributes&) { return kPsnMask; }
u32 a_bit(const QpAttributes&) { return 1; }
void put_psns(SendState& s, ReceiveState&, u32 psn) { s.start(psn); }

constexpr Services kAnswered = kRc | kXrc, kSequenced = kAnswered | kUc;
constexpr std::string_view kLimitSsn = "LimitSSN", kCredit = "Credit";
constexpr std::array<std::string_view, 3> kSendPsns{"SqPSN", "SentPSN", "UnackedPSN"};
constexpr std::array kStateRows{
    // clang-format off
    QueueStateRow{"MSN", QueueSide::Responder, kAnswered, a_psn, [](SendState&, ReceiveState& r, u32 v) { r.msn = v; }},
    QueueStateRow{"RqPSN", QueueSide::Responder, kSequenced, a_psn, [](SendState&, ReceiveState& r, u32 v) { r.epsn = v; }},
    QueueStateRow{"NakSent", QueueSide::Responder, kAnswered, a_bit, [](SendState&, ReceiveState& r, u32 v) { r.nak_sent = v; }},
    QueueStateRow{kSendPsns[0], QueueSide::Requester, kSenders, a_psn, put_psns},
    QueueStateRow{kSendPsns[1], QueueSide::Requester, kSenders, a_psn, put_psns},
    QueueStateRow{kSendPsns[2], QueueSide::Requester, kSenders, a_psn, put_psns},
    QueueStateRow{"SSN", QueueSide::Requester, kAnswered, a_psn, [](SendState& s, ReceiveState&, u32 v) { s.ssn = v; }},
    QueueStateRow{kCredit, QueueSide::Requester, kAnswered, [](const QpAttributes&) { return u32(Credit::Unlimited); },
                  [](SendState& s, ReceiveState&, u32 v) { s.credit = Credit(v); }},
    QueueStateRow{kLimitSsn, QueueSide::Requester, kAnswered, a_psn, [](SendState& s, ReceiveState&, u32 v) { s.limit_ssn = v; }},
    QueueStateRow{"RetriesLeft", QueueSide::Requester, kAnswered, [](const QpAttributes& a) { return u32(a.retry_count); },
                  [](SendState& s, ReceiveState&, u32 v) { s.retries_left = u8(v); }},
    QueueStateRow{"RnrRetriesLeft", QueueSide::Requester, kAnswered, [](const QpAttributes& a) { return u32(a.rnr_retry); },
                  [](SendState& s, ReceiveState&, u32 v) { s.rnr_retries_left = u8(v); }},
    // clang-format on
};
constexpr auto kStateKeys = [] {
  std::array<FormatKey, kStateRows.size()> keys;
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {kStateRows[i].name, a_number<kPsnMask>};
  return keys;
}();

// A requester has its state from RTS on, a responder from RTR on.
bool has_state_side(QueueSide side, QpState state) {
  if (state == QpState::Error || state == QpState::Reset || state == QpState::Init) return false;
  return side == QueueSide::Responder || state != QpState::Rtr;
}
void check_state_side(const QueueStateRow& row, const JsonAt& json, Service service,
                      QpState state) {
  if (!includes(row.services, service)) {
    std::string keys;
    for (const QueueStateRow& other : kStateRows)
      if (includes(other.services, service))
        keys += (keys.empty() ? "" : ", ") + std::string(other.name);
    json.refuse(fmt::format("is nothing that {} has", name_of(service)), keys);
  }
  if (!has_state_side(row.side, state))
    json.refuse(fmt::format("is not there in {}", name_of(state)),
                row.side == QueueSide::Responder ? "states RTR, RTS, SQD" : "states RTS, SQD");
}
void check_state_together(const JsonAt& state, const QueueState& values) {
  const auto value_of = [&](std::string_view name) -> std::optional<u32> {
    for (const QueueStateValue& v : values)
      if (v.row->name == name) return v.value;
    return std::nullopt;
  };
  if (value_of(kLimitSsn) && value_of(kCredit) != u32(Credit::Limited))
    state[kLimitSsn].refuse("requires Credit 1", "beside Credit 1, the credits of the peer");
  std::optional<u32> psn;
  for (const std::string_view name : kSendPsns) {
    const std::optional<u32> value = value_of(name);
    if (value && psn && value != psn)
      state[name].refuse(fmt::format("is {:#x}", *value),
                         fmt::format("{:#x}, as the other PSNs to send: an idle queue pair has "
                                     "nothing in flight; post messages for that",
                                     *psn));
    if (value) psn = value;
  }
}
}  // namespace

bool is_state_key(std::string_view name) { return find_key(kStateKeys, name); }

void check_queue_state(const JsonAt& json) {
  check_object(json, kStateKeys, nullptr);
  must_hold_some(json);
}

QueueState plan_queue_state(const JsonAt& state, Service service, const QpAttributes& a,
                            const Symbols& symbols) {
  QueueState values;
  for (const QueueStateRow& row : kStateRows) {
    if (!state.has(row.name)) continue;
    const JsonAt json = state[row.name];
    check_state_side(row, json, service, a.state);
    values.push_back({&row, u32(symbols.value(json, row.most(a)))});
  }
  check_state_together(state, values);
  return values;
}

void put_queue_state(const QueueState& state, device::Contexts& contexts, u32 qpn) {
  for (const QueueStateValue& v : state)
    v.row->put(contexts.send_of(qpn), contexts.receive_of(qpn), v.value);
}
}  // namespace hca::testbench
