// SPDX-License-Identifier: Apache-2.0
// rdma_establish(3), rdma_init_qp_attr(3), rdma_migrate_id(3), rdma_disconnect(3),
// rdma_create_ep(3), rdma_join_multicast(3).
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "testbench/tests/programs/cm_library/bench.h"

namespace connections {
namespace {
int change(rdma_cm_id* id, ibv_qp* qp, ibv_qp_state state) {
  ibv_qp_attr attributes{};
  int words = 0;
  attributes.qp_state = state;
  const int error = rdma_init_qp_attr(id, &attributes, &words);
  return error ? error : ibv_modify_qp(qp, &attributes, words);
}
ibv_qp* own_queue_pair(rdma_cm_id* id, ibv_cq*& cq) {
  cq = ibv_create_cq(id->verbs, 16, nullptr, nullptr, 0);
  ibv_qp_init_attr attributes = queue_pair();
  attributes.send_cq = attributes.recv_cq = cq;
  return ibv_create_qp(id->pd, &attributes);
}
}  // namespace

// Queue pairs that the program has made and changes by itself.
void check_own_queue_pairs() {
  Bench bench;
  ibv_cq *client_cq, *server_cq;
  ibv_qp* const client = own_queue_pair(bench.id, client_cq);
  checks.equal("to INIT", change(bench.id, client, IBV_QPS_INIT), 0);
  rdma_conn_param all = bench.parameters();
  checks.fails("neither a queue pair nor its number", rdma_connect(bench.id, nullptr), EINVAL);
  all.qp_num = client->qp_num;
  checks.equal("rdma_connect", rdma_connect(bench.id, &all), 0);
  const Seen asked = expect(bench.server, RDMA_CM_EVENT_CONNECT_REQUEST, "a request comes");
  checks.equal("from it", asked.conn.qp_num, client->qp_num);
  ibv_qp* const server = own_queue_pair(asked.id, server_cq);
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
    checks.equal("the server's queue pair", change(asked.id, server, state), 0);
  all.qp_num = server->qp_num;
  checks.equal("rdma_accept", rdma_accept(asked.id, &all), 0);
  const Seen answered = expect(bench.client, RDMA_CM_EVENT_CONNECT_RESPONSE, "it is answered");
  checks.equal("by it", answered.conn.qp_num, server->qp_num);
  for (const ibv_qp_state state : {IBV_QPS_RTR, IBV_QPS_RTS})
    checks.equal("the client's queue pair", change(bench.id, client, state), 0);
  checks.equal("rdma_establish", rdma_establish(bench.id), 0);
  expect(bench.server, RDMA_CM_EVENT_ESTABLISHED, "the server hears of it");
  checks.fails("COMM_EST after that", rdma_notify(asked.id, IBV_EVENT_COMM_EST), EISCONN);
  checks.fails("another event", rdma_notify(asked.id, IBV_EVENT_SQ_DRAINED), EINVAL);
  checks.equal("rdma_disconnect", rdma_disconnect(asked.id), 0);
  expect(bench.client, RDMA_CM_EVENT_DISCONNECTED, "the client hears of the end");
  checks.equal("rdma_disconnect", rdma_disconnect(bench.id), 0);
  expect(bench.server, RDMA_CM_EVENT_DISCONNECTED, "and the server that it has heard");
  for (ibv_qp* const qp : {client, server}) ibv_destroy_qp(qp);
  for (ibv_cq* const cq : {client_cq, server_cq}) ibv_destroy_cq(cq);
  rdma_destroy_id(asked.id);
}

void check_events() {
  Bench bench;
  fcntl(bench.client->fd, F_SETFL, fcntl(bench.client->fd, F_GETFL) | O_NONBLOCK);
  rdma_cm_event* event = nullptr;
  checks.fails("a channel without an event", rdma_get_cm_event(bench.client, &event), EAGAIN);
  fcntl(bench.client->fd, F_SETFL, fcntl(bench.client->fd, F_GETFL) & ~O_NONBLOCK);
  rdma_cm_id* accepted = nullptr;
  bench.connect(bench.id, accepted);

  rdma_event_channel* const other = rdma_create_event_channel();
  checks.equal("rdma_disconnect", rdma_disconnect(accepted), 0);
  pollfd end{bench.client->fd, POLLIN, 0};
  checks.equal("the event is there", poll(&end, 1, 5000), 1);
  checks.equal("rdma_migrate_id", rdma_migrate_id(bench.id, other), 0);
  checks.equal("it is not there any more", poll(&end, 1, 0), 0);
  expect(other, RDMA_CM_EVENT_DISCONNECTED, "but at the other channel");
  checks.holds("which is that of the identifier", bench.id->channel == other);
  checks.equal("rdma_disconnect", rdma_disconnect(bench.id), 0);
  expect(bench.server, RDMA_CM_EVENT_DISCONNECTED, "the server hears that it has ended");
  ibv_qp_attr attributes{};
  ibv_qp_init_attr made{};
  ibv_query_qp(accepted->qp, &attributes, IBV_QP_STATE, &made);
  checks.equal("its queue pair is in error", attributes.qp_state, IBV_QPS_ERR);
  expect(bench.server, RDMA_CM_EVENT_TIMEWAIT_EXIT,
         "and later that nothing is on the way any more");
  rdma_destroy_qp(accepted), rdma_destroy_qp(bench.id);
  rdma_destroy_id(accepted), rdma_destroy_id(bench.id);
  bench.id = nullptr;
  rdma_destroy_event_channel(other);

  rdma_cm_id* const gone = bench.new_client();
  bench.resolve(gone);
  bench.connect(gone, accepted);
  rdma_destroy_qp(gone), rdma_destroy_id(gone);
  expect(bench.server, RDMA_CM_EVENT_DISCONNECTED, "an identifier that goes ends its connection");
  rdma_destroy_qp(accepted), rdma_destroy_id(accepted);
  const pid_t child = fork();
  if (!child) {
    rdma_cm_id* own = nullptr;
    const bool refused = rdma_listen(bench.listener, 1) && errno == EPERM;
    rdma_event_channel* const fresh = rdma_create_event_channel();
    _exit(refused && fresh && !rdma_create_id(fresh, &own, nullptr, RDMA_PS_TCP) ? 0 : 1);
  }
  int ended = -1;
  waitpid(child, &ended, 0);
  checks.equal("a child of fork() has its own, and not its parent's", ended, 0);
  int count = 0;
  ibv_context** const all = rdma_get_devices(&count);
  checks.equal("rdma_get_devices", count, 2);
  checks.holds("their end", all && !all[2]);
  rdma_free_devices(all);
  checks.holds("rdma_event_str", !std::strcmp(rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT),
                                              "RDMA_CM_EVENT_TIMEWAIT_EXIT"));
}

