// SPDX-License-Identifier: Apache-2.0
// The connection to the server, and the devices.
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "testbench/programs/cm_library/library.h"
#include "testbench/programs/time_library/clock.h"

namespace hca::cm_library {
namespace {
struct Server {
  attach::Descriptor socket;
  pid_t process = getpid();  // whose it is
  std::map<s32, ibv_device*> devices;
  std::map<s32, ibv_context*> contexts;
  std::map<s32, ibv_pd*> domains;
  ibv_device** list = nullptr;
};
// A child of fork() has one of its own: channels and identifiers that it has inherited are its
// parent's.
Server& server() {
  static auto* one = new Server;  // programs may ask at their very end
  if (one->process != getpid()) one = new Server;
  return *one;
}
std::string path() {
  const char* const path = std::getenv(attach::kSocketVariable);
  return path ? path : "";
}

// errno's values.
int open_now(Server& here) {
  if (!here.list) here.list = ibv_get_device_list(nullptr);
  if (!here.list || !here.list[0]) return ENODEV;
  attach::CmOpen wanted;
  for (ibv_device** at = here.list; *at; ++at) {
    const int index = std::atoi((*at)->dev_name + sizeof "uverbs" - 1);
    here.devices[index] = *at;
    wanted.devices |= 1u << index;
  }
  if (hca_time_open && !(wanted.program = hca_time_open(path().c_str(), here.list[0]->name)))
    return ENODEV;
  here.socket = attach::connect_to(path());
  if (!here.socket) return ENODEV;
  const int error = ask_with(CmCall::Open, 0, wanted);
  if (error) here.socket.close();
  return error;
}
}  // namespace

std::recursive_mutex& mutex() {
  static auto& one = *new std::recursive_mutex;
  return one;
}

int fail_for_now() {
  sched_yield();
  return fail(EAGAIN);
}
int refuse(const char* call, const char* what) {
  std::fprintf(stderr, "hca: %s: %s\n", call, what);
  return fail(EOPNOTSUPP);
}

bool open_server() {
  const std::lock_guard guard(mutex());
  if (server().socket) return true;
  const int error = open_now(server());
  if (error) errno = error;
  return !error;
}

int ask(CmCall call, u32 object, attach::Request& request, attach::Reply& reply,
        std::vector<attach::Descriptor>* descriptors) {
  const std::lock_guard guard(mutex());
  request.verb = attach::Verb::Cm;
  request.object = object;
  request.names[0] = u32(call);
  const int socket = server().socket.get();
  if (socket < 0) return EPERM;  // of a child that has opened nothing itself
  if (!attach::send_message(socket, request) ||
      !attach::receive_message(socket, reply, descriptors))
    return EIO;
  return reply.error;
}
int ask(CmCall call, u32 object, u32 second, u32 third) {
  attach::Request request;
  request.names[1] = second;
  request.names[2] = third;
  attach::Reply reply;
  return ask(call, object, request, reply);
}

std::vector<s32> devices() {
  std::vector<s32> all;
  for (const auto& [index, device] : server().devices) all.push_back(index);
  return all;
}
ibv_context* context_of(s32 index) {
  const std::lock_guard guard(mutex());
  const auto device = server().devices.find(index);
  if (device == server().devices.end()) {
    errno = ENODEV;
    return nullptr;
  }
  ibv_context*& context = server().contexts[index];
  if (!context) context = ibv_open_device(device->second);
  return context;
}
ibv_pd* domain_of(s32 index) {
  const std::lock_guard guard(mutex());
  ibv_context* const context = context_of(index);
  if (!context) return nullptr;
  ibv_pd*& domain = server().domains[index];
  if (!domain) domain = ibv_alloc_pd(context);
  return domain;
}
}  // namespace hca::cm_library

using namespace hca::cm_library;

HCA_CM ibv_context** rdma_get_devices(int* count) {
  if (count) *count = 0;
  if (!open_server()) return nullptr;
  std::vector<ibv_context*> open;
  for (const hca::s32 device : devices())
    if (ibv_context* const context = context_of(device)) open.push_back(context);
  auto** const all = static_cast<ibv_context**>(std::calloc(open.size() + 1, sizeof(void*)));
  if (!all) {
    errno = ENOMEM;
    return nullptr;
  }
  std::copy(open.begin(), open.end(), all);
  if (count) *count = int(open.size());
  return all;
}
HCA_CM void rdma_free_devices(ibv_context** list) { std::free(list); }
