// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "testbench/vectors/command_bodies.h"
#include "testbench/vectors/queue_attributes.h"

namespace hca::testbench {
using namespace proto;

const VectorQp& VectorHost::qp_of(const JsonAt& json) const {
  if (!json.has("qp")) {
    if (qps_.size() == 1) return qps_.begin()->second;
    json["qp"].refuse("is missing", "a queue pair of the set-up");
  }
  const auto found = qps_.find(json["qp"].text());
  if (found == qps_.end())
    json["qp"].refuse("there is no queue pair '" + json["qp"].text() + "'", "one of the set-up");
  return found->second;
}
const VectorQp* VectorHost::qp_of_peer(u32 peer_qpn) const {
  for (const auto& [name, qp] : qps_)
    if (qp.peer.peer_qpn == peer_qpn) return &qp;
  return nullptr;
}
const VectorQp* VectorHost::qp_of_number(u32 qpn) const {
  for (const auto& [name, qp] : qps_)
    if (qp.peer.qpn == qpn) return &qp;
  return nullptr;
}
PacketContext VectorHost::packet_context(const VectorQp& qp) const {
  return {plan_.symbols, qp.peer,
          [this](const JsonAt& json) { return contents_.bytes_of(json, plan_.symbols); }};
}

void VectorHost::arm(const JsonAt& json) {
  verbs_.req_notify_cq(cq_of(json), json.has("solicited") && json["solicited"].truth());
}

Cq& VectorHost::cq_of(const JsonAt& json) const {
  const std::string name = json.has("cq") ? json["cq"].text() : "cq";
  const auto found = cqs_.find(name);
  if (found == cqs_.end()) json["cq"].refuse("there is no CQ '" + name + "'", "one of cqs");
  return *found->second;
}

// A write to the BAR, exactly as given.
void VectorHost::ring(const JsonAt& json) {
  device_.mmio_write(u32(plan_.symbols.value(json["offset"], ~u32{0})), json["hex"].hex());
}

// ---- Commands
CommandStatus VectorHost::execute(CommandOpcode opcode, u32 object, Block& block) {
  encode(CommandHeader{opcode, CommandStatus::Ok, false, object}, block.data());
  device_.memory().write(block_, block);
  std::array<u8, 8> bell;
  encode(CommandDoorbell{block_}, bell.data());
  device_.mmio_write(u32(BarOffset::CommandDoorbell), bell);
  device_.run();
  device_.memory().read(block_, block.data(), block.size());
  const auto header = decode<CommandHeader>(block.data());
  if (!header.done) throw DeviceStopped("the device stopped and did not execute a command");
  return header.status;
}

void VectorHost::must_execute(CommandOpcode opcode, u32 object, Block& block, const JsonAt& where) {
  if (const CommandStatus status = execute(opcode, object, block); status != CommandStatus::Ok)
    where.refuse(fmt::format("the device refuses it: {}", name_of(status)), "what it takes");
}

std::optional<std::string> VectorHost::command(const JsonAt& json,
                                               std::vector<FieldDifference>& differences) {
  const CommandBody* row = find_command(json["name"].text());
  const u32 object = u32(plan_.symbols.value_or(json, "object", 0, ~u32{0}));
  Block block{};
  const auto each = [&](const char* part, const auto& visit) {
    if (!json.has(part)) return;
    for (const auto& [name, unused] : json[part].value().items()) {
      visit(*find_field(*row->body, name), json[part][name]);
    }
  };
  u8* const body = block.data() + kCommandHeaderBytes;
  const bool modifies =
      row->opcode == CommandOpcode::ModifyQp || row->opcode == CommandOpcode::ModifyEec;
  if (json.has("body") && modifies) {
    u32 mask = 0;
    for (const auto& [name, unused] : json["body"].value().items())
      if (name != "Mask") mask |= mask_of_field(name);
    store_be<4>(body, mask);
  }
  if (json.has("body") && row->opcode == CommandOpcode::SetPort) {  // all else stays
    Block now{};
    if (execute(CommandOpcode::QueryPort, object, now) == CommandStatus::Ok)
      std::copy(now.begin() + kCommandHeaderBytes, now.end(), body);
  }
  each("body",
       [&](const FieldInfo& f, const JsonAt& at) { set_field(body, f, at, plan_.symbols); });
  const CommandStatus status = execute(row->opcode, object, block);
  if (row->opcode == CommandOpcode::ModifyQp && status == CommandStatus::Ok)
    if (const VectorQp* qp = qp_of_number(object)) {
      qp->qp->state = decode<QpAttributes>(body).state;
      if (qp->qp->state == QpState::Reset)
        qp->qp->sq_posted = qp->qp->sq_completed = qp->qp->rq_posted = qp->qp->rq_completed = 0;
    }
  // An EQ that a vector creates anew is its own: the host takes no event from it.
  if (row->opcode == CommandOpcode::DestroyEq && status == CommandStatus::Ok && async_ &&
      async_->eqn == object)
    async_ = nullptr;
  const std::string wanted = json.has("status") ? json["status"].text() : "Ok";
  if (wanted != name_of(status))
    return fmt::format("{}: expected status {}, got {}", row->name, wanted, name_of(status));
  each("answer", [&](const FieldInfo& f, const JsonAt& at) {
    if (auto differs = compare_field(body, *row->body, f, at, plan_.symbols))
      differences.push_back(std::move(*differs));
  });
  return std::nullopt;
}

std::vector<FieldDifference> VectorHost::compare_drops(const JsonAt& json) {
  const HeaderInfo& info = kHeaderInfo<DropCounters>;
  Block block{};
  execute(CommandOpcode::QueryDrops, 1, block);
  static const nlohmann::json kZero = 0;
  std::vector<FieldDifference> all;
  for (const FieldInfo& field : info) {
    const std::string name(field.name);
    const JsonAt expected = json.has(name) ? json[name] : JsonAt(kZero, name);
    if (auto differs =
            compare_field(block.data() + kCommandHeaderBytes, info, field, expected, plan_.symbols))
      all.push_back(std::move(*differs));
  }
  return all;
}

u64 VectorHost::object_of_event(const JsonAt& json) const {
  for (const char* of : {"cq", "srq", "port", "eec"})
    if (json.has(of)) return plan_.symbols.value(json[of]);
  if (json["type"].text() == async_event(EventType::DeviceFatal)->name) return 0;
  return qp_of(json).peer.qpn;
}

// ---- Completions and events
std::vector<QueueCompletion> VectorHost::poll() {
  serve();
  return std::exchange(pending_, {});
}
std::vector<QueueCompletion> VectorHost::poll_all() {
  std::vector<QueueCompletion> all;
  Wc wc;
  for (const auto& [name, cq] : cqs_)
    while (verbs_.poll_cq(*cq, {&wc, 1}))
      all.push_back({wc.qp_num, cq->cqn, is_of_receive(wc.opcode), wc});
  return all;
}
std::optional<AsyncEvent> VectorHost::next_async_event() {
  const auto event = async_ ? verbs_.get_async_event(*async_) : std::nullopt;
  if (!event) return event;
  event_was_late_ = seen_.empty() || seen_.front() != eqe_at(*async_, async_->consumer - 1);
  if (!seen_.empty()) seen_.pop_front();
  return event;
}
VectorHost::Eqe VectorHost::eqe_at(const CompChannel& channel, u32 index) const {
  Eqe eqe;
  device_.memory().read(channel.address + u64{index & (channel.entries() - 1)} * kEqeBytes,
                        eqe.data(), eqe.size());
  return eqe;
}
// As host software that looks after each write of the device.
void VectorHost::see_events() {
  if (!async_) return;
  for (Eqe eqe = eqe_at(*async_, seen_events_);
       phase_of_eqe(kAsyncEq, eqe.data()) == !(seen_events_ >> async_->log_entries & 1);
       eqe = eqe_at(*async_, seen_events_)) {
    seen_.push_back(eqe);
    ++seen_events_;
  }
}
std::optional<u32> VectorHost::next_cq_event() { return verbs_.get_cq_event(*channel_); }

u64 VectorHost::told(CommandOpcode query, u32 object, const std::string& name) {
  const HeaderInfo& info = *find_command(kCommandOpcodes[std::size_t(query) - 1].name)->body;
  const FieldInfo* const field = find_field(info, name);
  if (!field || field->bits > 64)
    throw std::runtime_error(
        fmt::format("no field '{}' of 64 bits; allowed: {}", name, names_of_fields(info)));
  Block block{};
  execute(query, object, block);
  return get_bits(block.data() + kCommandHeaderBytes, field->bit_at, field->bits);
}

std::map<std::string, std::string> VectorHost::query_all() {
  std::map<std::string, std::string> all;
  const auto query = [&](CommandOpcode opcode, u32 object, const std::string& name) {
    Block block{};
    const CommandStatus status = execute(opcode, object, block);
    const HeaderInfo* body = find_command(kCommandOpcodes[std::size_t(opcode) - 1].name)->body;
    std::string text = std::string(name_of(status));
    for (u32 i = 0; body && i < body->bytes; ++i)
      text += fmt::format("{:02x}", block[kCommandHeaderBytes + i]);
    all[name] = text;
  };
  for (const auto& [name, qp] : qps_) {
    query(CommandOpcode::QueryQp, qp.peer.qpn, "QP " + name);
    query(CommandOpcode::QueryQpCreate, qp.peer.qpn, "creation of QP " + name);
  }
  for (const auto& [name, region] : plan_.regions)
    query(CommandOpcode::QueryMr, region.attributes.key, "MR " + name);
  for (const auto& [name, window] : plan_.windows)
    query(CommandOpcode::QueryMw, window.key, "MW " + name);
  for (const auto& [name, srq] : srqs_) query(CommandOpcode::QuerySrq, srq->srqn, "SRQ " + name);
  for (const auto& [name, cq] : cqs_) query(CommandOpcode::QueryCq, cq->cqn, "CQ " + name);
  for (u32 port = 1; port <= plan_.ports; ++port) {
    query(CommandOpcode::QueryPort, port, fmt::format("port {}", port));
    query(CommandOpcode::QueryDrops, port, fmt::format("drops of port {}", port));
    if (!plan_.loops())  // what passes there unseen, and how often, depends on time
      query(CommandOpcode::QueryTransport, port, fmt::format("transport of port {}", port));
  }
  for (const auto& [name, pd] : plan_.pds) query(CommandOpcode::QueryPd, pd, "PD " + name);
  for (const auto& [name, domain] : plan_.xrc_domains)
    query(CommandOpcode::QueryXrcd, domain.number, "XRC domain " + name);
  for (const auto& [name, domain] : plan_.rd_domains)
    query(CommandOpcode::QueryRdd, domain, "RD domain " + name);
  for (const auto& [name, eec] : plan_.ee_contexts)
    query(CommandOpcode::QueryEec, eec.eecn, "EE context " + name);
  return all;
}
}  // namespace hca::testbench
