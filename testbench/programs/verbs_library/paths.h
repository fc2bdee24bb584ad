// SPDX-License-Identifier: Apache-2.0
// The primary and the alternate path of a queue pair, to the device and back.
#pragma once
#include <infiniband/verbs.h>

#include "model/proto/interface/qp_attributes.h"

namespace hca::verbs_library {
// Of a port of the device, with a service level and a rate that exist, and with the GRH that the
// link layer needs.
bool path_is_good(ibv_context* context, const ibv_ah_attr& path, unsigned port);
void path_to_device(const ibv_qp_attr& a, proto::QpAttributes& qp);
void alternate_to_device(const ibv_qp_attr& a, proto::QpAttributes& qp);
void paths_from_device(const proto::QpAttributes& qp, ibv_qp_attr& a);
}  // namespace hca::verbs_library
