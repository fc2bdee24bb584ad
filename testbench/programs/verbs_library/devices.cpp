// SPDX-License-Identifier: Apache-2.0
// The list of devices, opening and closing one, and what it says of itself.
#include <endian.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

#include "model/proto/wire/framing.h"
#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/tables.h"

// Macros of the header hide them.
#undef ibv_query_port

namespace hca::verbs_library {
namespace {
// A device of the list: programs compare pointers, so that there is one of each name.
struct Device : ibv_device {
  Device() : ibv_device{} {}
  u64 node_guid = 0;
};
std::mutex g_devices_mutex;
std::deque<Device>& known_devices() {
  static auto& all = *new std::deque<Device>;  // programs may ask at their very end
  return all;
}

std::string server_path() {
  const char* path = std::getenv(attach::kSocketVariable);
  return path ? path : "";
}
attach::Descriptor connect() {
  const std::string path = server_path();
  attach::Descriptor server = attach::connect_to(path);
  if (!server) std::fprintf(stderr, "hca: %s\n", attach::no_server(path, errno).c_str());
  return server;
}

// True: the program may see the device.
bool is_shown(const std::string& name) {
  const char* shown = std::getenv(attach::kDevicesVariable);
  return !shown || !*shown ||
         ("," + std::string(shown) + ",").find("," + name + ",") != std::string::npos;
}

void set_text(char* to, std::size_t room, const std::string& text) {
  to[std::min(text.copy(to, room - 1), room - 1)] = 0;
}

Device& device_named(const std::string& name, u32 index, u64 node_guid) {
  for (Device& device : known_devices())
    if (name == device.name) return device;
  Device& made = known_devices().emplace_back();
  const std::string number = "uverbs" + std::to_string(index);
  made.node_type = IBV_NODE_CA, made.transport_type = IBV_TRANSPORT_IB;
  made.node_guid = node_guid;
  set_text(made.name, sizeof made.name, name);
  set_text(made.dev_name, sizeof made.dev_name, number);
  set_text(made.dev_path, sizeof made.dev_path, "/sys/class/infiniband_verbs/" + number);
  set_text(made.ibdev_path, sizeof made.ibdev_path, "/sys/class/infiniband/" + name);
  return made;
}

bool is_ethernet(const proto::PortAttributes& port) {
  return !proto::is_native(proto::Framing(port.framing));
}

int port_attributes(ibv_context* context, u32 port, proto::PortAttributes& attributes) {
  attach::Reply reply;
  const int error = command(context_of(context), proto::CommandOpcode::QueryPort, port, reply);
  if (!error) attributes = proto::decode<proto::PortAttributes>(reply.body.data());
  return error;
}
bool is_empty(const proto::Gid& gid) {
  return std::ranges::all_of(gid.bytes, [](u8 byte) { return !byte; });
}
// errno's values; ENODATA: the table has nothing there.
int gid_at(ibv_context* context, u32 port, u32 index, ibv_gid_entry& entry) {
  proto::PortAttributes attributes;
  if (const int error = port_attributes(context, port, attributes)) return error;
  if (index >= attributes.gids.size()) return EINVAL;
  entry = {};
  std::memcpy(entry.gid.raw, attributes.gids[index].bytes.data(), sizeof entry.gid.raw);
  entry.gid_index = index, entry.port_num = port;
  const auto framing = proto::Framing(attributes.framing);
  entry.gid_type = proto::is_native(framing)           ? IBV_GID_TYPE_IB
                   : framing == proto::Framing::RoceV1 ? IBV_GID_TYPE_ROCE_V1
                                                       : IBV_GID_TYPE_ROCE_V2;
  return is_empty(attributes.gids[index]) ? ENODATA : 0;
}

constexpr u32 kMaxMessage = 1u << 31;
constexpr u64 kStampKilohertz = 1'000'000;  // completion timestamps are in ns
ibv_device_attr device_attributes(Context& context) {
  const attach::DeviceInfo& info = context.info;
  const proto::DeviceAttributes& a = info.attributes;
  ibv_device_attr all{};
  set_text(all.fw_ver, sizeof all.fw_ver, info.fw_ver.data());
  all.node_guid = all.sys_image_guid = htobe64(info.node_guid);
  all.max_mr_size = ~u64{0};
  all.page_size_cap = ~u64{0xfff};
  all.vendor_id = info.vendor_id, all.vendor_part_id = info.vendor_part_id;
  all.hw_ver = info.hw_ver;
  all.max_qp = int(a.max_qps), all.max_cq = int(a.max_cqs), all.max_pd = int(a.max_pds);
  all.max_mr = int(a.max_regions), all.max_srq = int(a.max_srqs), all.max_ah = int(info.max_ahs);
  all.max_qp_wr = all.max_srq_wr = 1 << a.max_log_work_entries;
  all.max_cqe = 1 << (a.max_log_queue_entries - 1);
  all.max_mw = all.max_mr;
  all.device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_CURR_QP_STATE_MOD |
                         IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_PORT_ACTIVE_EVENT |
                         IBV_DEVICE_MEM_MGT_EXTENSIONS;
  if (a.apm) all.device_cap_flags |= IBV_DEVICE_AUTO_PATH_MIG;
  if (a.xrc) all.device_cap_flags |= IBV_DEVICE_XRC;
  for (const WindowWord& word : kWindows)
    if (a.window_types & word.offered) all.device_cap_flags |= word.capability;
  all.max_sge = all.max_sge_rd = all.max_srq_sge = int(WorkRequest::kMostSges);
  all.max_qp_rd_atom = all.max_qp_init_rd_atom = a.max_rd_atomic;
  all.max_res_rd_atom = int(a.max_rd_atomic) * all.max_qp;
  all.atomic_cap = IBV_ATOMIC_HCA;
  all.max_pkeys = a.pkey_entries;
  all.max_mcast_grp = all.max_mcast_qp_attach = all.max_total_mcast_qp_attach =
      int(info.multicast_members);
  all.local_ca_ack_delay = 15;
  all.phys_port_cnt = u8(info.ports);
  return all;
}
}  // namespace

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input*,
                    ibv_device_attr_ex* attributes, std::size_t bytes) {
  ibv_device_attr_ex all{};
  all.orig_attr = device_attributes(context_of(context));
  all.cq_mod_caps = {u16(~0), u16(~0)};
  all.completion_timestamp_mask = ~u64{0}, all.hca_core_clock = kStampKilohertz;
  // IBV_DEVICE_ATOMIC_WRITE of newer headers.
  constexpr u64 kAtomicWrite = u64{1} << 40;
  if (context_of(context).info.attributes.atomic_write) all.device_cap_flags_ex |= kAtomicWrite;
  all.phys_port_cnt_ex = all.orig_attr.phys_port_cnt;
  std::memset(static_cast<void*>(attributes), 0, bytes);
  std::memcpy(static_cast<void*>(attributes), &all, std::min(bytes, sizeof all));
  return 0;
}

