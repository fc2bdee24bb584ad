// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/session.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "model/proto/transport/multicast.h"
#include "testbench/testbed/kernel_time.h"

namespace hca::attach {
using proto::BarOffset;
using proto::CommandOpcode;
using proto::CommandStatus;

namespace {
constexpr unsigned kKindShift = 24;

// The doorbells that programs may ring, and of what objects: their numbers are in the same place.
struct DoorbellRow {
  BarOffset offset;
  Kind kind;
};
constexpr std::array kDoorbells{DoorbellRow{BarOffset::SendDoorbell, Kind::Qp},
                                DoorbellRow{BarOffset::ReceiveDoorbell, Kind::Qp},
                                DoorbellRow{BarOffset::CqDoorbell, Kind::Cq},
                                DoorbellRow{BarOffset::SharedDoorbell, Kind::Srq}};
u32 number_in(const std::array<u8, 8>& doorbell) {
  return proto::decode<proto::QueueDoorbell>(doorbell.data()).qpn;
}

// True: items arrive for objects of this kind: doorbells, events.
bool has_sink(Kind kind) { return kind == Kind::Qp || kind == Kind::Cq || kind == Kind::Srq; }
// True: the device knows its users.
bool has_users(Kind kind) { return has_sink(kind) || kind == Kind::XrcDomain; }

// The order of destruction: objects before those that they use.
constexpr std::array kEndOrder{Kind::Ah, Kind::Qp, Kind::Srq,     Kind::XrcDomain, Kind::Mw,
                               Kind::Mr, Kind::Cq, Kind::Channel, Kind::Pd};
}  // namespace

Session::Session(Device& device, Descriptor memory, Resolve resolve, Event event)
    : device_(device),
      memory_(std::move(memory)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      resolve_(std::move(resolve)),
      event_(std::move(event)),
      attachment_(device.memory().attach(shared_, memory_.get())) {
  device_.add_listener(this);
}

Session::~Session() {
  device_.remove_listener(this);
  for (const Kind kind : kEndOrder)
    for (auto at = objects_.begin(); at != objects_.end();) {
      Object& object = (at++)->second;
      if (object.kind != kind) continue;
      for (Body& group : object.groups)
        device_.execute(CommandOpcode::DetachMulticast, object.number, group);
      if (const CommandRow* row = destroy_row(kind); row && !has_other_users(object)) {
        const CommandStatus status = end_in_device(row->opcode, object, object.number);
        if (status != CommandStatus::Ok)
          std::fprintf(stderr, "hca: %s: a %s of a program that is gone stays: %s\n",
                       device_.name().c_str(), kKindNames[u8(kind)].data(),
                       proto::name_of(status).data());
      }
      remove(object);
    }
  device_.memory().detach(attachment_);
}

std::array<int, kOpened> Session::descriptors() const {
  return {shared_.descriptor(), wake_.get(), async_.read_end()};
}

bool Session::has_at(u64 address, u64 value) const {
  u64 there = 0;
  return pread(memory_.get(), &there, sizeof there, off_t(address)) == sizeof there &&
         there == value;
}

// ---- Doorbells
bool Session::has_posted() const {
  const SharedControl& control = shared_.control();
  return control.posted.load(std::memory_order_acquire) !=
         control.taken.load(std::memory_order_relaxed);
}

bool Session::take_posted() {
  if (is_behind_) flush_events();
  SharedControl& control = shared_.control();
  u32 taken = control.taken.load(std::memory_order_relaxed);
  const u32 posted = control.posted.load(std::memory_order_acquire);
  if (posted == taken) return false;
  // The program's words are copied before they are examined. More entries than there is room for:
  // the index is garbled, and nothing is taken.
  if (posted - taken <= kPostedWrites)
    for (; taken != posted; ++taken) {
      const PostedWrite write = control.writes[taken % kPostedWrites];
      const auto row = std::ranges::find(kDoorbells, BarOffset(write.offset), &DoorbellRow::offset);
      if (row != kDoorbells.end() && device_.is_user(row->kind, number_in(write.data), this))
        device_.ring(write.offset, write.data, write.at);
    }
  control.taken.store(posted, std::memory_order_release);
  return true;
}

void Session::set_sleeping(bool sleeps) {
  shared_.control().server_sleeps.store(sleeps, std::memory_order_seq_cst);
}
void Session::take_wake() {
  u64 count;
  if (read(wake_.get(), &count, sizeof count) < 0) return;  // it wrote nothing
}

// ---- Events
void Session::completion_event(u32 cqn) {
  for (const auto& [handle, object] : objects_)
    if (object.kind == Kind::Cq && object.number == cqn && !object.named.empty() && object.named[0])
      is_behind_ |= !object.named[0]->events->write(std::array{object.cookie});
  event_();
}

void Session::async_event(proto::EventType type, Kind kind, u32 number) {
  if (kind == Kind::None) is_behind_ |= !async_.write(std::array{u64(type), u64{number}});
  for (const auto& [handle, object] : objects_)
    if (object.kind == kind && object.number == number)
      is_behind_ |= !async_.write(std::array{u64(type), object.cookie});
  event_();
}

// Removes the object's events that the program has not read.
void Session::forget_events(const Object& object) {
  if (!has_sink(object.kind)) return;
  is_behind_ = true;  // those of others come back to it, and may have no room
  async_.remove([&](std::span<const u64> record) {
    return record[1] == object.cookie &&
           !proto::is_unaffiliated(proto::async_event(proto::EventType(record[0]))->object);
  });
  if (object.kind == Kind::Cq && !object.named.empty() && object.named[0])
    object.named[0]->events->remove(
        [&](std::span<const u64> record) { return record[0] == object.cookie; });
}

// If nothing can be written, threads that wait for something else are not woken.
void Session::flush_events() {
  bool any = async_.flush();
  is_behind_ = async_.has_waiting();
  for (const auto& [handle, object] : objects_)
    if (object.events) {
      any |= object.events->flush();
      is_behind_ |= object.events->has_waiting();
    }
  if (any) event_();
}

// ---- For the rows of commands
u64 Session::ring_address(u64 offset, u64 bytes) const {
  return SharedMemory::holds(offset, bytes) ? bus_address(attachment_, kSharedBit | offset) : 0;
}

bool Session::complete_path(u64 dgid_high, u64 dgid_low, u64& dmac, u16& udp_source_port) const {
  if (proto::is_native(device_.framing())) return true;
  if (!udp_source_port) udp_source_port = proto::kFirstUdpSourcePort;
  if (proto::is_multicast(proto::make_gid(dgid_high, dgid_low))) return true;  // the HCA knows it
  const std::optional<u64> found = resolve_(dgid_high, dgid_low);
  if (found) dmac = *found;
  return found.has_value();
}

bool Session::has_gid(u32 port, u32 index) const {
  const auto& ports = device_.ports();
  return port && port <= ports.size() && index < ports[port - 1].gids.size() &&
         ports[port - 1].gids[index].bytes != proto::Gid{}.bytes;
}

u8 Session::path_bits(u32 port) const {
  const auto& ports = device_.ports();
  return port && port <= ports.size() ? u8(proto::path_bits_of(ports[port - 1])) : u8(0);
}

// ---- Objects
Object* Session::find(u32 handle, Kind kind) {
  const auto found = objects_.find(handle);
  return found == objects_.end() || found->second.kind != kind ? nullptr : &found->second;
}

// Nothing may be named where the row has nothing.
bool Session::find_names(const NameRows& rows, const Request& request,
                         std::vector<Object*>& names) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const u32 handle = request.names[i];
    names.push_back(rows[i].kind == Kind::None ? nullptr : find(handle, rows[i].kind));
    const bool may_be_none = rows[i].optional || rows[i].kind == Kind::None;
    if (!names.back() && (handle || !may_be_none)) return false;
  }
  return true;
}

