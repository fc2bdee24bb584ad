// SPDX-License-Identifier: Apache-2.0
// XRC domains (G23.5, G24).
#include "model/device/command_call.h"

namespace hca::device {
using namespace proto;

CommandStatus alloc_xrcd(Call& c) {
  const auto a = decode<XrcDomainAttributes>(c.body);
  Contexts& x = c.contexts;
  const u32 number = c.header.object;
  if (!has(x.options, Capability::Xrc)) return CommandStatus::BadOpcode;
  if (number >= x.limits.xrc_domains) return CommandStatus::NoResources;
  Pd* pd = x.find_pd(a.pd);
  if (!number || x.find_xrc_domain(number) || (a.pd && !pd)) return CommandStatus::BadObject;
  at(x.xrc_domains, number) = {true, a.pd, 0};
  if (pd) ++pd->uses;
  return CommandStatus::Ok;
}

CommandStatus query_xrcd(Call& c) {
  const XrcDomain* domain = c.contexts.find_xrc_domain(c.header.object);
  if (!domain) return CommandStatus::BadObject;
  encode(XrcDomainAttributes{domain->pd, domain->uses}, c.body);
  return CommandStatus::Ok;
}

CommandStatus dealloc_xrcd(Call& c) {
  XrcDomain* domain = c.contexts.find_xrc_domain(c.header.object);
  if (!domain) return CommandStatus::BadObject;
  if (domain->uses) return CommandStatus::Busy;
  if (domain->pd) --c.contexts.pds[domain->pd].uses;
  *domain = {};
  return CommandStatus::Ok;
}
}  // namespace hca::device
