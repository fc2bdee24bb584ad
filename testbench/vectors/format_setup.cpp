// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/blocks/lib/per_port.h"
#include "testbench/vectors/format.h"
#include "testbench/vectors/format_values.h"
#include "testbench/vectors/host.h"
#include "testbench/vectors/queue_attributes.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr auto kFramingNames = [] {
  std::array<std::string_view, kFramingRows.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kFramingRows[i].name;
  return names;
}();
constexpr std::array kServiceNames{name_of(Service::Rc), name_of(Service::Uc), name_of(Service::Rd),
                                   name_of(Service::Ud), name_of(Service::Xrc)};
constexpr std::array<std::string_view, 2> kSideNames{"initiator", "target"};
// A queue pair of a set-up cannot begin in SQE: an error takes it there.
constexpr std::array<std::string_view, 6> kFirstStates{"Reset", "Init", "RTR",
                                                       "RTS",   "SQD",  "Error"};

void the_queue_state(const JsonAt& json, const SetupPlan*) { check_queue_state(json); }
void a_port_number(const JsonAt& json, const SetupPlan*) { json.number(1, blocks::kMaxPorts); }

constexpr std::array kCqKeys{FormatKey{"entries", a_number<>}, FormatKey{"events", a_truth}};
constexpr std::array kRegionKeys{FormatKey{"bytes", a_number<>},    FormatKey{"access", a_number<>},
                                 FormatKey{"pd", a_name},           FormatKey{"va", a_number<>},
                                 FormatKey{"physical", a_number<>}, FormatKey{"key", a_number<>},
                                 FormatKey{"seed", a_number<>},     FormatKey{"register", a_truth}};
constexpr std::array kWindowKeys{FormatKey{"type", one_of_names<kWindowTypes>, true},
                                 FormatKey{"pd", a_name}, FormatKey{"key", a_number<>}};
constexpr std::array kSrqKeys{FormatKey{"max_wr", a_number<>},  FormatKey{"max_sge", a_number<>},
                              FormatKey{"limit", a_number<>},   FormatKey{"pd", a_name},
                              FormatKey{"port", a_port_number}, FormatKey{"xrcd", a_name},
                              FormatKey{"cq", a_name}};
constexpr std::array kXrcDomainKeys{FormatKey{"pd", a_name}};
// Beside the attributes.
constexpr std::array kEecKeys{FormatKey{"eecn", a_number<>}, FormatKey{"rdd", a_name},
                              FormatKey{"State", one_of_names<kFirstStates>}};
// Beside the attributes.
constexpr std::array kQpKeys{FormatKey{"service", one_of_names<kServiceNames>},
                             FormatKey{"qpn", a_number<>},
                             FormatKey{"pd", a_name},
                             FormatKey{"send_cq", a_name},
                             FormatKey{"recv_cq", a_name},
                             FormatKey{"max_send_wr", a_number<>},
                             FormatKey{"max_recv_wr", a_number<>},
                             FormatKey{"max_send_sge", a_number<>},
                             FormatKey{"max_recv_sge", a_number<>},
                             FormatKey{"max_inline", a_number<>},
                             FormatKey{"signal_all", a_truth},
                             FormatKey{"privileged", a_truth},
                             FormatKey{"blocks_self", a_truth},
                             FormatKey{"srq", a_name},
                             FormatKey{"side", one_of_names<kSideNames>},
                             FormatKey{"xrcd", a_name},
                             FormatKey{"rdd", a_name},
                             FormatKey{"ee", a_name},
                             FormatKey{"State", one_of_names<kFirstStates>},
                             FormatKey{"state", the_queue_state}};
// These say how a ModifyQp changes a state, or give an alternate path.
constexpr u32 kOfCommands = kQpCurState | kQpSqdNotify | kMigrationAttributes;
// Not what only a query has, and Mask.
constexpr u32 kOfSetup = ((u32{1} << kQpMaskNames.size()) - 1) & ~kOfCommands;

