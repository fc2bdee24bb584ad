// SPDX-License-Identifier: Apache-2.0
// A program that is not linked with libibverbs.so.1, but opens it and asks for its functions by
// name and version, as some libraries for collective operations do. Prints the names of devices.
#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <cstdio>
#include <cstdlib>

namespace {
void* g_library = nullptr;

template <class Function>
Function* find(const char* name, const char* version) {
  void* const found = dlvsym(g_library, name, version);
  if (!found) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return reinterpret_cast<Function*>(found);
}
bool has(const char* name, const char* version) { return dlvsym(g_library, name, version); }
}  // namespace

int main() {
  g_library = dlopen("libibverbs.so.1", RTLD_NOW);
  if (!g_library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto* const get_list = find<decltype(ibv_get_device_list)>("ibv_get_device_list", "IBVERBS_1.1");
  auto* const get_name = find<decltype(ibv_get_device_name)>("ibv_get_device_name", "IBVERBS_1.1");
  auto* const open = find<decltype(ibv_open_device)>("ibv_open_device", "IBVERBS_1.1");
  auto* const close = find<decltype(ibv_close_device)>("ibv_close_device", "IBVERBS_1.1");
  auto* const alloc_pd = find<decltype(ibv_alloc_pd)>("ibv_alloc_pd", "IBVERBS_1.1");
  auto* const dealloc_pd = find<decltype(ibv_dealloc_pd)>("ibv_dealloc_pd", "IBVERBS_1.1");
  // That of the old version is another function; a version that never was has none.
  if (!has("ibv_open_device", "IBVERBS_1.0") || has("ibv_open_device", "IBVERBS_1.2")) return 1;
  if (find<decltype(ibv_open_device)>("ibv_open_device", "IBVERBS_1.0") == open) return 1;
  ibv_device** const list = get_list(nullptr);
  for (ibv_device** device = list; device && *device; ++device) {
    ibv_context* const context = open(*device);
    ibv_pd* const pd = context ? alloc_pd(context) : nullptr;
    if (!pd || dealloc_pd(pd) || close(context)) return 1;
    std::printf("%s\n", get_name(*device));
  }
}