Object& Session::add(Kind kind, u32 number, const Request& request, std::vector<Object*> names) {
  u32 handle;
  do handle = u32{u8(kind)} << kKindShift | (next_handle_++ & ((1 << kKindShift) - 1));
  while (objects_.contains(handle));
  Object& object = objects_[handle];
  object.kind = kind;
  object.handle = handle;
  object.number = number;
  object.cookie = request.cookie;
  object.named = std::move(names);
  for (Object* named : object.named)
    if (named) ++named->uses;
  if (has_users(kind)) device_.add_user(kind, number, this);
  return object;
}

void Session::remove(Object& object) {
  forget_events(object);
  for (Object* named : object.named)
    if (named) --named->uses;
  const bool stays = has_other_users(object);
  if (has_users(object.kind)) device_.remove_user(object.kind, object.number, this);
  if (object.kind == Kind::Qp) failures_.forget(object.number);
  if (object.kind == Kind::XrcDomain && !stays) device_.xrc_domain_files().remove(object.number);
  if (object.number && !stays) device_.give_number_back(object.kind, object.number);
  if (object.stamped) device_.memory().unstamp(attachment_, object.stamped);
  objects_.erase(object.handle);
}

// ---- Commands
Reply Session::create(const CommandRow& row, const Request& request) {
  std::vector<Object*> names;
  if (!find_names(row.names, request, names)) return error_reply(EINVAL);
  if (row.kind == Kind::Cq && !stamps_are_good(request)) return error_reply(EINVAL);
  const std::optional<u32> number = device_.take_number(row.kind);
  if (!number) return error_reply(ENOMEM);
  Reply reply;
  reply.body = request.body;
  reply.error = row.prepare(*this, *number, names, reply.body);
  if (!reply.error) reply.error = errno_of(device_.execute(row.opcode, *number, reply.body));
  if (reply.error) {
    device_.give_number_back(row.kind, *number);
    return reply;
  }
  reply.number = *number;
  Object& made = add(row.kind, *number, request, std::move(names));
  if (row.kind == Kind::Cq) stamp(made, request);
  reply.handle = made.handle;
  return reply;
}