namespace {
// The physical states of a port have no names in the header.
constexpr u8 kPolling = 2, kLinkUp = 5;

ibv_mtu mtu_word(u32 bytes) {
  constexpr u32 kFirst = 256;
  static_assert(IBV_MTU_256 == 1 && IBV_MTU_4096 == 5);
  return ibv_mtu(std::bit_width(bytes / kFirst));
}
}  // namespace

int query_port(ibv_context* context, u8 number, ibv_port_attr* attributes, std::size_t bytes) {
  proto::PortAttributes port;
  const attach::DeviceInfo& info = context_of(context).info;
  if (!has_port(context, number)) return told(EINVAL);
  if (const int error = port_attributes(context, number, port)) return error;
  ibv_port_attr all{};
  const bool down = proto::is_down(port);
  all.state = down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
  all.max_mtu = IBV_MTU_4096;
  all.active_mtu = mtu_word(port.mtu);
  all.gid_tbl_len = int(port.gids.size()), all.pkey_tbl_len = u16(port.pkeys.size());
  all.port_cap_flags = IBV_PORT_CM_SUP;
  all.max_msg_sz = kMaxMessage;
  all.max_vl_num = 1;
  all.bad_pkey_cntr = port.bad_pkeys, all.qkey_viol_cntr = port.bad_qkeys;
  all.active_width = u8(info.active[number - 1].width);
  all.active_speed = u8(info.active[number - 1].speed);
  all.phys_state = down ? kPolling : kLinkUp;
  all.link_layer = is_ethernet(port) ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
  if (info.needs_grh) all.flags = IBV_QPF_GRH_REQUIRED;
  if (!is_ethernet(port)) all.lid = port.lid, all.sm_lid = 1;
  std::memset(attributes, 0, bytes);
  std::memcpy(attributes, &all, std::min(bytes, sizeof all));
  return 0;
}

// The clock that completion timestamps are of.
int query_rt_values(ibv_context* context, ibv_values_ex* values) {
  constexpr u64 kPerSecond = 1'000'000'000;
  if (values->comp_mask & ~u32{IBV_VALUES_MASK_RAW_CLOCK}) return told(EINVAL);
  attach::Request request;
  request.verb = attach::Verb::QueryClock;
  attach::Reply reply;
  if (const int error = ask(context_of(context), request, reply)) return error;
  const u64 now = attach::get<attach::ClockTime>(reply.body).nanoseconds;
  values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  values->raw_clock = {time_t(now / kPerSecond), long(now % kPerSecond)};
  return 0;
}

