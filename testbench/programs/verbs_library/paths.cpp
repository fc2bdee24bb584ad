// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/verbs_library/paths.h"

#include <endian.h>

#include <optional>

#include "model/proto/transport/alternate_path.h"
#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
namespace {
// A limit of 0: none.
constexpr u32 kKilobits = 1000;  // of a megabit
std::optional<u32> kilobits_of(u8 static_rate) {
  if (ibv_rate(static_rate) == IBV_RATE_MAX) return 0;
  const int mbps = ibv_rate_to_mbps(ibv_rate(static_rate));
  return mbps < 0 ? std::nullopt : std::optional(u32(mbps) * kKilobits);
}

proto::PathAttributes attributes_of(const ibv_ah_attr& path) {
  proto::PathAttributes to;
  to.sl = path.sl, to.dlid = path.dlid, to.path_bits = path.src_path_bits;
  to.rate_limit = kilobits_of(path.static_rate).value_or(0);
  if (!path.is_global) return to;
  const ibv_global_route& grh = path.grh;
  to.sgid_index = grh.sgid_index, to.traffic_class = grh.traffic_class;
  to.hop_limit = grh.hop_limit, to.flow_label = grh.flow_label & 0xf'ffff;
  to.dgid_high = be64toh(grh.dgid.global.subnet_prefix);
  to.dgid_low = be64toh(grh.dgid.global.interface_id);
  return to;
}
ibv_ah_attr path_of(const proto::PathAttributes& from, u8 port) {
  ibv_ah_attr path{};
  path.sl = from.sl, path.dlid = from.dlid, path.port_num = port;
  path.src_path_bits = from.path_bits;
  path.static_rate = u8(mbps_to_ibv_rate(int(from.rate_limit / kKilobits)));
  path.is_global = from.dgid_high || from.dgid_low;
  ibv_global_route& grh = path.grh;
  grh.sgid_index = from.sgid_index, grh.traffic_class = from.traffic_class;
  grh.hop_limit = from.hop_limit, grh.flow_label = from.flow_label;
  grh.dgid.global.subnet_prefix = htobe64(from.dgid_high);
  grh.dgid.global.interface_id = htobe64(from.dgid_low);
  return path;
}
}  // namespace

bool path_is_good(ibv_context* context, const ibv_ah_attr& path, unsigned port) {
  return has_port(context, u8(port)) && path.sl <= kLastServiceLevel &&
         kilobits_of(path.static_rate) && (path.is_global || !context_of(context).info.needs_grh);
}

void path_to_device(const ibv_qp_attr& a, proto::QpAttributes& qp) {
  qp.port = a.ah_attr.port_num;  // whose GID it is: the server looks
  set_primary(qp, attributes_of(a.ah_attr));
}

void alternate_to_device(const ibv_qp_attr& a, proto::QpAttributes& qp) {
  set_alternate(qp, attributes_of(a.alt_ah_attr));
  qp.alt_port = a.alt_port_num, qp.alt_timeout = a.alt_timeout;
  qp.alt_pkey_index = a.alt_pkey_index;
}

void paths_from_device(const proto::QpAttributes& qp, ibv_qp_attr& a) {
  a.ah_attr = path_of(primary_of(qp), qp.port);
  if (!qp.alt_port) return;
  a.alt_ah_attr = path_of(alternate_of(qp), qp.alt_port);
  a.alt_port_num = qp.alt_port, a.alt_timeout = qp.alt_timeout;
  a.alt_pkey_index = qp.alt_pkey_index;
}
}  // namespace hca::verbs_library
