// SPDX-License-Identifier: Apache-2.0
// Detects memory that a thread compares again and again, while the rest of its state changes: it
// counts its rounds, for example.
#pragma once
#include <Zydis/Zydis.h>

#include <array>

#include "model/proto/types.h"

namespace hca::time_library {
class Looks {
 public:
  void clear() {
    used_ = 0;
    loaded_ = {};
  }
  // Call before an instruction is executed. `address_of`: the address of its memory operands.
  template <class AddressOf>
  void note(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands,
            const AddressOf& address_of) {
    const bool compares =
        instruction.mnemonic == ZYDIS_MNEMONIC_CMP || instruction.mnemonic == ZYDIS_MNEMONIC_TEST;
    const bool loads = instruction.mnemonic == ZYDIS_MNEMONIC_MOV ||
                       instruction.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
                       instruction.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
                       instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    for (Loaded& l : loaded_) l.left -= l.left > 0;
    if (!compares && !loads) return;
    for (u8 i = 0; i < instruction.operand_count_visible; ++i) {
      const ZydisDecodedOperand& o = operands[i];
      if (o.type == ZYDIS_OPERAND_TYPE_REGISTER && compares) look_at(o.reg.value);
      if (o.type != ZYDIS_OPERAND_TYPE_MEMORY || (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        continue;
      if (compares)
        look(address_of(o), o.size / 8);
      else
        load(operands[0].reg.value, address_of(o), o.size / 8);
    }
  }
  // Records a write by the thread itself.
  void note_written(u64 address, u64 bytes);
  // True if the memory read in each round of `steps` instructions can be written by the HCA or by
  // another program, and was not written meanwhile.
  bool waits(u32 steps) const;

 private:
  struct Word {
    u64 address, value;
    u32 bytes, looks;
    bool changed;
  };
  struct Loaded {
    ZydisRegister in;
    u64 address;
    u32 bytes, left;  // remaining instructions in which it may be compared
  };
  void load(ZydisRegister in, u64 address, u32 bytes);
  void look_at(ZydisRegister loaded);
  void look(u64 address, u32 bytes);

  std::array<Word, 32> words_;
  std::size_t used_ = 0;
  std::array<Loaded, 2> loaded_{};
};

// The HCA may write there from now on.
void may_be_written(u64 address, u64 bytes);
// Another program may write there.
bool is_shared(u64 address);
}  // namespace hca::time_library
