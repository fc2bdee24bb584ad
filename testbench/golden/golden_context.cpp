// SPDX-License-Identifier: Apache-2.0
#include "testbench/golden/golden_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/transport/responder_rules.h"
#include "model/proto/wire/headers.h"
#include "testbench/host/verbs_names.h"
#include "testbench/vectors/fields.h"
#include "testbench/vectors/format.h"

namespace hca::testbench {
using namespace proto;

namespace {
// A step, and what it does to the host or the device.
struct Act {
  std::string_view name;
  std::optional<std::string> (*run)(VectorHost&, ReplayDevice&, const JsonAt&);
};
constexpr std::array kActs{
    Act{"post_send", [](VectorHost& h, ReplayDevice&, const JsonAt& j) { return h.post_send(j); }},
    Act{"post_recv", [](VectorHost& h, ReplayDevice&, const JsonAt& j) { return h.post_recv(j); }},
    Act{"resize_srq",
        [](VectorHost& h, ReplayDevice&, const JsonAt& j) { return h.resize_srq(j); }},
    Act{"post_raw",
        [](VectorHost& h, ReplayDevice&, const JsonAt& j) -> std::optional<std::string> {
          return h.post_raw(j), std::nullopt;
        }},
    Act{"ring",
        [](VectorHost& h, ReplayDevice&, const JsonAt& j) -> std::optional<std::string> {
          return h.ring(j), std::nullopt;
        }},
    Act{"arm",
        [](VectorHost& h, ReplayDevice&, const JsonAt& j) -> std::optional<std::string> {
          return h.arm(j), std::nullopt;
        }},
    Act{"write_memory",
        [](VectorHost& h, ReplayDevice&, const JsonAt& j) -> std::optional<std::string> {
          return h.contents().write(j, h.symbols()), std::nullopt;
        }},
    Act{"unreadable",
        [](VectorHost& h, ReplayDevice&, const JsonAt& j) -> std::optional<std::string> {
          return h.make_unreadable(j), std::nullopt;
        }},
    Act{"advance",
        [](VectorHost&, ReplayDevice& d, const JsonAt& j) -> std::optional<std::string> {
          return d.advance(nanoseconds_of(j)), std::nullopt;
        }},
    Act{"command",
        [](VectorHost& h, ReplayDevice&, const JsonAt& j) -> std::optional<std::string> {
          std::vector<FieldDifference> differences;
          if (auto wrong = h.command(j, differences)) return wrong;
          if (differences.empty()) return std::nullopt;
          const FieldDifference& d = differences.front();
          return fmt::format("{}: expected {}, got {}", d.name(), d.expected, d.got);
        }},
};

// The structures that encode() knows, by their names in the documents.
constexpr std::array<const HeaderInfo*, 14> kStructures{
    &kHeaderInfo<Bth>,   &kHeaderInfo<Reth>,         &kHeaderInfo<AtomicEth>,
    &kHeaderInfo<Aeth>,  &kHeaderInfo<AtomicAckEth>, &kHeaderInfo<Deth>,
    &kHeaderInfo<ImmDt>, &kHeaderInfo<Ieth>,         &kHeaderInfo<Lrh>,
    &kHeaderInfo<Grh>,   &kHeaderInfo<SendWqe>,      &kHeaderInfo<ReceiveWqe>,
    &kHeaderInfo<Sge>,   &kHeaderInfo<Cqe>};
}  // namespace

GoldenContext::GoldenContext(const std::string& setup)
    : setup_(text_of(setup)),
      device_(options_of(setup_.at()), [this](const RequestVerdict& v) { judged_.push_back(v); }),
      host_(setup_.at(), device_),
      ports_(host_.plan().ports) {
  if (setup_.document.contains("loop"))
    setup_.at()["loop"].refuse("joins two queue pairs of the device",
                               "queue pairs whose peers are outside");
}

void GoldenContext::act(const std::string& step) {
  const Text text = text_of(step);
  const JsonAt json = text.at();
  std::string names;
  for (const Act& act : kActs) {
    names += (names.empty() ? "" : ", ") + std::string(act.name);
    if (!json.has(act.name)) continue;
    check_step(json, host_.plan());
    if (const auto wrong = act.run(host_, device_, json[act.name]))
      throw std::runtime_error(fmt::format("{}: {}", act.name, *wrong));
    return;
  }
  json.refuse("has no verb", names);
}

Frame GoldenContext::build(const std::string& packet) {
  const Text text = text_of(packet);
  check_injected(text.at(), host_.plan());
  return build_packet(text.at(), host_.packet_context(host_.qp_of(text.at())));
}

std::vector<FieldDifference> GoldenContext::compare(const std::string& packet,
                                                    std::span<const u8> frame) {
  const Text text = text_of(packet);
  check_sent(text.at(), host_.plan());
  return compare_packet(text.at(), host_.packet_context(host_.qp_of(text.at())), frame);
}

std::vector<u8> GoldenContext::encode(const std::string& structure,
                                      const std::string& fields) const {
  std::string names;
  for (const HeaderInfo* info : kStructures) {
    names += (names.empty() ? "" : ", ") + std::string(info->name);
    if (info->name != structure) continue;
    const Text text = text_of(fields);
    std::vector<u8> bytes(info->bytes);
    for (const auto& [name, unused] : text.document.items()) {
      const FieldInfo* field = find_field(*info, name);
      if (!field) text.at()[name].refuse("is no field of it", names_of_fields(*info));
      set_field(bytes.data(), *field, text.at()[name], host_.symbols());
    }
    return bytes;
  }
  throw std::runtime_error(fmt::format("no structure '{}'; allowed: {}", structure, names));
}

std::string GoldenContext::receive(std::span<const u8> frame, u32 port) {
  if (!port || port > ports_)
    throw std::runtime_error(fmt::format("port {}; allowed: 1 to {}", port, ports_));
  const functional::FunctionalHca& hca = device_.hca();
  judged_.clear();
  std::vector<u8> before(bytes_of<DropCounters>()), after(before);
  proto::encode(hca.drops(port), before.data());
  device_.run();
  device_.inject(frame, port);
  proto::encode(hca.drops(port), after.data());
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const RequestVerdict& v : judged_) {
    all.push_back({{"cause", kRequestCauseNames[std::size_t(v.cause)]}});
    if (!v.statement.empty()) all.back()["statement"] = v.statement;
  }
  if (all.empty())
    for (const FieldInfo& field : kHeaderInfo<DropCounters>)
      if (get_bits(before.data(), field.bit_at, field.bits) !=
          get_bits(after.data(), field.bit_at, field.bits))
        all.push_back({{"dropped", field.name}});
  if (all.empty()) return "{}";
  return all.size() == 1 ? all[0].dump() : all.dump();
}

