// SPDX-License-Identifier: Apache-2.0
#include "testbench/verbs_names.h"

#include <array>

namespace hca::testbench {
using namespace proto;

namespace {
struct OperationName {
  std::string_view name;
  WorkOpcode opcode;
};
constexpr std::array kOperations{
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
};
}  // namespace

std::string_view wc_opcode_name(CqeOpcode opcode) {
  switch (opcode) {
    case CqeOpcode::Send:
      return "SEND";
    case CqeOpcode::RdmaWrite:
      return "RDMA_WRITE";
    case CqeOpcode::RdmaRead:
      return "RDMA_READ";
    case CqeOpcode::CompareSwap:
      return "COMP_SWAP";
    case CqeOpcode::FetchAdd:
      return "FETCH_ADD";
    case CqeOpcode::BindMw:
      return "BIND_MW";
    case CqeOpcode::LocalInvalidate:
      return "LOCAL_INV";
    case CqeOpcode::RegisterMr:
      return "REG_MR";
    case CqeOpcode::Receive:
      return "RECV";
    case CqeOpcode::ReceiveRdmaImmediate:
      return "RECV_RDMA_WITH_IMM";
  }
  return "?";
}

std::optional<WorkOpcode> work_opcode_of(std::string_view name) {
  for (const OperationName& row : kOperations)
    if (row.name == name) return row.opcode;
  return std::nullopt;
}

std::string work_opcode_names() {
  std::string names;
  for (const OperationName& row : kOperations)
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}
}  // namespace hca::testbench