bool is_attribute(const FieldInfo& field) {
  return !field.is_reserved && mask_of_field(field.name) & kOfSetup;
}
template <const auto& kKeys>
void with_attributes(const JsonAt& json, const SetupPlan* plan) {
  const HeaderInfo& info = kHeaderInfo<QpAttributes>;
  if (!json.value().is_object()) json.refuse("is no object", "attributes of a queue pair");
  for (const auto& [name, value] : json.value().items()) {
    const FormatKey* const key = find_key(kKeys, name);
    const FieldInfo* const field = find_field(info, name);
    if (key)
      key->rule(json[name], plan);
    else if (!field || !is_attribute(*field))
      json[name].refuse(is_state_key(name) ? "is nothing that software gives: `state` has it"
                        : field ? "is not set by a set-up: only commands and queries have it"
                                : "is no attribute of a queue pair",
                        names_of(kKeys) + ", " + names_of_attributes(kOfSetup & ~kQpState));
  }
}
template <const auto& kKeys>
void an_object(const JsonAt& json, const SetupPlan* plan) {
  check_object(json, kKeys, plan);
}
// {name: object ..}
template <ValueRule kEach>
void named(const JsonAt& json, const SetupPlan* plan) {
  if (!json.value().is_object()) json.refuse("is no object", "names, each with an object");
  must_hold_some(json);
  for (const auto& [name, unused] : json.value().items()) {
    if (!is_name(name))
      json[name].refuse("'" + name + "' is no name", "letters, digits and _, no digit in front");
    kEach(json[name], plan);
  }
}
template <ValueRule kEach>
void a_list(const JsonAt& json, const SetupPlan* plan) {
  const std::vector<JsonAt> entries = json.entries();
  must_hold_some(json);
  for (const JsonAt& entry : entries) kEach(entry, plan);
}
void the_options(const JsonAt& json, const SetupPlan*) {
  if (!json.value().is_object()) json.refuse("is no object", "named options, each with a value");
  must_hold_some(json);
  static const nlohmann::json kNone = nlohmann::json::object();
  nlohmann::json setup = kNone;
  setup["options"] = json.value();
  options_of(JsonAt(setup, "setup"));
}

constexpr std::array kSetupKeys{FormatKey{"framing", one_of_names<kFramingNames>},
                                FormatKey{"pkeys", a_list<a_number<>>},
                                FormatKey{"vlan", a_number<>},
                                FormatKey{"priorities", a_number<>},
                                FormatKey{"ports", a_port_number},
                                FormatKey{"options", the_options},
                                FormatKey{"pds", a_list<a_name>},
                                FormatKey{"xrc_domains", named<an_object<kXrcDomainKeys>>},
                                FormatKey{"rd_domains", a_list<a_name>},
                                FormatKey{"ee_contexts", named<with_attributes<kEecKeys>>},
                                FormatKey{"cqs", named<an_object<kCqKeys>>},
                                FormatKey{"regions", named<an_object<kRegionKeys>>},
                                FormatKey{"windows", named<an_object<kWindowKeys>>},
                                FormatKey{"srqs", named<an_object<kSrqKeys>>},
                                FormatKey{"qps", named<with_attributes<kQpKeys>>},
                                FormatKey{"loop", a_list<a_name>}};
// Keys that only the registration of a region uses.
constexpr std::array<std::string_view, 2> kOfRegistration{"access", "pd"};
}  // namespace

void check_setup(const JsonAt& setup) {
  check_object(setup, kSetupKeys, nullptr);
  if (!setup.has("regions")) return;
  const JsonAt regions = setup["regions"];
  for (const auto& [name, region] : regions.value().items())
    for (const std::string_view key : kOfRegistration)
      if (region.value("register", true) == false && region.contains(key))
        regions[name][key].refuse("conflicts with register: false",
                                  "what a region that is not registered has");
}

void check_attributes(const JsonAt& qp, const QpInitAttr& init, QpState last) {
  const Service service = init.service;
  u32 used = mask_on_the_way(kind_of(service, init.side), last);
  if (service == Service::Ud) used |= kQpPath | kQpDestQpn;
  if (service == Service::Rd) used |= kGivenToRd | kQpDestQpn;
  for_each_attribute(qp, [&](const FieldInfo& field, const JsonAt& value) {
    if (!(mask_of_field(field.name) & used))
      value.refuse(fmt::format("is not given to {} on its way to {}", name_of(service),
                               kQpStateNames[u8(last)]),
                   names_of_attributes(used));
  });
  for (const char* key : {"max_recv_wr", "max_recv_sge"})
    if (qp.has("srq") && qp.has(key))
      qp[key].refuse("conflicts with srq", "max_wr and max_sge of the SRQ");
}

void for_each_attribute(const JsonAt& qp,
                        const std::function<void(const FieldInfo&, const JsonAt&)>& visit) {
  for (const FieldInfo& field : kHeaderInfo<QpAttributes>)
    if (qp.has(field.name) && is_attribute(field)) visit(field, qp[field.name]);
}
}  // namespace hca::testbench
