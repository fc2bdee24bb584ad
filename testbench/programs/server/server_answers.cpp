// SPDX-License-Identifier: Apache-2.0
// The server's answers to requests that name no object.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "testbench/programs/server/server.h"

namespace hca::attach {
namespace {
std::string_view name_in(const std::array<char, kNameBytes>& name) {
  return {name.data(), strnlen(name.data(), name.size())};
}
}  // namespace

// The handler of a request; `given` came with it, `made` is sent with the reply.
struct Server::AnswerRow {
  Verb verb;
  Reply (Server::*answer)(Connection& connection, const Request& request, Descriptors& given,
                          std::vector<int>& made);
};

Reply Server::reply_to(Connection& connection, const Request& request, Descriptors given,
                       std::vector<int>& descriptors, Descriptor& made) {
  constexpr std::array kAnswers{
      AnswerRow{Verb::ListDevices, &Server::list_devices},
      AnswerRow{Verb::RefreshFiles, &Server::refresh_files},
      AnswerRow{Verb::BeginRun, &Server::begin_run},
      AnswerRow{Verb::QueryRun, &Server::query_run},
      AnswerRow{Verb::QueryFaults, &Server::query_faults},
      AnswerRow{Verb::ClearFaults, &Server::clear_faults},
      AnswerRow{Verb::AddFault, &Server::add_fault},
      AnswerRow{Verb::AddFail, &Server::add_fail},
      AnswerRow{Verb::OpenClock, &Server::open_clock},
      AnswerRow{Verb::OpenDevice, &Server::open},
      AnswerRow{Verb::CloseDevice, &Server::close_device},
  };
  const auto row = std::ranges::find(kAnswers, request.verb, &AnswerRow::verb);
  Reply reply;
  try {
    if (row != kAnswers.end())
      reply = (this->*row->answer)(connection, request, given, descriptors);
    else if (request.verb == Verb::Cm)
      reply = answer_cm(connection, request, made);
    else if (connection.session)
      reply = connection.session->handle(request, std::move(given), made);
    else
      reply = error_reply(ENODEV);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hca: %s\n", error.what());
    reply = error_reply(EIO);
  }
  if (made) descriptors.push_back(made.get());
  return reply;
}

void Server::answer(Connection& connection, const Request& request, Descriptors given) {
  Descriptor made;
  std::vector<int> descriptors;
  const Reply reply = reply_to(connection, request, std::move(given), descriptors, made);
  if (!send_message(connection.socket.get(), reply, descriptors)) connection.gone = true;
  if (connection.process) connection.process->resume_waiting();
  if (connection.process && request.opcode == proto::CommandOpcode::ModifyCq)
    connection.process->resume_polling();  // its ring may be another
}

Reply Server::list_devices(Connection&, const Request& request, Descriptors&, std::vector<int>&) {
  count(u32(request.cookie), &RunSteps::lists);
  DeviceList list;
  for (const auto& device : devices_) {
    device->name().copy(list.name[list.count].data(), kNameBytes - 1);
    list.node_guid[list.count++] = device->info().node_guid;
  }
  Reply reply;
  put(reply.body, list);
  return reply;
}

Reply Server::refresh_files(Connection&, const Request& request, Descriptors&, std::vector<int>&) {
  count(u32(request.cookie), &RunSteps::files);
  files_->refresh();
  return {};
}

Reply Server::close_device(Connection& connection, const Request&, Descriptors&,
                           std::vector<int>&) {
  if (!connection.session) return error_reply(ENODEV);
  close(connection);
  return {};
}

Device* Server::device_named(const std::array<char, kNameBytes>& name) const {
  const auto found =
      std::ranges::find_if(devices_, [&](const auto& d) { return d->name() == name_in(name); });
  return found == devices_.end() ? nullptr : found->get();
}

std::optional<std::shared_ptr<Process>> Server::clock_of(u32 program) const {
  if (!program) return std::shared_ptr<Process>();
  const auto found = std::ranges::find_if(connections_, [&](const Connection& c) {
    return c.is_clock && c.process->number() == program;
  });
  return found == connections_.end() ? std::nullopt : std::optional(found->process);
}

Reply Server::open_clock(Connection& connection, const Request& request, Descriptors&,
                         std::vector<int>& made) {
  const auto wanted = get<OpenDevice>(request.body);
  Device* const device = device_named(wanted.name);
  if (wanted.version != kProtocolVersion) return error_reply(EPROTONOSUPPORT);
  if (!device) return error_reply(ENODEV);
  if (connection.session || connection.process) return error_reply(EINVAL);
  connection.process =
      std::make_shared<Process>(++last_program_, *device, nodes_[device->index()].host,
                                connection.socket.get(), [this] { return due(); });
  connection.is_clock = true;
  made = {connection.process->memory_descriptor(), connection.process->wake_descriptor()};
  watch(connection.process->wake_descriptor(), &connection);
  connection.process->set_run(wanted.run);
  if (opened_programs_ < awaited_programs_) ++opened_programs_;
  count(wanted.run, &RunSteps::clocks);
  Reply reply;
  reply.number = last_program_;
  return reply;
}

// Watches the HCA's writes to the memory of a program: one of its threads may wait for them.
void Server::watch_memory(Session& session, const std::shared_ptr<Process>& process) {
  Device& device = session.device();
  const u32 attachment = session.attachment();
  if (process)
    device.memory().watch(attachment,
                          [process, &device, attachment](u64 address, u64 bytes, bool completion) {
                            process->written(device, attachment, address, bytes, completion);
                          });
  else
    device.memory().watch(attachment, [&session](u64, u64, bool) { session.note_written(); });
}

Reply Server::open(Connection& connection, const Request& request, Descriptors& given,
                   std::vector<int>& made) {
  const auto wanted = get<OpenDevice>(request.body);
  Device* const device = device_named(wanted.name);
  const auto clock = clock_of(wanted.program);
  if (wanted.version != kProtocolVersion) return error_reply(EPROTONOSUPPORT);
  if (connection.session || given.size() != 1 || !clock) return error_reply(EINVAL);
  if (!device) return error_reply(ENODEV);
  const std::shared_ptr<Process>& process = *clock;
  auto session = std::make_unique<Session>(
      *device, std::move(given[0]),
      [this](u64 gid_high, u64 gid_low) {
        return cm_host_->mac_of(proto::make_gid(gid_high, gid_low));
      },
      [process, device] {
        if (process) process->event(*device);
      });
  // Its memory is what it says if the address of the cookie holds that address.
  if (!session->has_at(request.cookie, request.cookie)) return error_reply(EPERM);
  if (process) process->add(*session);
  watch_memory(*session, process);
  connection.session = std::move(session);
  connection.process = process;
  watch(connection.session->wake_descriptor(), &connection);
  keep_in_step();
  connection.session->set_failures(fails_);
  count(wanted.run, &RunSteps::devices);
  DeviceInfo info = device->info();
  info.attachment = connection.session->attachment();
  const auto opened = connection.session->descriptors();
  made.assign(opened.begin(), opened.end());
  Reply reply;
  put(reply.body, info);
  return reply;
}
}  // namespace hca::attach
