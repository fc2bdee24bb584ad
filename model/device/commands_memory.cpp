// SPDX-License-Identifier: Apache-2.0
// Memory regions and memory windows.
#include "model/device/command_call.h"
#include "model/device/memory_keys.h"

namespace hca::device {
using namespace proto;

namespace {
Region* find_region(Call& c) {
  Region* entry = find_key(c.contexts, c.header.object);
  return entry && !entry->is_window() ? entry : nullptr;
}
Region* find_window(Call& c) {
  Region* entry = find_key(c.contexts, c.header.object);
  return entry && entry->is_window() ? entry : nullptr;
}

// Checks that a new entry with this key and domain may be made; `instead`: the entry that it
// replaces.
CommandStatus check_new_key(const Contexts& x, u32 key, u32 pd, const Region* instead = nullptr) {
  if (key_index(key) >= x.limits.regions) return CommandStatus::NoResources;
  const bool pd_exists = pd < x.pds.size() && x.pds[pd].allocated;
  const Region& held = entry_of(x, key);
  const bool free = key != kReservedLkey && (!held.exists() || &held == instead);
  return pd_exists && free ? CommandStatus::Ok : CommandStatus::BadObject;
}

Region& make_entry(Contexts& x, u32 key, u32 pd, KeyKind kind, KeyState state) {
  Region& entry = at(x.regions, key_index(key)) = {};
  entry.key = key;
  entry.pd = pd;
  entry.kind = kind;
  entry.state = state;
  ++x.pds[pd].uses;
  return entry;
}

void remove_entry(Contexts& x, Region& entry) {
  unbind(x, entry);
  --x.pds[entry.pd].uses;
  leave_page_list(x, entry);
  entry = {};
}

MemoryRequest memory_of(const MrAttributes& a, const Call& c) {
  return {a.start,
          a.bytes,
          a.physical,
          a.access,
          a.log_page,
          c.pages,
          optional_rights(c.contexts.options)};
}

void register_region(Call& c, const MrAttributes& a) {
  Region& region = make_entry(c.contexts, a.key, a.pd, KeyKind::Region, KeyState::Valid);
  set_memory(c.contexts, region, memory_of(a, c));
}
}  // namespace

// ---- Regions
CommandStatus register_mr(Call& c) {
  const auto a = decode<MrAttributes>(c.body);
  if (const auto status = check_new_key(c.contexts, a.key, a.pd); status != CommandStatus::Ok)
    return status;
  if (!memory_is_good(memory_of(a, c))) return CommandStatus::BadValue;
  register_region(c, a);
  return CommandStatus::Ok;
}

// INV-13: a region of its own with the memory of another one. Both are shared from now on.
CommandStatus register_shared_mr(Call& c) {
  auto a = decode<MrAttributes>(c.body);
  const Region* const other = find_region(c);
  if (!other || other->state != KeyState::Valid) return CommandStatus::BadObject;
  const CommandStatus status = check_new_key(c.contexts, a.key, a.pd);
  if (status != CommandStatus::Ok) return status;
  a.bytes = other->bytes;
  a.physical = other->physical;
  a.log_page = other->log_page;
  MemoryRequest memory = memory_of(a, c);
  if (other->pages) memory.pages = c.contexts.page_lists.at(key_index(other->key));
  if (!memory_is_good(memory)) return CommandStatus::BadValue;
  Region& region = make_entry(c.contexts, a.key, a.pd, KeyKind::Region, KeyState::Valid);
  set_memory(c.contexts, region, memory);
  region.access |= kShared;
  find_region(c)->access |= kShared;
  return CommandStatus::Ok;
}

// MR-8.
CommandStatus reregister_mr(Call& c) {
  const auto a = decode<MrAttributes>(c.body);
  Region* region = find_region(c);
  if (!region) return CommandStatus::BadObject;
  if (region->links) return CommandStatus::Busy;
  const CommandStatus status = check_new_key(c.contexts, a.key, a.pd, region);
  if (status != CommandStatus::Ok) return status;
  if (!memory_is_good(memory_of(a, c))) return CommandStatus::BadValue;
  c.effect.takes_away = true;
  c.effect.key = region->key;
  remove_entry(c.contexts, *region);
  register_region(c, a);
  return CommandStatus::Ok;
}

CommandStatus alloc_mr(Call& c) {
  const auto a = decode<MrAttributes>(c.body);
  if (const auto status = check_new_key(c.contexts, a.key, a.pd); status != CommandStatus::Ok)
    return status;
  make_entry(c.contexts, a.key, a.pd, KeyKind::Region, KeyState::Free).access = kFastRegister;
  return CommandStatus::Ok;
}

CommandStatus query_mr(Call& c) {
  const Region* r = find_region(c);
  if (!r) return CommandStatus::BadObject;
  encode(MrAttributes{r->start, r->bytes, r->physical, r->pd, r->key,
                      Rights(r->access & ~(kLocalRead | kShared)), r->log_page,
                      r->state == KeyState::Valid, r->links, bool(r->access & kShared)},
         c.body);
  return CommandStatus::Ok;
}

CommandStatus deregister_mr(Call& c) {
  Region* region = find_region(c);
  if (!region) return CommandStatus::BadObject;
  if (region->links) return CommandStatus::Busy;  // MR-9
  c.effect.takes_away = true;
  c.effect.key = region->key;
  remove_entry(c.contexts, *region);
  return CommandStatus::Ok;
}

// ---- Windows
CommandStatus alloc_mw(Call& c) {
  const auto a = decode<MwAttributes>(c.body);
  if (const auto status = check_new_key(c.contexts, a.key, a.pd); status != CommandStatus::Ok)
    return status;
  if (a.type < KeyKind::Window1 || a.type > KeyKind::Window2B) return CommandStatus::BadValue;
  const bool type_1 = a.type == KeyKind::Window1;  // G22.1
  make_entry(c.contexts, a.key, a.pd, a.type, type_1 ? KeyState::Valid : KeyState::Free);
  return CommandStatus::Ok;
}

CommandStatus query_mw(Call& c) {
  const Region* w = find_window(c);
  if (!w) return CommandStatus::BadObject;
  MwAttributes a;
  a.pd = w->pd;
  a.key = w->key;
  a.type = w->kind;
  a.state = w->state;
  if (w->is_bound()) {
    a.start = w->start;
    a.bytes = w->bytes;
    a.access = w->access;
    a.region_key = c.contexts.regions[w->links].key;
    a.qpn = w->qpn == kAnyQp ? 0 : w->qpn;
  }
  encode(a, c.body);
  return CommandStatus::Ok;
}

// The new key has the next key byte (MW-7, MW-12), and is not the reserved one (G22.4).
CommandStatus bind_mw(Call& c) {
  const Region* w = find_window(c);
  if (!w) return CommandStatus::BadObject;
  auto a = decode<MwAttributes>(c.body);
  u32 key = make_key(key_index(w->key), u8(key_byte(w->key) + 1));
  if (key == kReservedLkey) ++key;
  const BindRequest request{
      a.start, a.bytes, a.region_key, a.access, true, w->pd, optional_rights(c.contexts.options)};
  if (bind::unknown_region(entry_of(c.contexts, a.region_key), request))
    return CommandStatus::BadObject;
  if (!bind_window(c.contexts, key, request, 0)) return CommandStatus::BadValue;
  c.effect.takes_away = true;
  c.effect.key = key;
  a.key = key;
  encode(a, c.body);
  return CommandStatus::Ok;
}

CommandStatus dealloc_mw(Call& c) {
  Region* window = find_window(c);
  if (!window) return CommandStatus::BadObject;
  c.effect.takes_away = true;
  c.effect.key = window->key;
  remove_entry(c.contexts, *window);
  return CommandStatus::Ok;
}
}  // namespace hca::device
