// SPDX-License-Identifier: Apache-2.0
// The key table's changes: commands, work requests and the peer make them, always between two
// packets.
#pragma once
#include <span>

#include "model/device/contexts.h"
#include "model/proto/memory/key_rules.h"

namespace hca::device {
// The entry of an index; kNoRegion if it has none.
const proto::Region& entry_of(const Contexts& contexts, u32 key);
// An entry that is not Invalid and has this key.
proto::Region* find_key(Contexts& contexts, u32 key);

// INV-7, MW-21: the key becomes Free; what is allocated stays.
void free_key(Contexts& contexts, proto::Region& entry);
void free_key(Contexts& contexts, u32 key);  // if it is there
// If this key is there and may be invalidated by `who`.
bool invalidate_key(Contexts& contexts, u32 key, const proto::Accessor& who);
// `key` becomes the window's; no bytes: it is unbound. Judged by may_bind.
bool bind_window(Contexts& contexts, u32 key, const proto::BindRequest& request, u32 qpn);
// Takes the window away from its region and queue pair.
void unbind(Contexts& contexts, proto::Region& window);
// The region loses its page list, which stays until accesses have drained.
void leave_page_list(Contexts& contexts, const proto::Region& region);
// Gives a region its memory; the page list is kept.
void set_memory(Contexts& contexts, proto::Region& region, const proto::MemoryRequest& memory);

// A work request that sends no packet: BIND_MW, LOCAL_INV, REG_MR.
struct LocalWork {
  u32 qpn = 0, life = 0, index = 0;
  proto::SendWqe wqe{};
  proto::MemorySegment memory{};
};
// The key that a work request takes away or changes.
u32 key_of(const LocalWork& work);
// What must be read from host memory before it is executed.
proto::PageList page_list_of(const LocalWork& work);
// False: it is refused.
bool execute_local(Contexts& contexts, const LocalWork& work, std::span<const u64> pages);
}  // namespace hca::device
