// SPDX-License-Identifier: Apache-2.0
// rdma_connect(3), rdma_accept(3), rdma_reject(3): what goes over, and how much.
#include "testbench/tests/programs/cm_library/bench.h"

namespace connections {
namespace {
// The first bytes are these, the others are 0.
bool begins_with(const std::vector<unsigned char>& data, const std::vector<unsigned char>& wanted) {
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data[i] != (i < wanted.size() ? wanted[i] : 0)) return false;
  return data.size() >= wanted.size();
}
}  // namespace

void check_private_data() {
  Bench bench;
  ibv_qp_init_attr attributes = queue_pair();
  rdma_create_qp(bench.id, nullptr, &attributes);
  // 92 bytes of a REQ, of which 36 are addresses.
  for (const std::size_t bytes : {57, 200, 255}) {
    rdma_conn_param all = bench.parameters(pattern(bytes));
    const auto data = pattern(bytes);
    all.private_data = data.data();
    checks.fails(std::to_string(bytes) + " bytes with a request", rdma_connect(bench.id, &all),
                 EINVAL);
  }
  const auto request = pattern(56), answer = pattern(196);
  rdma_conn_param all = bench.parameters(request);
  all.responder_resources = 200;
  checks.fails("more responder resources than the device has", rdma_connect(bench.id, &all),
               EINVAL);
  all.responder_resources = 3;
  checks.equal("56 bytes with a request", rdma_connect(bench.id, &all), 0);
  checks.fails("a second request", rdma_connect(bench.id, &all), EINVAL);
  const Seen asked = expect(bench.server, RDMA_CM_EVENT_CONNECT_REQUEST, "the request comes");
  checks.equal("of the listener", asked.listener == bench.listener, 1);
  checks.equal("all that there is room for", asked.data.size(), 56);
  checks.holds("as they were", begins_with(asked.data, request));
  checks.equal("the peer's depth is what is asked for", asked.conn.responder_resources, 5);
  checks.equal("its resources are what may be", asked.conn.initiator_depth, 3);
  checks.equal("retry_count", asked.conn.retry_count, 7);
  checks.equal("rnr_retry_count", asked.conn.rnr_retry_count, 6);
  checks.equal("qp_num", asked.conn.qp_num, bench.id->qp->qp_num);
  attributes = queue_pair();
  rdma_create_qp(asked.id, nullptr, &attributes);
  rdma_conn_param reply = bench.parameters(answer);
  const auto more = pattern(197);
  reply.private_data = more.data(), reply.private_data_len = 197;
  checks.fails("197 bytes with an answer", rdma_accept(asked.id, &reply), EINVAL);
  reply = bench.parameters(answer);
  reply.responder_resources = 4, reply.initiator_depth = 2;
  checks.equal("196 bytes with an answer", rdma_accept(asked.id, &reply), 0);
  const Seen answered = expect(bench.client, RDMA_CM_EVENT_ESTABLISHED, "the answer comes");
  checks.holds("with them", begins_with(answered.data, answer) && answered.data.size() == 196);
  checks.equal("and what the peer can do", answered.conn.initiator_depth, 4);
  expect(bench.server, RDMA_CM_EVENT_ESTABLISHED, "and the RTU");
  ibv_qp_attr client{}, server{};
  ibv_qp_init_attr made{};
  ibv_query_qp(bench.id->qp, &client, IBV_QP_STATE, &made);
  ibv_query_qp(asked.id->qp, &server, IBV_QP_STATE, &made);
  checks.equal("the client can send", client.qp_state, IBV_QPS_RTS);
  checks.equal("the server too", server.qp_state, IBV_QPS_RTS);
  checks.equal("READs of the client", client.max_rd_atomic, 4);
  checks.equal("those of the server", server.max_rd_atomic, 2);
  checks.equal("that the client answers", client.max_dest_rd_atomic, 2);
  checks.equal("the client's PSN", client.sq_psn, server.rq_psn);
  checks.equal("the server's", server.sq_psn, client.rq_psn);
  checks.equal("rnr_retry of the server", server.rnr_retry, 6);
  rdma_destroy_qp(asked.id), rdma_destroy_qp(bench.id);
  rdma_destroy_id(asked.id);
}

