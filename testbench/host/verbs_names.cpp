// SPDX-License-Identifier: Apache-2.0
#include "testbench/host/verbs_names.h"

#include <array>

namespace hca::testbench {
using namespace proto;

namespace {
struct OperationName {
  std::string_view name;
  WorkOpcode opcode;
};
constexpr std::array kWorkNames{
    OperationName{"SEND", WorkOpcode::Send},
    OperationName{"SEND_WITH_IMM", WorkOpcode::SendImmediate},
    OperationName{"SEND_WITH_INV", WorkOpcode::SendInvalidate},
    OperationName{"RDMA_WRITE", WorkOpcode::RdmaWrite},
    OperationName{"RDMA_WRITE_WITH_IMM", WorkOpcode::RdmaWriteImmediate},
    OperationName{"RDMA_READ", WorkOpcode::RdmaRead},
    OperationName{"ATOMIC_CMP_AND_SWP", WorkOpcode::CompareSwap},
    OperationName{"ATOMIC_FETCH_AND_ADD", WorkOpcode::FetchAdd},
    OperationName{"BIND_MW", WorkOpcode::BindMw},
    OperationName{"LOCAL_INV", WorkOpcode::LocalInvalidate},
    OperationName{"REG_MR", WorkOpcode::RegisterMr},
    OperationName{"ATOMIC_WRITE", WorkOpcode::AtomicWrite},
    OperationName{"FLUSH", WorkOpcode::Flush},
};

struct CompletionName {
  std::string_view name;
  CqeOpcode opcode;
};
constexpr std::array kCompletions{
    CompletionName{"SEND", CqeOpcode::Send},
    CompletionName{"RDMA_WRITE", CqeOpcode::RdmaWrite},
    CompletionName{"RDMA_READ", CqeOpcode::RdmaRead},
    CompletionName{"COMP_SWAP", CqeOpcode::CompareSwap},
    CompletionName{"FETCH_ADD", CqeOpcode::FetchAdd},
    CompletionName{"BIND_MW", CqeOpcode::BindMw},
    CompletionName{"LOCAL_INV", CqeOpcode::LocalInvalidate},
    CompletionName{"REG_MR", CqeOpcode::RegisterMr},
    CompletionName{"ATOMIC_WRITE", CqeOpcode::AtomicWrite},
    CompletionName{"FLUSH", CqeOpcode::Flush},
    CompletionName{"RECV", CqeOpcode::Receive},
    CompletionName{"RECV_RDMA_WITH_IMM", CqeOpcode::ReceiveRdmaImmediate},
};
}  // namespace

std::string_view wc_opcode_name(CqeOpcode opcode) {
  for (const CompletionName& row : kCompletions)
    if (row.opcode == opcode) return row.name;
  return "?";
}

std::vector<std::string_view> wc_opcode_names() {
  std::vector<std::string_view> names;
  for (const CompletionName& row : kCompletions) names.push_back(row.name);
  return names;
}

std::optional<WorkOpcode> work_opcode_of(std::string_view name) {
  for (const OperationName& row : kWorkNames)
    if (row.name == name) return row.opcode;
  return std::nullopt;
}

std::string work_opcode_names() {
  std::string names;
  for (const OperationName& row : kWorkNames)
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}
}  // namespace hca::testbench
