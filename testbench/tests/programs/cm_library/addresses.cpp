// SPDX-License-Identifier: Apache-2.0
// rdma_bind_addr(3), rdma_listen(3), rdma_resolve_addr(3), rdma_set_option(3).
#include "testbench/tests/programs/cm_library/bench.h"

namespace connections {
namespace {
constexpr int kPort = 18515;

std::string ip_of(const sockaddr* address) {
  char text[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  return text;
}
}  // namespace

void check_addresses() {
  rdma_event_channel* const channel = rdma_create_event_channel();
  rdma_cm_id *first = nullptr, *second = nullptr;
  rdma_create_id(channel, &first, nullptr, RDMA_PS_TCP);
  rdma_create_id(channel, &second, nullptr, RDMA_PS_TCP);
  Address server(kServer, kPort), client(kClient, kPort), nobody("10.9.9.9", kPort),
      any("0.0.0.0", kPort);
  checks.fails("an address of nobody", rdma_bind_addr(first, nobody), EADDRNOTAVAIL);
  checks.equal("an address of an HCA", rdma_bind_addr(first, server), 0);
  checks.holds("it is of that HCA",
               first->verbs && !std::strcmp(first->verbs->device->name, "hca0"));
  checks.equal("its port", first->port_num, 1);
  checks.fails("a second address", rdma_bind_addr(first, client), EINVAL);
  checks.fails("a port that is taken", rdma_bind_addr(second, server), EADDRINUSE);
  checks.fails("the same of all HCAs", rdma_bind_addr(second, any), EADDRINUSE);
  checks.equal("the same port of another HCA", rdma_bind_addr(second, client), 0);
  checks.fails("a route without an address", rdma_resolve_route(first, 100), EINVAL);
  checks.fails("nobody's address", rdma_resolve_addr(first, nullptr, nobody, 100), ENETUNREACH);
  rdma_conn_param none{};
  checks.fails("a connection without a route", rdma_connect(first, &none), EINVAL);
  checks.equal("rdma_listen", rdma_listen(first, 1), 0);
  checks.fails("who listens does not resolve", rdma_resolve_addr(first, nullptr, client, 100),
               EINVAL);
  rdma_destroy_id(first), rdma_destroy_id(second);

  rdma_create_id(channel, &first, nullptr, RDMA_PS_TCP);
  checks.equal("it is free again, on all HCAs", rdma_bind_addr(first, any), 0);
  checks.holds("that is of no HCA", !first->verbs);
  checks.equal("rdma_listen", rdma_listen(first, 1), 0);
  rdma_destroy_id(first);

  rdma_create_id(channel, &first, nullptr, RDMA_PS_TCP);
  checks.equal("who is not bound listens at a port of its own", rdma_listen(first, 0), 0);
  checks.holds("above 32767", ntohs(rdma_get_src_port(first)) > 32767);
  rdma_destroy_id(first);
  rdma_destroy_event_channel(channel);

  Bench bench;
  checks.equal("the port of the peer", ntohs(rdma_get_dst_port(bench.id)), bench.port);
  checks.holds("its own address", ip_of(rdma_get_local_addr(bench.id)) == kClient);
  checks.holds("the peer's", ip_of(rdma_get_peer_addr(bench.id)) == kServer);
  rdma_cm_id* accepted = nullptr;
  bench.connect(bench.id, accepted);
  checks.holds("the server's own", ip_of(rdma_get_local_addr(accepted)) == kServer);
  checks.holds("the client's", ip_of(rdma_get_peer_addr(accepted)) == kClient);
  checks.equal("the client's port", rdma_get_dst_port(accepted), rdma_get_src_port(bench.id));
  rdma_destroy_qp(accepted), rdma_destroy_qp(bench.id);
  rdma_destroy_id(accepted);
}

void check_options() {
  rdma_event_channel* const channel = rdma_create_event_channel();
  rdma_cm_id *first = nullptr, *second = nullptr;
  rdma_create_id(channel, &first, nullptr, RDMA_PS_TCP);
  rdma_create_id(channel, &second, nullptr, RDMA_PS_TCP);
  int yes = 1;
  std::uint8_t byte = 0x28;
  for (rdma_cm_id* id : {first, second})
    checks.equal("an address may be used again",
                 rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof yes),
                 0);
  Address server(kServer, kPort);
  checks.equal("by the first", rdma_bind_addr(first, server), 0);
  checks.equal("and the second", rdma_bind_addr(second, server), 0);
  checks.equal("the first listens", rdma_listen(first, 0), 0);
  checks.fails("the second cannot", rdma_listen(second, 0), EADDRINUSE);
  checks.equal("TOS", rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &byte, 1), 0);
  checks.fails("TOS of four bytes",
               rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &yes, 4), EINVAL);
  byte = 32;
  checks.fails("a timeout of 32",
               rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1),
               EINVAL);
  checks.fails("an unknown option", rdma_set_option(first, RDMA_OPTION_ID, 77, &byte, 1), ENOSYS);
  checks.fails("an option of InfiniBand",
               rdma_set_option(first, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &byte, 1), EOPNOTSUPP);
  rdma_destroy_id(first), rdma_destroy_id(second);
  rdma_destroy_event_channel(channel);

  Bench bench;
  byte = 17;
  rdma_cm_id* const id = bench.new_client();
  checks.equal("a timeout",
               rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), 0);
  bench.resolve(id);
  rdma_cm_id* accepted = nullptr;
  bench.connect(id, accepted);
  ibv_qp_attr attributes{};
  ibv_qp_init_attr made{};
  ibv_query_qp(id->qp, &attributes, IBV_QP_TIMEOUT, &made);
  checks.equal("is that of the queue pair", attributes.timeout, 17);
  rdma_destroy_qp(accepted), rdma_destroy_qp(id);
  rdma_destroy_id(accepted), rdma_destroy_id(id);
}
}  // namespace connections