namespace {
void set_operations(Context& made, ibv_device* device) {
  made.sz = sizeof(verbs_context);
  made.query_port = query_port, made.query_device_ex = query_device_ex;
  made.create_cq_ex = create_cq_ex, made.create_qp_ex = create_qp_ex;
  made.create_srq_ex = create_srq_ex, made.get_srq_num = get_srq_num;
  made.open_xrcd = open_xrcd, made.close_xrcd = close_xrcd, made.open_qp = open_qp;
  made.modify_cq = modify_cq;
  made.alloc_td = alloc_td, made.dealloc_td = dealloc_td;
  made.alloc_parent_domain = alloc_parent_domain;
  made.query_rt_values = query_rt_values;
  ibv_context& context = made.context;
  context.device = device;
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  context.cmd_fd = made.socket.get(), context.async_fd = made.events->descriptor.get();
  context.num_comp_vectors = 1;
  pthread_mutex_init(&context.mutex, nullptr);
  context.ops.poll_cq = poll_cq, context.ops.req_notify_cq = req_notify_cq;
  context.ops.post_send = post_send, context.ops.post_recv = post_recv;
  context.ops.post_srq_recv = post_srq_recv;
  context.ops.alloc_mw = alloc_mw, context.ops.bind_mw = bind_mw;
  context.ops.dealloc_mw = dealloc_mw;
  context.ops._compat_query_port = ibv_query_port;
  context.ops._compat_query_device = ibv_query_device;
}

// errno's values.
int open_at_server(Context& made, const char* name) {
  attach::OpenDevice wanted;
  set_text(wanted.name.data(), wanted.name.size(), name);
  wanted.run = attach::run_of_environment();
  if (hca_time_open && !(wanted.program = hca_time_open(server_path().c_str(), name)))
    return ENODEV;
  made.socket = connect();
  if (!made.socket) return ENODEV;
  const attach::Descriptor memory(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  if (!memory) {
    std::fprintf(stderr, "hca: this program keeps /proc/self/mem to itself: %s\n",
                 std::strerror(errno));
    return EPERM;
  }
  volatile u64 probe = reinterpret_cast<u64>(&probe);
  attach::Request request;
  request.verb = attach::Verb::OpenDevice, request.cookie = probe;
  put(request.body, wanted);
  attach::Reply reply;
  std::vector<attach::Descriptor> opened;
  const int fd = memory.get();
  if (!attach::send_message(made.socket.get(), request, {&fd, 1}) ||
      !attach::receive_message(made.socket.get(), reply, &opened))
    return ENODEV;
  if (reply.error) return reply.error;
  if (opened.size() != attach::kOpened) return EPROTO;
  made.info = attach::get<attach::DeviceInfo>(reply.body);
  void* const at = mmap(nullptr, made.info.shared_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, opened[attach::kSharedMemory].get(), 0);
  if (at == MAP_FAILED) return errno;
  madvise(at, made.info.shared_bytes, MADV_DONTFORK);
  made.shared = static_cast<u8*>(at);
  made.rings.set_end(made.info.shared_bytes);
  made.wake = std::move(opened[attach::kWakeServer]);
  made.events = std::make_shared<EventSource>(std::move(opened[attach::kAsyncEvents]), made.state);
  return 0;
}
}  // namespace
}  // namespace hca::verbs_library

using namespace hca;
using namespace hca::verbs_library;

HCA_VERB ibv_device** ibv_get_device_list(int* count) {
  if (count) *count = 0;
  const attach::Descriptor server = connect();
  if (!server) return fail(ENOSYS);
  attach::Request request;
  request.verb = attach::Verb::ListDevices, request.cookie = attach::run_of_environment();
  attach::Reply reply;
  if (!attach::send_message(server.get(), request) || !attach::receive_message(server.get(), reply))
    return fail(EIO);
  const auto list = attach::get<attach::DeviceList>(reply.body);
  auto** const found = static_cast<ibv_device**>(std::calloc(list.count + 1, sizeof(void*)));
  if (!found) return fail(ENOMEM);
  const std::lock_guard guard(g_devices_mutex);
  int shown = 0;
  for (u32 i = 0; i < list.count; ++i)
    if (is_shown(list.name[i].data()))
      found[shown++] = &device_named(list.name[i].data(), i, list.node_guid[i]);
  if (count) *count = shown;
  return found;
}
HCA_VERB void ibv_free_device_list(ibv_device** list) { std::free(list); }
HCA_VERB const char* ibv_get_device_name(ibv_device* device) { return device->name; }
HCA_VERB int ibv_get_device_index(ibv_device* device) {
  return std::atoi(device->dev_name + std::strlen("uverbs"));
}
HCA_VERB __be64 ibv_get_device_guid(ibv_device* device) {
  return htobe64(static_cast<Device*>(device)->node_guid);
}

