// SPDX-License-Identifier: Apache-2.0
// The step "driver": the driver of AEQ-7 to AEQ-24 takes asynchronous entries and reacts.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "testbench/vectors/format_values.h"
#include "testbench/vectors/host.h"

namespace hca::testbench {
using namespace proto;

namespace {
template <class Of>
struct NumberRow {
  std::string_view name;
  u32 Of::*number;
};
constexpr std::array kQpRows{
    NumberRow<DriverQp>{"last_code", &DriverQp::last_code},
    NumberRow<DriverQp>{"tcp_state", &DriverQp::tcp_state},
    NumberRow<DriverQp>{"iwarp_state", &DriverQp::iwarp_state},
    NumberRow<DriverQp>{"failed_wqe_valid", &DriverQp::failed_wqe_valid},
    NumberRow<DriverQp>{"failed_wqe", &DriverQp::failed_wqe},
    NumberRow<DriverQp>{"flushes", &DriverQp::flushes},
    NumberRow<DriverQp>{"disconnects", &DriverQp::disconnects},
    NumberRow<DriverQp>{"errors", &DriverQp::errors},
    NumberRow<DriverQp>{"terminating", &DriverQp::terminating},
    NumberRow<DriverQp>{"terminates", &DriverQp::terminates},
    NumberRow<DriverQp>{"terminate_done", &DriverQp::terminate_done},
    NumberRow<DriverQp>{"fins", &DriverQp::fins},
    NumberRow<DriverQp>{"terminate_messages", &DriverQp::terminate_messages},
    NumberRow<DriverQp>{"close_timers", &DriverQp::close_timers},
    NumberRow<DriverQp>{"closings", &DriverQp::closings},
    NumberRow<DriverQp>{"in_rts", &DriverQp::in_rts},
    NumberRow<DriverQp>{"accept_pending", &DriverQp::accept_pending},
    NumberRow<DriverQp>{"established", &DriverQp::established},
    NumberRow<DriverQp>{"suspend_pending", &DriverQp::suspend_pending},
};
constexpr std::array kTotalRows{
    NumberRow<DriverTotals>{"suspends", &DriverTotals::suspends},
    NumberRow<DriverTotals>{"traffic_change", &DriverTotals::traffic_change},
    NumberRow<DriverTotals>{"accepts", &DriverTotals::accepts},
    NumberRow<DriverTotals>{"wakes", &DriverTotals::wakes},
    NumberRow<DriverTotals>{"cq_errors", &DriverTotals::cq_errors},
};

template <class Rows>
std::string names_in(const Rows& rows) {
  std::string names;
  for (const auto& row : rows) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}
// Calls visit(member, value) for each member of `json` that a row names; others are refused, but
// for "qps".
template <class Rows, class Visit>
void each_number(const JsonAt& json, const Rows& rows, const Visit& visit) {
  for (const auto& [name, unused] : json.value().items()) {
    if (name == "qps") continue;
    const auto row = std::ranges::find(rows, std::string_view(name), &Rows::value_type::name);
    if (row == rows.end()) json[name].refuse("is unknown", names_in(rows));
    visit(row->number, json[name]);
  }
}
constexpr std::array<std::string_view, 2> kProtocols{"RoCE", "iWARP"};

void check_state(const JsonAt& json, const SetupPlan* plan) {
  const auto number = [&](auto, const JsonAt& value) { a_number<~u32{0}>(value, plan); };
  each_number(json, kTotalRows, number);
  if (!json.has("qps")) return;
  for (const auto& [name, unused] : json["qps"].value().items()) {
    if (!plan->qps.count(name)) json["qps"][name].refuse("is no queue pair", "one of setup.qps");
    each_number(json["qps"][name], kQpRows, number);
  }
}
void check_entries(const JsonAt& json, const SetupPlan* plan) {
  visit_each(json, [&](const JsonAt& entry) { check_fields(entry, kHeaderInfo<Aeqe>, *plan); });
}
constexpr std::array kDriverKeys{
    FormatKey{"protocol", one_of_names<kProtocols>}, FormatKey{"before", check_state},
    FormatKey{"entries", check_entries}, FormatKey{"after", check_state, true}};
}  // namespace

void check_driver(const JsonAt& json, const SetupPlan* plan) {
  check_object(json, kDriverKeys, plan);
}

DriverDevice VectorHost::driven_device() {
  const auto has = [this](CommandOpcode query, u32 number) {
    Block block{};
    return execute(query, number, block) == CommandStatus::Ok;
  };
  return {[has](u32 qpn) { return has(CommandOpcode::QueryQp, qpn); },
          [has](u32 cqn) { return has(CommandOpcode::QueryCq, cqn); },
          [this](u32 qpn) {
            Block block{};
            QpAttributes a{};
            a.mask = kQpState;
            a.state = QpState::Error;
            encode(a, block.data() + kCommandHeaderBytes);
            execute(CommandOpcode::ModifyQp, qpn, block);
            if (const VectorQp* qp = qp_of_number(qpn)) qp->qp->state = QpState::Error;
          }};
}

void VectorHost::set_driver(const JsonAt& json) {
  const auto set = [this](auto& of, const JsonAt& all, const auto& rows) {
    each_number(all, rows, [&](auto number, const JsonAt& value) {
      of.*number = u32(plan_.symbols.value(value, ~u32{0}));
    });
  };
  set(driver_.totals, json, kTotalRows);
  if (!json.has("qps")) return;
  for (const auto& [name, unused] : json["qps"].value().items())
    set(driver_.qps[qps_.at(name).peer.qpn], json["qps"][name], kQpRows);
}

std::vector<FieldDifference> VectorHost::compare_driver(const JsonAt& json) {
  std::vector<FieldDifference> all;
  const auto compare = [&](const std::string& name, const auto& of, const JsonAt& expected,
                           const auto& rows) {
    each_number(expected, rows, [&](auto number, const JsonAt& value) {
      const u64 wanted = plan_.symbols.value(value, ~u32{0});
      if (of.*number == wanted) return;
      const std::string path = value.path();
      all.push_back({name, path.substr(path.rfind('.') + 1), fmt::format("{:#x}", wanted),
                     fmt::format("{:#x}", of.*number)});
    });
  };
  compare("driver", driver_.totals, json, kTotalRows);
  if (!json.has("qps")) return all;
  for (const auto& [name, unused] : json["qps"].value().items())
    compare("driver's " + name, driver_.qps[qps_.at(name).peer.qpn], json["qps"][name], kQpRows);
  return all;
}

std::vector<FieldDifference> VectorHost::drive(const JsonAt& json,
                                               std::span<const AsyncEvent> events) {
  driver_.is_roce = !json.has("protocol") || json["protocol"].text() == kProtocols[0];
  if (json.has("before")) set_driver(json["before"]);
  for (const AsyncEvent& event : events) driver_.take(event.entry);
  if (json.has("entries"))
    visit_each(json["entries"], [&](const JsonAt& fields) {
      std::array<u8, kEqeBytes> bytes{};
      for (const auto& [name, unused] : fields.value().items())
        set_field(bytes.data(), *find_field(kHeaderInfo<Aeqe>, name), fields[name], plan_.symbols);
      driver_.take(decode<Aeqe>(bytes.data()));
    });
  return compare_driver(json["after"]);
}
}  // namespace hca::testbench