namespace {
void check_unreliable() {
  constexpr const char* kPort = "18516";
  rdma_addrinfo hints{}, *address = nullptr;
  rdma_cm_id* id = nullptr;
  hints.ai_qp_type = IBV_QPT_UC, hints.ai_port_space = RDMA_PS_TCP;
  checks.equal("rdma_getaddrinfo", rdma_getaddrinfo(kServer, kPort, &hints, &address), 0);
  ibv_qp_init_attr attributes = queue_pair();
  Bench bench;
  reinterpret_cast<sockaddr_in*>(address->ai_dst_addr)->sin_port = htons(std::uint16_t(bench.port));
  checks.equal("rdma_create_ep", rdma_create_ep(&id, address, nullptr, &attributes), 0);
  checks.equal("of the service UC", id->qp->qp_type, IBV_QPT_UC);
  rdma_freeaddrinfo(address);
  std::thread unreliable([&] { checks.equal("rdma_connect", rdma_connect(id, nullptr), 0); });
  rdma_cm_id* const accepted =
      expect(bench.server, RDMA_CM_EVENT_CONNECT_REQUEST, "a request comes").id;
  attributes = queue_pair(IBV_QPT_UC);
  checks.equal("it is of UC", accepted->qp_type, IBV_QPT_UC);
  checks.equal("rdma_create_qp", rdma_create_qp(accepted, nullptr, &attributes), 0);
  checks.equal("rdma_accept", rdma_accept(accepted, nullptr), 0);
  unreliable.join();
  expect(bench.server, RDMA_CM_EVENT_ESTABLISHED, "the server is connected");
  rdma_destroy_ep(id);
  expect(bench.server, RDMA_CM_EVENT_DISCONNECTED, "and hears of the end");
  rdma_destroy_ep(accepted);
}
}  // namespace

