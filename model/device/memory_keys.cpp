// SPDX-License-Identifier: Apache-2.0
#include "model/device/memory_keys.h"

namespace hca::device {
using namespace proto;

const Region& entry_of(const Contexts& contexts, u32 key) {
  const Region* entry = contexts.find_region(key);
  return entry ? *entry : kNoRegion;
}

Region* find_key(Contexts& contexts, u32 key) {
  const Region& entry = entry_of(contexts, key);
  return entry.exists() && entry.key == key ? &contexts.regions[key_index(key)] : nullptr;
}

namespace {
// MW-11.
bool holds_queue_pair(const Region& window) { return window.kind == KeyKind::Window2A; }
}  // namespace

void unbind(Contexts& contexts, Region& window) {
  if (!window.is_bound()) return;
  --contexts.regions[window.links].links;
  if (holds_queue_pair(window)) --contexts.bound_windows[window.qpn];
  window.bytes = 0;
  window.links = 0;
  window.qpn = kAnyQp;
}

void free_key(Contexts& contexts, Region& entry) {
  unbind(contexts, entry);
  entry.state = KeyState::Free;
}
void free_key(Contexts& contexts, u32 key) {
  if (Region* entry = find_key(contexts, key)) free_key(contexts, *entry);
}

bool invalidate_key(Contexts& contexts, u32 key, const Accessor& who) {
  if (!may_invalidate(&entry_of(contexts, key), key, who)) return false;
  free_key(contexts, key);
  return true;
}

bool bind_window(Contexts& contexts, u32 key, const BindRequest& request, u32 qpn) {
  const Region& region = entry_of(contexts, request.region_key);
  if (!may_bind({&entry_of(contexts, key), &region, request, key})) return false;
  Region& window = contexts.regions[key_index(key)];
  unbind(contexts, window);
  window.key = key;
  window.state = KeyState::Valid;
  if (!request.bytes) return true;
  const bool zero_based = request.access & kZeroBased;
  window.start = zero_based ? 0 : request.start;
  window.bytes = request.bytes;
  window.access = request.access;
  window.physical = region.physical;
  window.origin = region.origin - (zero_based ? request.start : 0);
  window.pages = region.pages;
  window.log_page = region.log_page;
  window.links = key_index(request.region_key);
  ++contexts.regions[window.links].links;
  if (!window.is_type_2()) return true;
  window.qpn = qpn;
  if (holds_queue_pair(window)) ++contexts.bound_windows[qpn];
  return true;
}

void leave_page_list(Contexts& contexts, const Region& region) {
  const auto list = contexts.page_lists.find(key_index(region.key));
  if (list == contexts.page_lists.end()) return;
  contexts.left_page_lists.push_back(std::move(list->second));
  contexts.page_lists.erase(list);
}

void set_memory(Contexts& contexts, Region& region, const MemoryRequest& memory) {
  const u32 index = key_index(region.key);
  region.start = region.origin = memory.start;
  region.bytes = memory.bytes;
  region.physical = memory.physical;
  region.log_page = memory.log_page;
  region.access = memory.access | kLocalRead;
  region.pages = nullptr;
  leave_page_list(contexts, region);
  if (memory.log_page) {
    std::vector<u64>& list = contexts.page_lists[index];
    list.assign(memory.pages.begin(), memory.pages.end());
    region.pages = list.data();
  }
  region.state = KeyState::Valid;
}

// ---- Work requests
u32 key_of(const LocalWork& work) {
  return work.wqe.opcode == WorkOpcode::LocalInvalidate ? work.wqe.immediate : work.wqe.rkey;
}

PageList page_list_of(const LocalWork& work) {
  if (work.wqe.opcode != WorkOpcode::RegisterMr) return {};
  return proto::page_list_of(work.memory.physical, work.memory.bytes, work.memory.log_page);
}

namespace {
bool fast_register(Contexts& contexts, u32 key, const FastRegisterView& view) {
  if (!may_fast_register(view)) return false;
  Region& region = contexts.regions[key_index(key)];
  region.key = key;
  set_memory(contexts, region, view.memory);
  region.access |= kFastRegister;
  return true;
}
}  // namespace

bool execute_local(Contexts& contexts, const LocalWork& work, std::span<const u64> pages) {
  const QpConfig& qp = contexts.qps[work.qpn];
  const MemorySegment& m = work.memory;
  switch (work.wqe.opcode) {
    case WorkOpcode::BindMw:
      return bind_window(
          contexts, work.wqe.rkey,
          {m.start, m.bytes, m.region_key, m.access, false, qp.pd, optional_rights(qp.options)},
          qp.qpn);
    case WorkOpcode::LocalInvalidate:
      return invalidate_key(contexts, work.wqe.immediate, accessor_of(qp));
    default:
      return fast_register(
          contexts, work.wqe.rkey,
          {&entry_of(contexts, work.wqe.rkey),
           {m.start, m.bytes, m.physical, m.access, m.log_page, pages, optional_rights(qp.options)},
           qp.pd,
           work.wqe.rkey});
  }
}
}  // namespace hca::device
