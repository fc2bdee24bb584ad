// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/proto/wire/framing.h"
#include "testbench/programs/server/turns.h"

namespace hca::attach {
using proto::CommandOpcode;
using proto::CommandStatus;

namespace {
constexpr u32 kEventEntries = 1 << 14;
constexpr u64 kNodeGuidBase = 0x0200'00ff'fe00'0001;  // of a locally administered MAC address
constexpr u32 kFirstNumber = 2;    // of PDs and CQs: one each is of connection management
constexpr u32 kMostAhs = 1 << 16;  // the HCA has them in WQEs: the server counts them

u64 key_of(Kind kind, u32 number) { return u64{u8(kind)} << 32 | number; }
// Windows have numbers among those of regions, and both are named by keys.
Kind numbered_as(Kind kind) { return kind == Kind::Mw ? Kind::Mr : kind; }

// A rate as in ibv_port_attr: lanes and the rate of each.
struct RateRow {
  u64 bits;  // a second
  u32 width, speed;
};
constexpr std::array kRates{
    // clang-format off
    RateRow{ 10'000'000'000, 1,   4}, RateRow{ 25'000'000'000, 1,  32}, RateRow{ 40'000'000'000, 2,   8},
    RateRow{ 50'000'000'000, 1,  64}, RateRow{ 56'000'000'000, 2,  16}, RateRow{100'000'000'000, 2,  32},
    RateRow{200'000'000'000, 2,  64}, RateRow{400'000'000'000, 2, 128},
    // clang-format on
};
// The fastest that is not faster.
const RateRow& rate_row(u64 bits) {
  const auto above = std::find_if(kRates.begin() + 1, kRates.end(),
                                  [&](const RateRow& row) { return row.bits > bits; });
  return *(above - 1);
}

struct EventObjectRow {
  proto::EventObject object;
  Kind kind;
};
constexpr std::array kEventObjects{EventObjectRow{proto::EventObject::Qp, Kind::Qp},
                                   EventObjectRow{proto::EventObject::Cq, Kind::Cq},
                                   EventObjectRow{proto::EventObject::Srq, Kind::Srq}};
}  // namespace

Device::Device(std::string name, unsigned index, testbench::Testbed& testbed,
               const testbench::Scenario& scenario, Reuse reuse)
    : name_(std::move(name)),
      index_(index),
      node_(testbed.node(index)),
      period_(scenario.nodes[index].hca.core.period()) {
  node_.core(1);  // the others are made when they are taken
  node_.memory_target.beyond = &memory_;
  node_.hca.set_host_pages(memory_);
  memory_.picoseconds = [this] { return node_.cpu.self.now() * period_; };
  if (scenario.nodes[index].hca.caches.tables() &&
      node_.verbs.give_context_memory() != testbench::Error::None)
    throw std::runtime_error(name_ + ": SetContextMemory is refused");
  for (unsigned port = 0; port < node_.hca.ports(); ++port)
    set_up_port(port + 1, testbed.port_of({index, port}), scenario);
  async_ = node_.verbs.open_async_events(kEventEntries);
  completions_ = node_.verbs.create_comp_channel(kEventEntries);
  for (const testbench::CompChannel* events : {async_, completions_}) {
    if (!events) throw std::runtime_error(name_ + ": CreateEq is refused");
    node_.memory.watch(events->message, proto::kMessageBytes,
                       [this](u64, u64) { node_.cpu.run(this, node_.hca.domain().now() + 1); });
  }
  describe(scenario);
  const proto::DeviceAttributes& a = info_.attributes;
  cm_ = std::make_unique<CmPort>(
      testbed, index_, ports_[0], *completions_,
      cm::Settings{u8(scenario.verbs.cm_response_timeout), u8(scenario.verbs.cm_retries)}, period_);
  add_user(Kind::Cq, cm_->cqn(), cm_.get());
  node_.cpu.run(this, node_.now() + 1);
  numbers_ = {{Kind::Pd, {kFirstNumber, a.max_pds}},
              {Kind::Cq, {kFirstNumber, a.max_cqs}},
              {Kind::Mr, {1, a.max_regions}},
              {Kind::Qp, {testbench::kFirstUserQpn, a.max_qps, reuse}},
              {Kind::Srq, {1, a.max_srqs}},
              {Kind::XrcDomain, {1, device::ObjectLimits{}.xrc_domains}},
              {Kind::Ah, {1, 1 + kMostAhs}}};
  // Programs see the limits that apply to them.
  proto::DeviceAttributes& told = info_.attributes;
  for (u32* most : {&told.max_regions, &told.max_srqs}) --*most;
  for (u32* most : {&told.max_pds, &told.max_cqs}) *most -= kFirstNumber;
  told.max_qps -= testbench::kFirstUserQpn;
}

// One GID, that of the port's framing, where programs look for it: at index 0, and of RoCE also at
// index 3, which is RoCEv2 with IPv4 where Linux makes the table.
void Device::set_up_port(u32 number, proto::PortAttributes port,
                         const testbench::Scenario& scenario) {
  constexpr u32 kLargestMtu = 4096;
  constexpr std::size_t kIp4 = 0, kIp6 = 1, kRoce = 3;
  const auto framing = proto::Framing(port.framing);
  const proto::Gid gid = port.gids[framing == proto::Framing::RoceV2Ip4 ? kIp4 : kIp6];
  const bool given = scenario.find_given("connection.path_mtu");
  port.mtu = given ? testbench::bytes_of_mtu(scenario.connection.path_mtu) : kLargestMtu;
  port.gids = {};
  port.gids[0] = gid;
  if (!proto::is_native(framing)) port.gids[kRoce] = gid;
  if (node_.verbs.set_port(port, number) != testbench::Error::None)
    throw std::runtime_error(name_ + ": SetPort is refused");
  ports_.push_back(port);
}

void Device::describe(const testbench::Scenario& scenario) {
  const testbench::NodeConfig& node = scenario.nodes[index_];
  info_.node_guid = kNodeGuidBase + index_;
  info_.shared_bytes = SharedMemory::kBytes;
  info_.vendor_id = scenario.verbs.vendor_id;
  info_.vendor_part_id = scenario.verbs.vendor_part_id;
  info_.hw_ver = scenario.verbs.hw_ver;
  info_.needs_grh = !proto::is_native(framing());
  info_.framing = u8(framing());
  for (; info_.ports < ports_.size(); ++info_.ports) {
    const RateRow& rate = rate_row(node.hca.port[info_.ports].link_rate);
    info_.active[info_.ports] = {rate.width, rate.speed};
  }
  info_.pcie_generation = node.pcie.generation;
  info_.pcie_lanes = node.pcie.lanes;
  info_.max_ahs = kMostAhs;
  info_.multicast_members = device::ObjectLimits{}.multicast_members;
  std::string_view(HCA_VERSION).copy(info_.fw_ver.data(), info_.fw_ver.size() - 1);
  info_.attributes = node_.verbs.query_device();
}

CommandStatus Device::execute(CommandOpcode opcode, u32 object, Body& body) {
  const auto command = node_.verbs.begin(opcode, object, std::span<const u8>(body));
  while (!node_.verbs.done(command))
    if (!node_.wait_for_command() && !node_.verbs.done(command))
      throw std::runtime_error(
          fmt::format("{}: the HCA did not execute command {:#x}", name_, unsigned(opcode)));
  node_.memory.read(command.block + proto::kCommandHeaderBytes, body.data(), body.size());
  return node_.verbs.status(command);
}

void Device::ring(u32 offset, std::span<const u8> doorbell, u64 at) {
  constexpr u64 kMostAhead = 10'000'000;  // ps: no program is further ahead of the simulation
  const u64 now = node_.now() * period_;
  const u64 later = std::min(std::max(at, now) - now, kMostAhead);
  node_.mmio_write(offset, doorbell, (later + period_ - 1) / period_);
}

std::optional<u32> Device::take_number(Kind kind) {
  const auto found = numbers_.find(numbered_as(kind));
  if (found == numbers_.end()) return 0;  // such objects have none
  const std::optional<u32> number = found->second.take();
  if (!number || found->first != Kind::Mr) return number;
  return proto::make_key(*number, ++key_byte_);
}

void Device::give_number_back(Kind kind, u32 number) {
  if (const auto found = numbers_.find(numbered_as(kind)); found != numbers_.end())
    found->second.give_back(found->first == Kind::Mr ? proto::key_index(number) : number);
}

// ---- Users of objects
void Device::add_user(Kind kind, u32 number, EventSink* user) {
  users_[key_of(kind, number)].push_back(user);
}
void Device::remove_user(Kind kind, u32 number, EventSink* user) {
  const auto found = users_.find(key_of(kind, number));
  if (found == users_.end()) return;
  std::vector<EventSink*>& all = found->second;
  if (const auto one = std::ranges::find(all, user); one != all.end()) all.erase(one);
  if (all.empty()) users_.erase(found);
}
std::size_t Device::users_of(Kind kind, u32 number) const {
  const auto found = users_.find(key_of(kind, number));
  return found == users_.end() ? 0 : found->second.size();
}
bool Device::is_user(Kind kind, u32 number, const EventSink* who) const {
  const auto found = users_.find(key_of(kind, number));
  return found != users_.end() && std::ranges::find(found->second, who) != found->second.end();
}
// Calls fn(user) once for each, in the order in which they came.
template <class Fn>
void Device::for_each_user(Kind kind, u32 number, const Fn& fn) {
  const auto found = users_.find(key_of(kind, number));
  if (found == users_.end()) return;
  const std::vector<EventSink*>& all = found->second;
  for (auto at = all.begin(); at != all.end(); ++at)
    if (std::find(all.begin(), at, *at) == at) fn(**at);
}

// The first that is free: as few as can be are ticked.
std::optional<unsigned> Device::take_core() {
  for (unsigned core = 1; core <= kMostThreads; ++core) {
    if (!taken_cores_.insert(core).second) continue;
    node_.core(core);
    return core;
  }
  return std::nullopt;
}

// It looks then how long it may wait.
void Device::wake_cm() { node_.cpu.interrupt_at(node_.now()); }

Cycle Device::act(Cycle now) {
  while (const auto cqn = node_.verbs.get_cq_event(*completions_))
    for_each_user(Kind::Cq, *cqn, [&](EventSink& user) { user.completion_event(*cqn); });
  while (const auto event = node_.verbs.get_async_event(*async_)) {
    const proto::EventObject object = proto::async_event(event->type)->object;
    const auto row = std::ranges::find(kEventObjects, object, &EventObjectRow::object);
    if (row == kEventObjects.end())
      for (EventSink* listener : listeners_)
        listener->async_event(event->type, Kind::None, event->element);
    else
      for_each_user(row->kind, event->element, [&](EventSink& user) {
        user.async_event(event->type, row->kind, event->element);
      });
  }
  if (cm_) cm_->act(now);
  return 0;
}
}  // namespace hca::attach
