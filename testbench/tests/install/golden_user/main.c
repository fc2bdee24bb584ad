/* SPDX-License-Identifier: Apache-2.0 */
/* A C program has the golden model answer a SEND. */
#include <hca_golden.h>
#include <stdio.h>

static uint8_t frame[HCA_GOLDEN_FRAME_BYTES];

int main(void) {
  uint32_t bytes;
  uint64_t syndrome;
  hca_golden* hca = hca_golden_open("{\"regions\": {\"m\": {}}}");
  int bad = hca_golden_do(hca, "{\"post_recv\": {\"wr_id\": 1, \"sge\": [[\"m\", 0, 64]]}}") ||
            hca_golden_build(hca, "{\"opcode\": \"SEND Only\", \"PSN\": 256, \"payload\": \"61\"}", frame, &bytes) ||
            hca_golden_receive(hca, 1, frame, bytes) || hca_golden_sent(hca, frame, &bytes) ||
            hca_golden_frame_field(frame, bytes, HCA_GOLDEN_ETHERNET, "AETH.Syndrome", &syndrome);
  if (bad)
    printf("%s\n", hca_golden_text(hca));
  else
    printf("the answer has %u bytes, syndrome 0x%02x\n", (unsigned)bytes, (unsigned)syndrome);
  /* Ethernet 14, IPv4 20, UDP 8, BTH 12, AETH 4, ICRC 4; an ACK has syndrome 0x00 to 0x1f. */
  bad = bad || bytes != 62 || syndrome > 0x1f;
  hca_golden_close(hca);
  return bad;
}
