// SPDX-License-Identifier: Apache-2.0
// Changes of the key table by commands, work requests and the peer, always between two packets.
#pragma once
#include <span>

#include "model/device/contexts.h"
#include "model/proto/memory/key_rules.h"

namespace hca::device {
// The entry of an index; kNoRegion if there is none.
const proto::Region& entry_of(const Contexts& contexts, u32 key);
// The entry with this key, unless it is Invalid.
proto::Region* find_key(Contexts& contexts, u32 key);

// INV-7, MW-21: the key becomes Free; the entry stays allocated.
void free_key(Contexts& contexts, proto::Region& entry);
void free_key(Contexts& contexts, u32 key);  // if it is there
// Invalidates the key if it exists and `who` may invalidate it.
bool invalidate_key(Contexts& contexts, u32 key, const proto::Accessor& who);
// The window gets `key`; no bytes: it is unbound. The request passed may_bind.
bool bind_window(Contexts& contexts, u32 key, const proto::BindRequest& request, u32 qpn);
// Detaches the window from its region and queue pair.
void unbind(Contexts& contexts, proto::Region& window);
// Detaches the page list from the region; the list is kept until accesses have drained.
void leave_page_list(Contexts& contexts, const proto::Region& region);
// Sets the memory of a region; the page list is copied.
void set_memory(Contexts& contexts, proto::Region& region, const proto::MemoryRequest& memory);

// A work request that sends no packet: BIND_MW, LOCAL_INV, REG_MR.
struct LocalWork {
  u32 qpn = 0, life = 0, index = 0;
  proto::SendWqe wqe{};
  proto::MemorySegment memory{};
};
// The key that a work request removes or changes.
u32 key_of(const LocalWork& work);
// The page list that must be read from host memory before the execution.
proto::PageList page_list_of(const LocalWork& work);
// False: the request is refused.
bool execute_local(Contexts& contexts, const LocalWork& work, std::span<const u64> pages);
}  // namespace hca::device