std::optional<Frame> GoldenContext::sent() {
  for (Frame& frame : device_.take_frames()) sent_.push_back(std::move(frame));
  if (sent_.empty()) return std::nullopt;
  Frame frame = std::move(sent_.front());
  sent_.pop_front();
  return frame;
}

std::optional<std::string> GoldenContext::completion() {
  for (const QueueCompletion& c : host_.poll()) completions_.push_back(c);
  if (completions_.empty()) return std::nullopt;
  const QueueCompletion c = completions_.front();
  completions_.pop_front();
  nlohmann::ordered_json json{{"qp", c.qpn},
                              {"receive", c.is_receive},
                              {"wr_id", c.wc.wr_id},
                              {"status", name_of(c.wc.status)},
                              {"opcode", wc_opcode_name(c.wc.opcode)},
                              {"byte_len", c.wc.byte_len}};
  if (c.wc.with_imm) json["imm"] = c.wc.imm_data;
  if (c.wc.with_invalidate) json["invalidated"] = c.wc.imm_data;
  return json.dump();
}

std::optional<std::string> GoldenContext::event() {
  const auto event = host_.next_async_event();
  if (!event) return std::nullopt;
  const EventRow* row = async_event(event->type);
  return nlohmann::ordered_json{{"type", row ? row->name : "?"}, {"object", event->element}}.dump();
}

u64 GoldenContext::query(const std::string& qp, const std::string& field) {
  const nlohmann::json asked = qp.empty() ? nlohmann::json::object() : nlohmann::json{{"qp", qp}};
  return host_.told(CommandOpcode::QueryQp, host_.qp_of(JsonAt(asked)).peer.qpn, field);
}
u64 GoldenContext::drops(u32 port, const std::string& counter) {
  if (!port || port > ports_)
    throw std::runtime_error(fmt::format("port {}; allowed: 1 to {}", port, ports_));
  return host_.told(CommandOpcode::QueryDrops, port, counter);
}

std::vector<u8> GoldenContext::memory(const std::string& region, u64 at, u32 count) {
  const nlohmann::json name = region;
  const MemoryPlace& place = host_.contents().find(JsonAt(name, "region"));
  if (at > place.bytes || count > place.bytes - at)
    throw std::runtime_error(fmt::format("bytes {} to {} of region {}; allowed: below {}", at,
                                         at + count, region, place.bytes));
  std::vector<u8> bytes(count);
  device_.memory().read(place.physical + at, bytes.data(), count);
  return bytes;
}
}  // namespace hca::testbench