// Calls that wait, of identifiers with channels of their own.
void check_endpoints() {
  constexpr const char* kPort = "18516";
  constexpr std::size_t kBytes = 64;
  rdma_addrinfo hints{}, *address = nullptr;
  hints.ai_flags = RAI_PASSIVE, hints.ai_port_space = RDMA_PS_TCP;
  checks.equal("rdma_getaddrinfo", rdma_getaddrinfo(kServer, kPort, &hints, &address), 0);
  ibv_qp_init_attr attributes = queue_pair();
  rdma_cm_id* listener = nullptr;
  checks.equal("rdma_create_ep", rdma_create_ep(&listener, address, nullptr, &attributes), 0);
  rdma_freeaddrinfo(address);
  checks.equal("rdma_listen", rdma_listen(listener, 0), 0);
  std::thread server([&] {
    rdma_cm_id* id = nullptr;
    checks.equal("rdma_get_request", rdma_get_request(listener, &id), 0);
    unsigned char buffer[kBytes] = {};
    ibv_mr* const region = rdma_reg_msgs(id, buffer, sizeof buffer);
    checks.equal("rdma_post_recv", rdma_post_recv(id, nullptr, buffer, sizeof buffer, region), 0);
    checks.equal("rdma_accept", rdma_accept(id, nullptr), 0);
    ibv_wc completion{};
    checks.equal("rdma_get_recv_comp", rdma_get_recv_comp(id, &completion), 1);
    checks.equal("what came", buffer[kBytes - 1], pattern(kBytes)[kBytes - 1]);
    rdma_disconnect(id);
    rdma_dereg_mr(region);
    rdma_destroy_ep(id);
  });
  hints.ai_flags = 0;
  checks.equal("rdma_getaddrinfo", rdma_getaddrinfo(kServer, kPort, &hints, &address), 0);
  attributes = queue_pair();
  rdma_cm_id* id = nullptr;
  checks.equal("rdma_create_ep", rdma_create_ep(&id, address, nullptr, &attributes), 0);
  rdma_freeaddrinfo(address);
  auto data = pattern(kBytes);
  ibv_mr* const region = rdma_reg_msgs(id, data.data(), data.size());
  checks.equal("rdma_connect", rdma_connect(id, nullptr), 0);
  checks.equal("rdma_post_send", rdma_post_send(id, nullptr, data.data(), data.size(), region, 0),
               0);
  ibv_wc completion{};
  checks.equal("rdma_get_send_comp", rdma_get_send_comp(id, &completion), 1);
  checks.equal("it is sent", completion.status, IBV_WC_SUCCESS);
  rdma_disconnect(id);
  server.join();
  rdma_dereg_mr(region);
  rdma_destroy_ep(id), rdma_destroy_ep(listener);

  check_unreliable();
  hints = {};
  hints.ai_family = 27;  // AF_IB
  checks.fails("addresses of InfiniBand", rdma_getaddrinfo(kServer, kPort, &hints, &address),
               EOPNOTSUPP);
  checks.fails("a port space of InfiniBand", rdma_create_id(nullptr, &id, nullptr, RDMA_PS_IB),
               EOPNOTSUPP);
}

void check_groups() {
  rdma_event_channel* const channel = rdma_create_event_channel();
  rdma_cm_id* id = nullptr;
  rdma_create_id(channel, &id, nullptr, RDMA_PS_UDP);
  Address group("239.1.2.3", 0), server(kServer, 0), other("239.1.2.4", 0);
  checks.fails("a group of no HCA", rdma_join_multicast(id, group, nullptr), EINVAL);
  checks.equal("rdma_bind_addr", rdma_bind_addr(id, server), 0);
  ibv_qp_init_attr attributes = queue_pair(IBV_QPT_UD);
  checks.equal("rdma_create_qp", rdma_create_qp(id, nullptr, &attributes), 0);
  checks.fails("an address that is of no group", rdma_join_multicast(id, server, nullptr), EINVAL);
  checks.equal("rdma_join_multicast", rdma_join_multicast(id, group, &group), 0);
  const Seen joined = expect(channel, RDMA_CM_EVENT_MULTICAST_JOIN, "it has joined");
  checks.equal("the queue pair of groups", joined.ud.qp_num, 0xffffff);
  checks.equal("its Q_Key", joined.ud.qkey, RDMA_UDP_QKEY);
  checks.holds("what the program gave", joined.ud.private_data == &group);
  const unsigned char* const gid = joined.ud.ah_attr.grh.dgid.raw;
  checks.holds("the group's GID has the address", gid[13] == 1 && gid[14] == 2 && gid[15] == 3);
  checks.fails("another group is not left", rdma_leave_multicast(id, other), EADDRNOTAVAIL);
  checks.equal("rdma_leave_multicast", rdma_leave_multicast(id, group), 0);
  checks.fails("once", rdma_leave_multicast(id, group), EADDRNOTAVAIL);
  rdma_destroy_qp(id), rdma_destroy_id(id);
  rdma_destroy_event_channel(channel);
}
}  // namespace connections
