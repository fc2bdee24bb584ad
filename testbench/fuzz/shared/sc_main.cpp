// SPDX-License-Identifier: Apache-2.0
// What libsystemc's own main() would call.
extern "C" int sc_main(int, char**);
extern "C" int sc_main(int, char**) { return 0; }
// The kernel recycles the records of notifications in a list of its own, which a leak checker does
// not see.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:sc_core::sc_event_timed::allocate";
}