void check_refusals() {
  Bench bench;
  const auto why = pattern(148);
  rdma_conn_param all = bench.parameters();
  checks.equal("rdma_connect", rdma_connect(bench.id, &all), 0);
  Seen asked = expect(bench.server, RDMA_CM_EVENT_CONNECT_REQUEST, "a request comes");
  const auto more = pattern(149);
  checks.fails("149 bytes with a refusal", rdma_reject(asked.id, more.data(), 149), EINVAL);
  checks.equal("148 bytes with a refusal", rdma_reject(asked.id, why.data(), 148), 0);
  checks.fails("after it nothing is accepted", rdma_accept(asked.id, &all), EINVAL);
  Seen refused = expect(bench.client, RDMA_CM_EVENT_REJECTED, "it is refused");
  checks.equal("by the program", refused.status, 28);
  checks.holds("with its bytes", begins_with(refused.data, why) && refused.data.size() == 148);
  rdma_destroy_id(asked.id);

  rdma_cm_id* const late = bench.new_client();
  bench.resolve(late);
  rdma_destroy_id(bench.listener);
  bench.listener = nullptr;
  checks.equal("rdma_connect", rdma_connect(late, &all), 0);
  refused = expect(bench.client, RDMA_CM_EVENT_REJECTED, "nobody listens");
  checks.equal("says the HCA", refused.status, 8);
  rdma_destroy_id(late);

  Bench waiting(RDMA_PS_TCP, 1);
  rdma_cm_id* const second = waiting.new_client();
  waiting.resolve(second);
  checks.equal("rdma_connect", rdma_connect(waiting.id, &all), 0);
  checks.equal("rdma_connect", rdma_connect(second, &all), 0);
  refused = expect(waiting.client, RDMA_CM_EVENT_REJECTED, "a second request has no room");
  checks.holds("it is the second", refused.id == second);
  checks.equal("for that reason", refused.status, 3);
  rdma_destroy_id(waiting.listener);
  waiting.listener = nullptr;
  refused =
      expect(waiting.client, RDMA_CM_EVENT_REJECTED, "a listener that goes refuses the first");
  checks.equal("as a program does", refused.status, 28);
  rdma_destroy_id(second);
}

void check_datagrams() {
  Bench bench(RDMA_PS_UDP);
  ibv_qp_init_attr attributes = queue_pair(IBV_QPT_UD);
  checks.equal("rdma_create_qp", rdma_create_qp(bench.id, nullptr, &attributes), 0);
  checks.equal("it can send", bench.id->qp->state, IBV_QPS_RTS);
  const auto request = pattern(180), answer = pattern(136);
  rdma_conn_param all{};
  const auto more = pattern(196);
  all.private_data = more.data(), all.private_data_len = 181;
  checks.fails("181 bytes with a request", rdma_connect(bench.id, &all), EINVAL);
  all.private_data = request.data(), all.private_data_len = 180;
  checks.equal("180 bytes with a request", rdma_connect(bench.id, &all), 0);
  const Seen asked = expect(bench.server, RDMA_CM_EVENT_CONNECT_REQUEST, "a request comes");
  checks.holds("with them", begins_with(asked.data, request) && asked.data.size() == 180);
  attributes = queue_pair(IBV_QPT_UD);
  rdma_create_qp(asked.id, nullptr, &attributes);
  all.private_data = more.data(), all.private_data_len = 137;
  checks.fails("137 bytes with an answer", rdma_accept(asked.id, &all), EINVAL);
  all.private_data = answer.data(), all.private_data_len = 136;
  checks.equal("136 bytes with an answer", rdma_accept(asked.id, &all), 0);
  const Seen answered = expect(bench.client, RDMA_CM_EVENT_ESTABLISHED, "the answer comes");
  checks.holds("with them", begins_with(answered.data, answer) && answered.data.size() == 136);
  checks.equal("and a queue pair", answered.ud.qp_num, asked.id->qp->qp_num);
  checks.equal("and its Q_Key", answered.ud.qkey, RDMA_UDP_QKEY);
  ibv_ah_attr path = answered.ud.ah_attr;
  ibv_ah* const ah = ibv_create_ah(bench.id->pd, &path);
  checks.holds("and a path", ah != nullptr);
  if (ah) ibv_destroy_ah(ah);

  rdma_cm_id* const second = bench.new_client();
  bench.resolve(second);
  checks.equal("rdma_connect", rdma_connect(second, nullptr), 0);
  const Seen other = expect(bench.server, RDMA_CM_EVENT_CONNECT_REQUEST, "another comes");
  checks.equal("rdma_reject", rdma_reject(other.id, nullptr, 0), 0);
  const Seen refused = expect(bench.client, RDMA_CM_EVENT_UNREACHABLE, "it is refused");
  checks.equal("by the program", refused.status, 2);
  rdma_destroy_id(other.id), rdma_destroy_id(second);
  rdma_destroy_qp(asked.id), rdma_destroy_qp(bench.id);
  rdma_destroy_id(asked.id);
}
}  // namespace connections
