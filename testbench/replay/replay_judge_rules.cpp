// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_judge_rules.h"

#include <array>

namespace hca::testbench {
namespace {
using enum ConversationRule;
constexpr std::array kRules{
    // clang-format off
    ConversationRuleRow{Form,                "C9-2",    "the packet's structure is wrong",                                     ""},
    ConversationRuleRow{Icrc,                "T12-1",   "the ICRC is wrong",                                                   ""},
    ConversationRuleRow{Vcrc,                "T12-1",   "the VCRC is wrong",                                                   ""},
    ConversationRuleRow{InvalidPkey,         "PKEY-15", "the P_Key is the invalid one",                                        ""},
    ConversationRuleRow{OtherPkey,           "PKEY-11", "the P_Key is not that of the queue pair's other packets",             ""},
    ConversationRuleRow{FullLength,          "T7-l1",   "the payload of a First or Middle is not the path MTU",                ""},
    ConversationRuleRow{LastLength,          "T7-l2",   "the payload is longer than the path MTU, or a Last is empty",         ""},
    ConversationRuleRow{WriteLength,         "T7-l8",   "the payloads of a WRITE do not add up to its DMALen",                ""},
    ConversationRuleRow{Sequence,            "T7-q2",   "the opcode does not continue the message of the previous packet",        ""},
    ConversationRuleRow{AckReqOfUc,          "G14.1",   "a UC packet requests an acknowledgement",                             ""},
    ConversationRuleRow{FirstPsn,            "G1.1",    "the first PSN is not the one in the CM message",                        ""},
    ConversationRuleRow{PsnGap,              "G1.1",    "requests before it are missing, and nothing proves that they arrived", ""},
    ConversationRuleRow{PsnBack,             "G14.1",   "the PSN goes back although the service repeats nothing",                       ""},
    ConversationRuleRow{RepeatDiffers,       "G1.3",    "a repeated request differs from the original",                             ""},
    ConversationRuleRow{RepeatedReadBeyond,  "READ-16", "a repeated READ is not a subset of the first",                        ""},
    ConversationRuleRow{MisalignedAtomic,    "T10-3/RC", "the address of an ATOMIC is no multiple of 8",                       ""},
    ConversationRuleRow{BeyondCredits,       "G6.3",    "a message more than one beyond the advertised credits",           "oddity 2"},
    ConversationRuleRow{RnrTooSoon,          "G8.2",    "a request comes again sooner than the RNR NAK allows",                ""},
    ConversationRuleRow{TooManyRetries,      "G11.3",   "a request is sent again more often than the CM's retry count allows", ""},
    ConversationRuleRow{AnswersNothing,      "G4.1",    "the answer belongs to no request",                                    ""},
    ConversationRuleRow{AnswersAhead,        "G4.1",    "the answer comes before its request",                                 ""},
    ConversationRuleRow{AnswersUnexecuted,   "G2.3",    "the answer is to a request that came ahead of a missing one, and not again", ""},
    ConversationRuleRow{AckBack,             "G4.2",    "an ACK goes back before acknowledged PSNs",                       "oddity 11"},
    ConversationRuleRow{AckOfRead,           "G4.3",    "an ACK replaces a READ or ATOMIC response",                 "oddity 20"},
    ConversationRuleRow{AnswerSkipped,       "G3.2",    "a READ or ATOMIC response is missing before a later answer",          "oddity 9"},
    ConversationRuleRow{AnswerOfOtherKind,   "G12.6",   "the answer is not of the kind of its request",                        ""},
    ConversationRuleRow{AnswerUnasked,       "G3.3",    "a response is repeated without a repeated request",                    ""},
    ConversationRuleRow{AnswerPosition,      "G3.3",    "the response has another place in its READ than its opcode says",     "oddity 9"},
    ConversationRuleRow{AnswerLength,        "T9-16/RC", "the response does not have the length of its READ",                       ""},
    ConversationRuleRow{AtomicAnswerDiffers, "G3.4",    "the result of a repeated ATOMIC is not the saved one",                ""},
    ConversationRuleRow{Msn,                 "G5.3",    "the MSN is not the number of messages that the PSN makes",            ""},
    ConversationRuleRow{MsnOfInvalidate,     "G5.3",    "the MSN of the ACK of a SEND with Invalidate is 0",                   "oddity 19"},
    ConversationRuleRow{ReservedSyndrome,    "T5-11",   "the syndrome is reserved",                                            ""},
    ConversationRuleRow{NakWithoutGap,       "G2.3",    "a sequence NAK though no request came ahead",                         ""},
    ConversationRuleRow{NakAgain,            "G2.3",    "a second sequence NAK for one gap",                                   ""},
    ConversationRuleRow{NakAfterRnr,         "G2.5",    "a sequence NAK of the PSN of an RNR NAK",                             "oddity 5"},
    ConversationRuleRow{RnrOfOther,          "G23.1",   "an RNR NAK of a request that takes no receive WQE",                   ""},
    ConversationRuleRow{AfterFatalNak,       "G7.4",    "an answer after the NAK that took the queue pair to Error",           ""},
    ConversationRuleRow{QkeyOfQp1,           "C9-49",   "the Q_Key of a datagram to QP 1 is not 0x80010000",                   ""},
    ConversationRuleRow{CnpForm,             "G26.2",   "a CNP without BECN, with a PSN or with a payload of other than 0",    ""},
    ConversationRuleRow{SrqChanges,          "G24.5",   "a packet names another SRQ than the one before it in its message",    ""},
    ConversationRuleRow{CreditsOfXrc,        "G24.4",   "an ACK of XRC carries credits",                                       ""},
    ConversationRuleRow{QueuePairChanges,    "G13.1",   "a packet names another queue pair than the one before it in its message", ""},
    ConversationRuleRow{AnswerToOther,       "G13.2",   "the answer goes to another queue pair than the one that sent its request", ""},
    // clang-format on
};
static_assert([] {
  for (std::size_t i = 0; i < kRules.size(); ++i)
    if (kRules[i].rule != ConversationRule(i)) return false;
  return kRules.size() == std::size_t(AnswerToOther) + 1;
}());
}  // namespace

std::span<const ConversationRuleRow> conversation_rules() { return kRules; }
const ConversationRuleRow& row_of(ConversationRule rule) { return kRules[std::size_t(rule)]; }
}  // namespace hca::testbench
