/* SPDX-License-Identifier: Apache-2.0 */
/* The golden model as a C library: packets taken apart, built and compared, and an HCA without
 * time, for test benches in any language. hca_golden.svh imports it into SystemVerilog.
 *
 * Descriptions are JSON texts as in vectors/README.md: a set-up, a step, a packet by its fields.
 * Frames are bytes from the first one on the wire (Ethernet without FCS, or LRH) to the last one of
 * the CRCs; a caller's buffer for a frame or a structure has HCA_GOLDEN_FRAME_BYTES, of which the
 * rest is set to 0. Ports count from 1.
 *
 * Functions that begin with hca_golden_frame_ have no state. A context belongs to one thread at a
 * time; two contexts know nothing of each other. Nothing is kept outside of a context. */
#ifndef HCA_GOLDEN_H
#define HCA_GOLDEN_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define HCA_GOLDEN_FRAME_BYTES 4352

/* What most functions return; the words are in hca_golden_text(). */
enum hca_golden_code {
  HCA_GOLDEN_OK = 0,
  HCA_GOLDEN_NOTHING =
      1, /* there is none: no frame, completion, event, no such header in the packet */
  HCA_GOLDEN_DIFFERS = 2,  /* the text names what, expected and found */
  HCA_GOLDEN_BAD_INPUT = 3 /* the text (of hca_golden_explain() for frames by themselves) names the
                              place, what is wrong and what is allowed */
};
enum hca_golden_link { HCA_GOLDEN_ETHERNET = 0, HCA_GOLDEN_INFINIBAND = 1 };

/* ---- Frames by themselves ---- */

/* Instead of a verdict: more than HCA_GOLDEN_FRAME_BYTES, or no such link. */
#define HCA_GOLDEN_NO_FRAME (-1)

/* The verdict of structure and CRCs: 0 good, else its place in docs/generated/packet_rules.md. */
int hca_golden_frame_check(const uint8_t* frame, uint32_t bytes, uint32_t link);
/* Its words, "bad ICRC (T12-1)"; "unknown verdict" for any other number. Not to be freed. */
const char* hca_golden_frame_verdict(int verdict);
/* A field of at most 64 bits, as docs/generated/headers.md names it: "BTH.PSN", "AETH.Syndrome". */
int hca_golden_frame_field(const uint8_t* frame, uint32_t bytes, uint32_t link, const char* name,
                           uint64_t* value);
/* The ICRC that the frame should have; its first byte on the wire is the lowest. NOTHING: the
 * structure does not tell where it stands. */
int hca_golden_frame_icrc(const uint8_t* frame, uint32_t bytes, uint32_t link, uint32_t* icrc);

/* ---- An HCA ---- */
typedef struct hca_golden hca_golden;

/* A device, its host and the objects of `setup` ("{}": one RC queue pair q in RTS, RoCEv2 IPv4).
 * Never null: if hca_golden_code() is not OK the set-up was refused, and so is every call. */
hca_golden* hca_golden_open(const char* setup);
void hca_golden_close(hca_golden* hca);
/* Of the last call: its code, and its words or JSON text, valid until the next. */
int hca_golden_code(const hca_golden* hca);
const char* hca_golden_text(const hca_golden* hca);

/* A step that acts: {"post_send": ..}, post_recv, post_raw, resize_srq, command, ring, arm,
 * write_memory, unreadable, advance ("10 us": timers on the way fire). */
int hca_golden_do(hca_golden* hca, const char* step);

/* Why a function on frames by themselves refuses these arguments, as the text of a context: what
 * was given, and what is allowed. `name`: of a field; "" where the function takes none, which
 * hca_golden_frame_field() refuses. OK: they are not refused. */
int hca_golden_explain(hca_golden* hca, uint32_t bytes, uint32_t link, const char* name);

/* The frame that `packet` describes, from the queue pair's peer, as in the step "inject". */
int hca_golden_build(hca_golden* hca, const char* packet, uint8_t* frame, uint32_t* bytes);
/* Whether a frame that the device sends is as `packet` describes, as in the expectation "sent". */
int hca_golden_compare(hca_golden* hca, const char* packet, const uint8_t* frame, uint32_t bytes);
/* The bytes of a header or structure of the device ("AETH", "CQE") with these fields, the others 0.
 */
int hca_golden_encode(hca_golden* hca, const char* structure, const char* fields, uint8_t* to,
                      uint32_t* bytes);

/* A frame from the wire. The text is what became of it: {"dropped": "BadPkey"} for a drop counter,
 * {"cause": "BadRkey", "statement": "T10-5/RC"} for a request that its queue pair judged, a list of
 * them for a multicast packet, {} for a response. */
int hca_golden_receive(hca_golden* hca, uint32_t port, const uint8_t* frame, uint32_t bytes);
/* The next frame that the device sent, the oldest first. */
int hca_golden_sent(hca_golden* hca, uint8_t* frame, uint32_t* bytes);
/* The next completion, {"qp": 17, "receive": false, "wr_id": 1, "status": "SUCCESS", "opcode":
 * "SEND", "byte_len": 0}. */
int hca_golden_completion(hca_golden* hca);
/* The next asynchronous event, {"type": "QP_FATAL", "object": 17}. */
int hca_golden_event(hca_golden* hca);
/* A field of what QueryQp tells of a queue pair of the set-up ("" if it has one alone). */
int hca_golden_query(hca_golden* hca, const char* qp, const char* field, uint64_t* value);
/* A drop counter of a port. */
int hca_golden_drops(hca_golden* hca, uint32_t port, const char* counter, uint64_t* value);
/* `count` bytes of a region of the set-up, at most HCA_GOLDEN_FRAME_BYTES. */
int hca_golden_memory(hca_golden* hca, const char* region, uint64_t at, uint32_t count,
                      uint8_t* to);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
