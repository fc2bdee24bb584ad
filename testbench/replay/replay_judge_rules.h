// SPDX-License-Identifier: Apache-2.0
// The rules for the packets of a conversation, independent of the sender: used for a capture
// without a description. Each row names its statement. A row that a known device breaks also names
// the deviation, which counts only with the profile of that device.
#pragma once
#include <span>
#include <string_view>

#include "model/proto/types.h"

namespace hca::testbench {
enum class ConversationRule : u8 {
  Form,  // the statement of the packet's verdict
  Icrc,
  Vcrc,
  InvalidPkey,
  OtherPkey,
  FullLength,
  LastLength,
  WriteLength,
  Sequence,
  AckReqOfUc,
  FirstPsn,
  PsnGap,
  PsnBack,
  RepeatDiffers,
  RepeatedReadBeyond,
  MisalignedAtomic,
  BeyondCredits,
  RnrTooSoon,
  TooManyRetries,
  AnswersNothing,
  AnswersAhead,
  AnswersUnexecuted,
  AckBack,
  AckOfRead,
  AnswerSkipped,
  AnswerOfOtherKind,
  AnswerUnasked,
  AnswerPosition,
  AnswerLength,
  AtomicAnswerDiffers,
  Msn,
  MsnOfInvalidate,
  ReservedSyndrome,
  NakWithoutGap,
  NakAgain,
  NakAfterRnr,
  RnrOfOther,
  AfterFatalNak,
  QkeyOfQp1,
  CnpForm,
  SrqChanges,
  CreditsOfXrc,
  QueuePairChanges,
  AnswerToOther,
};

struct ConversationRuleRow {
  ConversationRule rule;
  std::string_view statement;
  std::string_view sentence;   // the problem
  std::string_view deviation;  // of a known device; empty: none
};
std::span<const ConversationRuleRow> conversation_rules();
const ConversationRuleRow& row_of(ConversationRule rule);
}  // namespace hca::testbench