HCA_VERB ibv_context* ibv_open_device(ibv_device* device) {
  auto* const made = new Context;
  if (const int error = open_at_server(*made, device->name)) {
    if (made->shared) munmap(made->shared, made->info.shared_bytes);
    delete made;
    return fail(error);
  }
  set_operations(*made, device);
  start_watch(*made);
  tell_unmapping(*made);
  return &made->context;
}
HCA_VERB int ibv_close_device(ibv_context* context) {
  Context& open = context_of(context);
  if (!is_inherited(context)) {  // a child has neither the thread nor the memory
    {
      const std::lock_guard guard(open.state->mutex);
      open.state->closed = true;
    }
    stop_watch(open);
    forget_unmapping(open);
    attach::Request request;
    request.verb = attach::Verb::CloseDevice;
    attach::Reply reply;
    ask(open, request, reply);  // a server that is gone has closed it
    munmap(open.shared, open.info.shared_bytes);
  }
  delete &open;
  return 0;
}

HCA_VERB int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  *attributes = device_attributes(context_of(context));
  return 0;
}
HCA_VERB int ibv_query_port(ibv_context* context, u8 port, _compat_ibv_port_attr* attributes) {
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(attributes),
                    offsetof(ibv_port_attr, port_cap_flags2));
}
HCA_VERB int ibv_query_gid(ibv_context* context, u8 port, int index, ibv_gid* gid) {
  ibv_gid_entry entry{};
  const int error = gid_at(context, port, u32(index), entry);
  if (error && error != ENODATA) return errno = error, -1;
  *gid = entry.gid;
  return 0;
}
HCA_VERB int _ibv_query_gid_ex(ibv_context* context, u32 port, u32 index, ibv_gid_entry* entry,
                               u32 flags, std::size_t bytes) {
  ibv_gid_entry found{};
  if (flags) return told(EOPNOTSUPP);
  if (const int error = gid_at(context, port, index, found)) return told(error);
  std::memcpy(entry, &found, std::min(bytes, sizeof found));
  return 0;
}
HCA_VERB ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries,
                                      std::size_t room, u32 flags, std::size_t bytes) {
  ssize_t count = 0;
  if (flags) return -told(EOPNOTSUPP);
  const u32 ports = context_of(context).info.ports;
  for (u32 i = 0; i < ports * proto::kGidEntries; ++i) {
    ibv_gid_entry found{};
    const int error = gid_at(context, 1 + i / proto::kGidEntries, i % proto::kGidEntries, found);
    if (error == ENODATA) continue;
    if (error) return -told(error);
    if (std::size_t(count) == room) return -told(EINVAL);
    std::memcpy(reinterpret_cast<char*>(entries) + std::size_t(count++) * bytes, &found,
                std::min(bytes, sizeof found));
  }
  return count;
}
// A function of the library's private part, but programs use it: 0 InfiniBand or RoCEv1, 1 RoCEv2.
HCA_VERB int ibv_query_gid_type(ibv_context* context, u8 port, unsigned index, unsigned* type) {
  ibv_gid_entry entry{};
  const int error = gid_at(context, port, index, entry);
  if (error && error != ENODATA) return errno = error, -1;
  *type = entry.gid_type == IBV_GID_TYPE_ROCE_V2;
  return 0;
}
HCA_VERB int ibv_query_pkey(ibv_context* context, u8 port, int index, __be16* pkey) {
  proto::PortAttributes attributes;
  int error = port_attributes(context, port, attributes);
  if (!error && u32(index) >= attributes.pkeys.size()) error = EINVAL;
  if (error) return errno = error, -1;
  *pkey = htobe16(attributes.pkeys[u32(index)]);
  return 0;
}
HCA_VERB int ibv_get_pkey_index(ibv_context* context, u8 port, __be16 pkey) {
  proto::PortAttributes attributes;
  if (const int error = port_attributes(context, port, attributes)) return errno = error, -1;
  const auto found = std::ranges::find(attributes.pkeys, be16toh(pkey));
  if (found == attributes.pkeys.end()) return errno = ENOENT, -1;
  return int(found - attributes.pkeys.begin());
}
// Rings are shared only with the simulation: a child has none of them.
HCA_VERB int ibv_fork_init() { return 0; }
HCA_VERB ibv_fork_status ibv_is_fork_initialized() { return IBV_FORK_UNNEEDED; }
