// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/proto/interface/events.h"
#include "testbench/host/verbs_names.h"
#include "testbench/vectors/command_bodies.h"
#include "testbench/vectors/format_values.h"
#include "testbench/vectors/vector.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr auto kStatuses = [] {
  std::array<std::string_view, kCommandStatuses.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kCommandStatuses[i].name;
  return names;
}();
constexpr u64 kLid = 0xffff, kMaxSl = 15;

// ---- Other steps that act
void check_inject(const JsonAt& json, const SetupPlan* plan) {
  visit_each(json, [&](const JsonAt& packet) { check_injected(packet, *plan); });
}
void a_command(const JsonAt& json, const SetupPlan*) {
  if (!find_command(json.text())) json.refuse("is '" + json.text() + "'", names_of_commands());
}
void a_query(const JsonAt& json, const SetupPlan* plan) {
  a_command(json, plan);
  if (!json.text().starts_with("Query"))
    json.refuse("asks nothing", "a command that begins with Query");
}
void of_structure(const JsonAt&, const SetupPlan*) {}  // the command says of which
constexpr std::array kAnswerKeys{FormatKey{"object", a_number<~u32{0}>},
                                 FormatKey{"answer", of_structure},
                                 FormatKey{"status", one_of_names<kStatuses>}};
constexpr std::array kCommandKeys = joined(
    std::array{FormatKey{"name", a_command, true}, FormatKey{"body", of_structure}}, kAnswerKeys);
constexpr std::array kQueryKeys = joined(std::array{FormatKey{"name", a_query, true}}, kAnswerKeys);

void check_parts(const JsonAt& json, FormatKeys keys, const SetupPlan& plan) {
  check_object(json, keys, &plan);
  const CommandBody& command = *find_command(json["name"].text());
  for (const char* part : {"body", "answer"}) {
    if (!json.has(part)) continue;
    if (!command.body) json[part].refuse("the command has no structure", "none");
    check_fields(json[part], *command.body, plan);
  }
  if (json.has("answer") && json.has("status") && json["status"].text() != "Ok")
    json["answer"].refuse("conflicts with a status that has none", "an answer of status Ok");
}
void check_command(const JsonAt& json, const SetupPlan* plan) {
  check_parts(json, kCommandKeys, *plan);
}

constexpr std::array kRingKeys{FormatKey{"offset", a_number<~u32{0}>, true},
                               FormatKey{"hex", some_hex, true}};
void check_ring(const JsonAt& json, const SetupPlan* plan) { check_object(json, kRingKeys, plan); }
constexpr std::array kArmKeys{FormatKey{"cq", a_cq}, FormatKey{"solicited", a_truth}};
void check_arm(const JsonAt& json, const SetupPlan* plan) { check_object(json, kArmKeys, plan); }

constexpr std::array kPlaceKeys{FormatKey{"region", a_region, true}, FormatKey{"at", a_number<>},
                                FormatKey{"is", some_bytes, true}};
constexpr std::array kUndefinedKeys{
    FormatKey{"region", a_region, true}, FormatKey{"at", a_number<>},
    FormatKey{"bytes", a_number<~u64{0}, 1>, true}, FormatKey{"undefined", only_true, true}};
void check_write_memory(const JsonAt& json, const SetupPlan* plan) {
  check_object(json, kPlaceKeys, plan);
  plan->check_place(json, plan->count_bytes(json["is"]));
}
void check_memory(const JsonAt& json, const SetupPlan* plan) {
  if (!json.has("undefined")) return check_write_memory(json, plan);
  check_object(json, kUndefinedKeys, plan);
  plan->check_place(json, plan->symbols.value(json["bytes"]));
}

constexpr std::array kUnreadableRegion{FormatKey{"region", a_region, true},
                                       FormatKey{"at", a_number<>},
                                       FormatKey{"bytes", a_number<~u64{0}, 1>}};
constexpr std::array kUnreadableSrq{FormatKey{"srq", an_srq, true}};
constexpr std::array kUnreadableQueue{kQp, FormatKey{"queue", one_of_names<kQueueNames>, true}};
void check_unreadable(const JsonAt& json, const SetupPlan* plan) {
  if (json.has("srq")) return check_object(json, kUnreadableSrq, plan);
  if (!json.has("region")) {
    check_object(json, kUnreadableQueue, plan);
    return void(plan->qp_of(json));
  }
  check_object(json, kUnreadableRegion, plan);
  const u64 all = plan->region_of(json["region"]).place.bytes;
  const u64 at = json.has("at") ? plan->symbols.value(json["at"], all - 1) : 0;
  plan->symbols.value_or(json, "bytes", 1, all - at);
}

// A CQ, or the queue of completion events and its message, or that of asynchronous events.
constexpr std::array<std::string_view, 3> kEventMemory{"completion", "message", "asynchronous"};
constexpr std::array kUnwritableKeys{FormatKey{"cq", a_cq},
                                     FormatKey{"events", one_of_names<kEventMemory>}};
