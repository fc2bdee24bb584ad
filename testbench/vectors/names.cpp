// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/names.h"

#include <algorithm>
#include <array>
#include <functional>

#include "model/proto/events.h"
#include "model/proto/qp_attributes.h"
#include "testbench/vectors/command_bodies.h"
#include "testbench/verbs_names.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr std::array<std::string_view, 3> kPostErrors{"EINVAL", "ENOMEM", "EBUSY"};
// A queue pair of a set-up cannot begin in SQE: an error takes it there.
constexpr std::array<std::string_view, 6> kFirstStates{"Reset", "Init", "RTR",
                                                       "RTS",   "SQD",  "Error"};
constexpr auto kStatuses = [] {
  std::array<std::string_view, kCommandStatuses.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kCommandStatuses[i].name;
  return names;
}();

template <class Names>
void must_be_one(const JsonAt& json, const Names& names) {
  if (std::find(names.begin(), names.end(), json.text()) != names.end()) return;
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  json.refuse("is '" + json.text() + "'", all);
}
template <class Names>
void may_be_one(const JsonAt& object, const char* key, const Names& names) {
  if (object.has(key)) must_be_one(object[key], names);
}

// A step's value, or each of a list of them.
void each(const JsonAt& json, const std::function<void(const JsonAt&)>& visit) {
  if (!json.value().is_array()) return visit(json);
  for (const JsonAt& entry : json.entries()) visit(entry);
}

void check_fields(const JsonAt& fields) {
  for (const char* key : {"State", "CurState"})
    if (fields.has(key) && fields[key].value().is_string())
      must_be_one(fields[key], kQpStateNames);
    else if (fields.has(key))
      fields[key].number(0, kQpStateNames.size() - 1);
}
void check_command(const JsonAt& command) {
  if (!find_command(command["name"].text()))
    command["name"].refuse("is '" + command["name"].text() + "'", names_of_commands());
  may_be_one(command, "status", kStatuses);
  for (const char* part : {"body", "answer"})
    if (command.has(part)) check_fields(command[part]);
}
void check_query(const JsonAt& query) {
  if (query.has("name"))
    check_command(query);
  else
    check_fields(query);
}
void check_completion(const JsonAt& cqe) {
  may_be_one(cqe, "status", kWcStatusNames);
  may_be_one(cqe, "opcode", wc_opcode_names());
}
void check_operation(const JsonAt& wr) {
  if (wr.has("op") && !work_opcode_of(wr["op"].text()))
    wr["op"].refuse("is '" + wr["op"].text() + "'", work_opcode_names());
}
void check_post(const JsonAt& post) {
  may_be_one(post, "error", kPostErrors);
  check_operation(post);
  if (post.has("list"))
    for (const JsonAt& wr : post["list"].entries()) check_operation(wr);
}
void check_event(const JsonAt& event) { must_be_one(event["type"], kAsyncEventNames); }

struct Check {
  const char* verb;
  void (*run)(const JsonAt&);
};
constexpr std::array kChecks{
    Check{"post_send", check_post},      Check{"post_recv", check_post},
    Check{"command", check_command},     Check{"query", check_query},
    Check{"send_cqe", check_completion}, Check{"recv_cqe", check_completion},
    Check{"event", check_event},
};

// What is said of packets on the way needs a loop.
void check_loop(const JsonAt& step, bool loops) {
  for (const char* verb : {"hold", "release", "drop"})
    if (step.has(verb) && !loops) step[verb].refuse("there is no loop", "setup.loop");
}
}  // namespace

void check_names(const JsonAt& top) {
  const bool loops = top.has("setup") && top["setup"].has("loop");
  if (top.has("setup") && top["setup"].has("qps")) {
    const JsonAt qps = top["setup"]["qps"];
    for (const auto& [name, unused] : qps.value().items())
      may_be_one(qps[name], "State", kFirstStates);
  }
  for (const JsonAt& step : top["steps"].entries()) {
    check_loop(step, loops);
    for (const Check& check : kChecks)
      if (step.has(check.verb)) each(step[check.verb], check.run);
  }
}
}  // namespace hca::testbench
