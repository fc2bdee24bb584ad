// SPDX-License-Identifier: Apache-2.0
// Device, ports, protection domains and memory regions.
#include "model/blocks/command_call.h"

namespace hca::blocks {
using namespace proto;

CommandStatus query_device(Call& c) {
  const ObjectLimits& l = c.contexts.limits;
  DeviceAttributes a{};
  a.ports = u8(c.contexts.ports.size()), a.gid_entries = kGidEntries,
  a.pkey_entries = kPkeyEntries - mutant<"pkey_table_of_15">();
  a.max_qps = l.qps, a.max_cqs = l.cqs, a.max_eqs = l.eqs, a.max_regions = l.regions;
  a.max_pds = l.pds, a.max_vectors = l.vectors;
  a.max_log_queue_entries = kMaxLogQueueEntries, a.max_log_work_entries = kMaxLogWorkEntries;
  a.max_rd_atomic = kMaxRdAtomic, a.credits = c.contexts.options.credits;
  encode(a, c.body);
  return CommandStatus::Ok;
}

// ---- Ports
namespace {
PortAttributes* find_port(Call& c) {
  const u32 number = c.header.object;
  return number && number <= c.contexts.ports.size() ? &c.contexts.ports[number - 1] : nullptr;
}
}  // namespace

CommandStatus set_port(Call& c) {
  PortAttributes* port = find_port(c);
  if (!port) return CommandStatus::BadObject;
  const auto a = decode<PortAttributes>(c.body);
  if (a.framing >= kFramingCount || !is_mtu(a.mtu)) return CommandStatus::BadValue;
  *port = a;
  for (QpConfig& qp : c.contexts.qps)
    if (qp.allocated && qp.port == c.header.object && !mutant<"pkey_kept_by_set_port">())
      qp.pkey = a.pkeys[mutant<"pkey_of_entry_0">() ? 0 : qp.pkey_index];  // G18.3
  return CommandStatus::Ok;
}

CommandStatus query_port(Call& c) {
  const PortAttributes* port = find_port(c);
  if (!port) return CommandStatus::BadObject;
  encode(*port, c.body);
  return CommandStatus::Ok;
}

CommandStatus query_drops(Call& c) {
  if (!find_port(c)) return CommandStatus::BadObject;
  encode(c.contexts.drops[c.header.object - 1], c.body);
  return CommandStatus::Ok;
}

// ---- Protection domains
CommandStatus alloc_pd(Call& c) {
  const u32 number = c.header.object;
  if (number >= c.contexts.limits.pds) return CommandStatus::NoResources;
  if (!number || c.contexts.find_pd(number)) return CommandStatus::BadObject;
  at(c.contexts.pds, number) = {.allocated = true};
  return CommandStatus::Ok;
}

CommandStatus query_pd(Call& c) {
  const Pd* pd = c.contexts.find_pd(c.header.object);
  if (!pd) return CommandStatus::BadObject;
  encode(PdAttributes{pd->uses}, c.body);
  return CommandStatus::Ok;
}

CommandStatus dealloc_pd(Call& c) {
  Pd* pd = c.contexts.find_pd(c.header.object);
  if (!pd) return CommandStatus::BadObject;
  if (pd->uses) return CommandStatus::Busy;
  *pd = {};
  return CommandStatus::Ok;
}

// ---- Memory regions
namespace {
Region* find_key(Call& c) {
  const u32 key = c.header.object;
  const Region* region = c.contexts.find_region(key);
  return region && region->allocated && region->key == key ? &c.contexts.regions[key_index(key)]
                                                           : nullptr;
}
}  // namespace

CommandStatus register_mr(Call& c) {
  const auto a = decode<MrAttributes>(c.body);
  const u32 index = key_index(a.key);
  if (index >= c.contexts.limits.regions) return CommandStatus::NoResources;
  Pd* pd = c.contexts.find_pd(a.pd);
  const Region* held = c.contexts.find_region(a.key);
  if (!pd || (held && held->allocated)) return CommandStatus::BadObject;
  if (a.start + a.bytes < a.start || a.physical + a.bytes < a.physical ||
      a.access > (kAllAccess | kFastRegister))
    return CommandStatus::BadValue;
  const u64 bytes = a.bytes + mutant<"register_length_plus_one">();
  at(c.contexts.regions, index) = {a.start, bytes, a.physical, a.pd, a.key, a.access, true, true};
  ++pd->uses;
  return CommandStatus::Ok;
}

CommandStatus query_mr(Call& c) {
  const Region* r = find_key(c);
  if (!r) return CommandStatus::BadObject;
  encode(MrAttributes{r->start, r->bytes, r->physical, r->pd, r->key, r->access, r->valid}, c.body);
  return CommandStatus::Ok;
}

CommandStatus deregister_mr(Call& c) {
  Region* region = find_key(c);
  if (!region) return CommandStatus::BadObject;
  --c.contexts.pds[region->pd].uses;
  if (mutant<"key_one_per_address">())
    for (Region& r : c.contexts.regions) r.valid &= r.start != region->start;
  if (!mutant<"dereg_keeps_key">()) *region = {};
  return CommandStatus::Ok;
}
}  // namespace hca::blocks
