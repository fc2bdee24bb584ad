// SPDX-License-Identifier: Apache-2.0
// XRC domains, and target queue pairs of other programs.
#include <fcntl.h>

#include <memory>

#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
using proto::CommandOpcode;

namespace {
// errno's values.
int check(ibv_context* context, const ibv_xrcd_init_attr& a) {
  constexpr u32 kWanted = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  if (!context_of(context).info.attributes.xrc || (a.comp_mask & ~kWanted)) return EOPNOTSUPP;
  if ((a.comp_mask & kWanted) != kWanted) return EINVAL;
  return a.fd != -1 && fcntl(a.fd, F_GETFD) < 0 ? EBADF : 0;
}

// errno's values.
int check(ibv_context* context, const ibv_qp_open_attr& a) {
  constexpr u32 kWanted = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  if (!context_of(context).info.attributes.xrc) return EOPNOTSUPP;
  if (a.comp_mask & ~(kWanted | IBV_QP_OPEN_ATTR_CONTEXT)) return EOPNOTSUPP;
  if ((a.comp_mask & kWanted) != kWanted || a.qp_type != IBV_QPT_XRC_RECV) return EINVAL;
  return a.xrcd && a.xrcd->context == context ? 0 : EINVAL;
}
}  // namespace

ibv_xrcd* open_xrcd(ibv_context* plain, ibv_xrcd_init_attr* attributes) {
  if (const int error = check(plain, *attributes)) return fail(error);
  Context& context = context_of(plain);
  attach::Request request;
  attach::Reply reply;
  request.verb = attach::Verb::OpenXrcDomain;
  request.object = u32(attributes->oflags);
  const int error = attributes->fd == -1
                        ? command(context, CommandOpcode::AllocXrcd, 0, reply)
                        : ask(context, request, reply, nullptr, {&attributes->fd, 1});
  if (error) return fail(error);
  auto* const made = new Xrcd;
  made->context = plain;
  made->handle = reply.handle;
  return made;
}

int close_xrcd(ibv_xrcd* plain) {
  auto* const xrcd = static_cast<Xrcd*>(plain);
  attach::Reply reply;
  if (!is_inherited(xrcd->context))
    if (const int error =
            command(context_of(xrcd->context), CommandOpcode::DeallocXrcd, xrcd->handle, reply))
      return error;
  delete xrcd;
  return 0;
}

// Its state is what others have made of it: ibv_query_qp() finds it.
ibv_qp* open_qp(ibv_context* plain, ibv_qp_open_attr* attributes) {
  if (const int error = check(plain, *attributes)) return fail(error);
  Context& context = context_of(plain);
  auto made = std::make_unique<Qp>();
  made->service = proto::Service::Xrc, made->side = proto::QpSide::Target;
  attach::Request request;
  request.verb = attach::Verb::OpenQp;
  request.object = attributes->qp_num;
  request.names[0] = static_cast<Xrcd*>(attributes->xrcd)->handle;
  request.cookie = made->cookie = give_cookie(context, made.get());
  attach::Reply reply;
  if (const int error = ask(context, request, reply)) {
    take_cookie(context, made->cookie);
    return fail(error);
  }
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_XRC_RECV;
  if (attributes->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) init.qp_context = attributes->qp_context;
  set_up(*made, plain, init);
  made->qp_base.qp_num = reply.number, made->qp_base.handle = reply.handle;
  made->qp_base.state = IBV_QPS_UNKNOWN;
  set_work_functions(*made, 0);
  return &made.release()->qp_base;
}
}  // namespace hca::verbs_library