constexpr std::array kUnwritableClashes{Clash{"cq", "events", "one of cq and events"}};
void check_unwritable(const JsonAt& json, const SetupPlan* plan) {
  check_object(json, kUnwritableKeys, plan);
  check_clashes(json, kUnwritableClashes);
  must_hold_some(json);
}

void check_held(const JsonAt& json, const SetupPlan* plan) {
  if (json.value() == "all") return;
  if (!json.value().is_array()) json.refuse("is no choice", "\"all\", or a list of places");
  must_hold_some(json);
  std::vector<u64> places;
  for (const JsonAt& place : json.entries()) {
    const u64 number = plan->symbols.value(place);
    if (std::count(places.begin(), places.end(), number))
      place.refuse("occurs twice", "each place once");
    places.push_back(number);
  }
}

// ---- Expectations
void check_sent_packets(const JsonAt& json, const SetupPlan* plan) {
  visit_each(json, [&](const JsonAt& packet) { check_sent(packet, *plan); });
}
void a_wc_opcode(const JsonAt& json, const SetupPlan*) { must_be_one(json, wc_opcode_names()); }
constexpr std::array kCqeKeys{kQp,
                              FormatKey{"cq", a_cq},
                              FormatKey{"wr_id", a_number<>},
                              FormatKey{"status", one_of_names<kWcStatusNames>},
                              FormatKey{"opcode", a_wc_opcode},
                              FormatKey{"byte_len", a_number<~u32{0}>},
                              FormatKey{"imm", a_number<~u32{0}>},
                              FormatKey{"invalidated", a_number<~u32{0}>},
                              FormatKey{"src_qp", a_number<kMulticastQp>},
                              FormatKey{"srq", a_number<kMulticastQp>},
                              FormatKey{"slid", a_number<kLid>},
                              FormatKey{"sl", a_number<kMaxSl>},
                              FormatKey{"pkey_index", a_number<kPkeyEntries - 1>},
                              FormatKey{"grh", a_number<1>}};
constexpr std::array kCqeClashes{Clash{"imm", "invalidated", "one of imm and invalidated"}};
void check_cqe(const JsonAt& json, const SetupPlan* plan) {
  visit_each(json, [&](const JsonAt& cqe) {
    check_object(cqe, kCqeKeys, plan);
    check_clashes(cqe, kCqeClashes);
    plan->qp_of(cqe);
  });
}

constexpr std::array<std::string_view, 6> kEventObjects{
    "qp", "cq", "srq", "port", "", "eec"};  // by EventObject; Device: none
void an_eec(const JsonAt& json, const SetupPlan* plan) {
  one_of(plan->ee_contexts, json.text(), json, "EE context");
}
constexpr std::array kEventKeys{FormatKey{"type", one_of_names<kAsyncEventNames>, true},
                                kQp,
                                FormatKey{"cq", a_cq},
                                kSrq,
                                FormatKey{"port", a_port_of_setup},
                                FormatKey{"eec", an_eec}};
void check_event(const JsonAt& json, const SetupPlan* plan) {
  check_object(json, kEventKeys, plan);
  for (const EventRow& row : kAsyncEvents) {
    if (row.name != json["type"].text()) continue;
    const bool has_object = row.object != EventObject::Device;
    const std::string_view of = has_object ? kEventObjects[std::size_t(row.object)] : "none";
    for (const std::string_view key : kEventObjects)
      if (key != of && json.has(key))
        json[key].refuse(fmt::format("{} is none of it", row.name), of);
    if (row.object == EventObject::Qp)
      plan->qp_of(json);
    else if (has_object)
      json[of];
  }
}
void check_query(const JsonAt& json, const SetupPlan* plan) {
  if (json.has("name")) {
    check_parts(json, kQueryKeys, *plan);
    if (!json.has("answer") && !json.has("status"))
      json.refuse("asks nothing", "an answer, or a status");
    return;
  }
  if (!json.value().is_object()) json.refuse("is no object", "fields of a queue pair, or a query");
  plan->qp_of(json);
  nlohmann::json fields = json.value();
  fields.erase("qp");
  if (fields.empty()) json.refuse("asks nothing", names_of_fields(kHeaderInfo<QpAttributes>));
  check_fields(JsonAt(fields, json.path()), kHeaderInfo<QpAttributes>, *plan);
}
// {}: no packet was dropped.
void check_dropped(const JsonAt& json, const SetupPlan* plan) {
  if (json.value() != nlohmann::json::object())
    check_fields(json, kHeaderInfo<DropCounters>, *plan);
}