// The key byte of a window changes when it is bound by a work request: of all the right one is
// looked for, `key_hint` first.
CommandStatus Session::end_in_device(CommandOpcode opcode, Object& object, u32 key_hint) {
  constexpr u32 kKeyBytes = 256;
  const bool any_key = object.kind == Kind::Mw;
  u32 number =
      any_key ? proto::make_key(proto::key_index(object.number), u8(key_hint)) : object.number;
  for (u32 tried = 0;;
       ++tried, number = proto::make_key(proto::key_index(number), u8(number + 1))) {
    Body body{};
    const CommandStatus status = device_.execute(opcode, number, body);
    if (status != CommandStatus::BadObject || !any_key || tried == kKeyBytes) return status;
  }
}

Reply Session::destroy(const CommandRow& row, Object& object, u32 key_hint) {
  if (object.uses) return error_reply(EBUSY);
  Reply reply;
  if (!has_other_users(object)) reply.error = errno_of(end_in_device(row.opcode, object, key_hint));
  if (!reply.error) remove(object);
  return reply;
}

Reply Session::renew(const CommandRow& row, Object& object, const Request& request,
                     std::vector<Object*> names) {
  Reply reply;
  reply.body = request.body;
  reply.error = row.prepare(*this, object.number, names, reply.body);
  if (!reply.error) reply.error = errno_of(device_.execute(row.opcode, object.number, reply.body));
  if (reply.error) return reply;
  for (Object* named : names)
    if (named) ++named->uses;
  for (Object* named : object.named)
    if (named) --named->uses;
  object.named = std::move(names);
  return reply;
}

