// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/programs/cm_library/bench.h"

namespace connections {
Checks checks;

Seen next(rdma_event_channel* channel) {
  Seen seen;
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel, &event)) {
    checks.equal("rdma_get_cm_event: errno", errno, 0);
    return seen;
  }
  seen.type = event->event, seen.status = event->status;
  seen.id = event->id, seen.listener = event->listen_id;
  const bool datagram = event->id->ps == RDMA_PS_UDP;
  if (datagram)
    seen.ud = event->param.ud;
  else
    seen.conn = event->param.conn;
  const auto* const data =
      static_cast<const unsigned char*>(datagram ? seen.ud.private_data : seen.conn.private_data);
  const unsigned bytes = datagram ? seen.ud.private_data_len : seen.conn.private_data_len;
  if (data && bytes) seen.data.assign(data, data + bytes);
  rdma_ack_cm_event(event);
  return seen;
}
Seen expect(rdma_event_channel* channel, rdma_cm_event_type type, const char* what) {
  Seen seen = next(channel);
  if (seen.type != type)
    std::printf("%s: %s, status %d\n", what, rdma_event_str(seen.type), seen.status);
  checks.equal(what, seen.type, type);
  return seen;
}

ibv_qp_init_attr queue_pair(ibv_qp_type type) {
  ibv_qp_init_attr attributes{};
  attributes.cap = {8, 8, 1, 1, 0};
  attributes.qp_type = type, attributes.sq_sig_all = 1;
  return attributes;
}
std::vector<unsigned char> pattern(std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>(i * 7 + 1);
  return data;
}

Bench::Bench(rdma_port_space of, int backlog)
    : server(rdma_create_event_channel()), client(rdma_create_event_channel()), space(of) {
  checks.equal("rdma_create_id", rdma_create_id(server, &listener, this, space), 0);
  Address any(kServer, 0);
  checks.equal("rdma_bind_addr", rdma_bind_addr(listener, any), 0);
  checks.equal("rdma_listen", rdma_listen(listener, backlog), 0);
  port = ntohs(rdma_get_src_port(listener));
  id = new_client();
  resolve(id);
}
Bench::~Bench() {
  if (id) rdma_destroy_id(id);
  if (listener) rdma_destroy_id(listener);
  rdma_destroy_event_channel(server);
  rdma_destroy_event_channel(client);
}
rdma_cm_id* Bench::new_client() {
  rdma_cm_id* made = nullptr;
  checks.equal("rdma_create_id", rdma_create_id(client, &made, this, space), 0);
  return made;
}
void Bench::resolve(rdma_cm_id* of, const char* ip) {
  Address from(kClient, 0), to(ip, port);
  checks.equal("rdma_resolve_addr", rdma_resolve_addr(of, from, to, 1000), 0);
  expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, "an address is resolved");
  checks.equal("rdma_resolve_route", rdma_resolve_route(of, 1000), 0);
  expect(client, RDMA_CM_EVENT_ROUTE_RESOLVED, "a route is resolved");
}
rdma_conn_param Bench::parameters(const std::vector<unsigned char>& data) const {
  rdma_conn_param all{};
  all.private_data = data.data(), all.private_data_len = static_cast<std::uint8_t>(data.size());
  all.responder_resources = 3, all.initiator_depth = 5, all.retry_count = 7;
  all.rnr_retry_count = 6;
  return all;
}
void Bench::connect(rdma_cm_id* of, rdma_cm_id*& accepted) {
  ibv_qp_init_attr attributes = queue_pair();
  checks.equal("rdma_create_qp", rdma_create_qp(of, nullptr, &attributes), 0);
  rdma_conn_param all = parameters();
  checks.equal("rdma_connect", rdma_connect(of, &all), 0);
  accepted = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST, "a request comes").id;
  attributes = queue_pair();
  checks.equal("rdma_create_qp", rdma_create_qp(accepted, nullptr, &attributes), 0);
  checks.equal("rdma_accept", rdma_accept(accepted, nullptr), 0);
  expect(client, RDMA_CM_EVENT_ESTABLISHED, "the client is connected");
  expect(server, RDMA_CM_EVENT_ESTABLISHED, "the server is connected");
}
}  // namespace connections