// ---- Steps
bool never(const JsonAt&) { return false; }
bool always(const JsonAt&) { return true; }
bool is_refused(const JsonAt& post) { return post.has("error"); }
bool names_bytes(const JsonAt& memory) { return memory.has("is"); }
bool must_be_sent(const JsonAt& packets) {
  bool any = false;
  visit_each(packets, [&](const JsonAt& packet) { any |= !packet.has("may"); });
  return any;
}
struct VerbForm {
  std::string_view name;
  ValueRule rule;
  bool (*expects)(const JsonAt&);  // whether it says what the device must do
  bool needs_loop = false;
};
constexpr std::array kVerbs{
    VerbForm{"post_send", check_post_send, is_refused},
    VerbForm{"post_recv", check_post_recv, is_refused},
    VerbForm{"post_raw", check_post_raw, never},
    VerbForm{"resize_srq", check_resize_srq, is_refused},
    VerbForm{"resize_cq", check_resize_cq, is_refused},
    VerbForm{"inject", check_inject, never},
    VerbForm{"command", check_command, always},  // its status
    VerbForm{"ring", check_ring, never},
    VerbForm{"arm", check_arm, never},
    VerbForm{"write_memory", check_write_memory, never},
    VerbForm{"unreadable", check_unreadable, never},
    VerbForm{"unwritable", check_unwritable, never},
    VerbForm{"agent", check_agent, never},
    VerbForm{"hold", a_truth, never, true},
    VerbForm{"release", check_held, never, true},
    VerbForm{"drop", check_held, never, true},
    VerbForm{"advance", a_time, never},
    VerbForm{"silence", a_time, always},
    VerbForm{"sent", check_sent_packets, must_be_sent},
    VerbForm{"send_cqe", check_cqe, always},
    VerbForm{"recv_cqe", check_cqe, always},
    VerbForm{"event", check_event, always},
    VerbForm{"cq_event", a_cq, always},
    VerbForm{"memory", check_memory, names_bytes},
    VerbForm{"query", check_query, always},
    VerbForm{"driver", check_driver, always},
    VerbForm{"dropped", check_dropped, always},
};
// The one verb of a step.
const VerbForm& verb_of(const JsonAt& step) {
  std::string names;
  const VerbForm* found = nullptr;
  if (!step.value().is_object()) step.refuse("is no object", "one verb, and a note");
  for (const VerbForm& verb : kVerbs) {
    names += (names.empty() ? "" : ", ") + std::string(verb.name);
    if (step.has(verb.name) && !found) found = &verb;
  }
  if (!found) step.refuse("has no verb", names);
  for (const auto& [name, unused] : step.value().items())
    if (name != found->name && name != "note")
      step[name].refuse(fmt::format("conflicts with {}", found->name), "one verb, and a note");
  return *found;
}

void a_statement(const JsonAt& json, const SetupPlan*) {
  const std::string& id = json.text();
  const auto good = [](char c) {
    return std::isalnum(u8(c)) || std::string_view("._/+-").find(c) != std::string_view::npos;
  };
  if (id.empty() || !std::isalnum(u8(id[0])) || !std::all_of(id.begin(), id.end(), good))
    json.refuse("is '" + id + "'", "the id of a statement");
}
void the_statements(const JsonAt& json, const SetupPlan* plan) {
  const std::vector<JsonAt> ids = json.entries();
  if (ids.empty() || ids.size() > kMaxStatements)
    json.refuse(fmt::format("names {} statements", ids.size()),
                fmt::format("1 .. {}", kMaxStatements));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    a_statement(ids[i], plan);
    for (std::size_t before = 0; before < i; ++before)
      if (ids[before].text() == ids[i].text())
        ids[i].refuse("names '" + ids[i].text() + "' again", "each statement once");
  }
}
void the_setup(const JsonAt& json, const SetupPlan*) { check_setup(json); }
void the_steps(const JsonAt& json, const SetupPlan*) {
  json.entries();
  must_hold_some(json);
}
void the_version(const JsonAt& json, const SetupPlan*) { json.text(); }  // load_vector compares it
constexpr std::array kTopKeys{
    FormatKey{"vector", the_version, true}, FormatKey{"for", the_statements, true},
    FormatKey{"says", a_sentence, true},    FormatKey{"setup", the_setup},
    FormatKey{"steps", the_steps, true},    FormatKey{"because", a_sentence, true}};
}  // namespace

void check_step(const JsonAt& step, const SetupPlan& plan) {
  const VerbForm& verb = verb_of(step);
  if (verb.needs_loop && !plan.loops()) step[verb.name].refuse("there is no loop", "setup.loop");
  verb.rule(step[verb.name], &plan);
  if (step.has("note")) some_words(step["note"], &plan);
}

void check_vector(const JsonAt& top) {
  static const nlohmann::json kNoSetup = nlohmann::json::object();
  check_object(top, kTopKeys, nullptr);
  const SetupPlan plan(top.has("setup") ? top["setup"] : JsonAt(kNoSetup, "setup"));
  bool expects = false;
  for (const JsonAt& step : top["steps"].entries()) {
    check_step(step, plan);
    const VerbForm& verb = verb_of(step);
    expects |= verb.expects(step[verb.name]);
  }
  if (!expects)
    top["steps"].refuse("expects nothing", "a packet, completion, event, value, answer or silence");
}
}  // namespace hca::testbench