Reply Session::run(const Request& request) {
  const CommandRow* row = command_row(request.opcode);
  if (!row) return error_reply(EOPNOTSUPP);
  if (row->effect == Effect::Create) return create(*row, request);
  const bool of_port = row->effect == Effect::Port;
  Object* object = of_port ? nullptr : find(request.object, row->kind);
  if (!object && !of_port) return error_reply(ENOENT);
  if (row->effect == Effect::Destroy) return destroy(*row, *object, request.names[0]);
  std::vector<Object*> names;
  if (!find_names(row->names, request, names)) return error_reply(EINVAL);
  if (row->effect == Effect::Renew) return renew(*row, *object, request, std::move(names));
  if (row->kind == Kind::Cq && !stamps_are_good(request)) return error_reply(EINVAL);
  const u32 number = of_port ? request.object : object->number;
  Reply reply;
  reply.body = request.body;
  reply.error = row->prepare(*this, number, names, reply.body);
  if (!reply.error) reply.error = errno_of(device_.execute(row->opcode, number, reply.body));
  if (!reply.error && row->opcode == CommandOpcode::ModifyCq &&
      (proto::decode<proto::QueueAttributes>(request.body.data()).mask & proto::kCqRing))
    stamp(*object, request);
  if (!reply.error && row->opcode == CommandOpcode::AttachMulticast)
    object->groups.push_back(request.body);
  if (!reply.error && row->opcode == CommandOpcode::DetachMulticast)
    std::erase(object->groups, request.body);
  if (!reply.error && row->opcode == CommandOpcode::ModifyQp &&
      proto::decode<proto::QpAttributes>(reply.body.data()).state == proto::QpState::Reset)
    failures_.forget(number);
  if (!reply.error && row->opcode == CommandOpcode::BindMw)
    object->number = proto::decode<proto::MwAttributes>(reply.body.data()).key;
  return reply;
}

Reply Session::create_channel(const Request& request, Descriptor& descriptor) {
  auto events = std::make_unique<EventQueue>(1);
  descriptor = Descriptor(fcntl(events->read_end(), F_DUPFD_CLOEXEC, 0));
  if (!descriptor) return error_reply(errno);
  Object& channel = add(Kind::Channel, 0, request, {});
  channel.events = std::move(events);
  Reply reply;
  reply.handle = channel.handle;
  return reply;
}

Reply Session::create_address_handle(const Request& request) {
  constexpr NameRows kNames{NameRow{Kind::Pd}};
  std::vector<Object*> names;
  if (!find_names(kNames, request, names)) return error_reply(EINVAL);
  auto ah = proto::decode<proto::AddressHandle>(request.body.data());
  if (ah.global && !has_gid(request.object, ah.sgid_index)) return error_reply(EINVAL);
  if (!complete_path(ah.dgid_high, ah.dgid_low, ah.dmac, ah.udp_source_port))
    return error_reply(ETIMEDOUT);
  const std::optional<u32> number = device_.take_number(Kind::Ah);
  if (!number) return error_reply(ENOMEM);
  Reply reply;
  proto::encode(ah, reply.body.data());
  reply.handle = add(Kind::Ah, *number, request, std::move(names)).handle;
  return reply;
}

// For objects that exist only at the server.
Reply Session::destroy_plain(const Request& request, Kind kind) {
  Object* object = find(request.object, kind);
  if (!object) return error_reply(ENOENT);
  if (object->uses) return error_reply(EBUSY);
  remove(*object);
  return {};
}

Reply Session::handle(const Request& request, std::vector<Descriptor> given,
                      Descriptor& descriptor) {
  if (const int error = failures_.of(request)) return error_reply(error);
  switch (request.verb) {
    case Verb::CreateChannel:
      return create_channel(request, descriptor);
    case Verb::DestroyChannel:
      return destroy_plain(request, Kind::Channel);
    case Verb::CreateAh:
      return create_address_handle(request);
    case Verb::DestroyAh:
      return destroy_plain(request, Kind::Ah);
    case Verb::QueryClock: {
      Reply reply;
      put(reply.body, ClockTime{testbench::kernel_picoseconds() / 1000});
      return reply;
    }
    case Verb::OpenXrcDomain:
      return open_xrc_domain(request, std::move(given));
    case Verb::OpenQp:
      return open_qp(request);
    case Verb::Command:
      return run(request);
    default:
      return error_reply(EINVAL);
  }
}
}  // namespace hca::attach
