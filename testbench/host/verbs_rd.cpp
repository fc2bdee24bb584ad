// SPDX-License-Identifier: Apache-2.0
// RD domains and EE contexts.
#include "testbench/host/verbs.h"

namespace hca::testbench {
using namespace proto;

std::optional<u32> VerbsContext::alloc_rdd() {
  const u32 number = next_rdd_;
  if (execute(CommandOpcode::AllocRdd, number) != CommandStatus::Ok) return {};
  ++next_rdd_;
  return number;
}

Error VerbsContext::dealloc_rdd(u32 rdd) {
  return error_of(execute(CommandOpcode::DeallocRdd, rdd));
}

std::optional<u32> VerbsContext::create_eec(std::optional<u32> eecn, u64 context) {
  const u32 number = eecn ? *eecn : next_eecn_;
  if (execute(CommandOpcode::CreateEec, number, EecCreate{context}) != CommandStatus::Ok) return {};
  if (!eecn) ++next_eecn_;
  return number;
}

Error VerbsContext::modify_eec(u32 eecn, const QpAttributes& attributes) {
  return error_of(execute(CommandOpcode::ModifyEec, eecn, attributes));
}

QpAttributes VerbsContext::query_eec(u32 eecn) {
  return query<QpAttributes>(CommandOpcode::QueryEec, eecn);
}

Error VerbsContext::destroy_eec(u32 eecn) {
  return error_of(execute(CommandOpcode::DestroyEec, eecn));
}
}  // namespace hca::testbench
