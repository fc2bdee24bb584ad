// SPDX-License-Identifier: Apache-2.0
// DPI-C imports of hca_golden.h, which says what each function does. A frame is a vector with its
// length: byte i is bits 8 * i + 7 to 8 * i.
`ifndef HCA_GOLDEN_SVH
`define HCA_GOLDEN_SVH

localparam int unsigned GoldenFrameBytes = 4352;
typedef bit [8*GoldenFrameBytes-1:0] golden_frame_t;

localparam int GoldenOk = 0;
localparam int GoldenNothing = 1;
localparam int GoldenDiffers = 2;
localparam int GoldenBadInput = 3;
localparam int GoldenNoFrame = -1;
localparam int unsigned GoldenEthernet = 0;
localparam int unsigned GoldenInfiniband = 1;

import "DPI-C" function int hca_golden_frame_check(input golden_frame_t frame, input int unsigned bytes,
                                                   input int unsigned link);
import "DPI-C" function string hca_golden_frame_verdict(input int verdict);
import "DPI-C" function int hca_golden_frame_field(input golden_frame_t frame, input int unsigned bytes,
                                                   input int unsigned link, input string name,
                                                   output longint unsigned value);
import "DPI-C" function int hca_golden_frame_icrc(input golden_frame_t frame, input int unsigned bytes,
                                                  input int unsigned link, output int unsigned icrc);

import "DPI-C" function chandle hca_golden_open(input string setup);
import "DPI-C" function void hca_golden_close(input chandle hca);
import "DPI-C" function int hca_golden_code(input chandle hca);
import "DPI-C" function string hca_golden_text(input chandle hca);
import "DPI-C" function int hca_golden_do(input chandle hca, input string step);
import "DPI-C" function int hca_golden_explain(input chandle hca, input int unsigned bytes,
                                               input int unsigned link, input string name);
import "DPI-C" function int hca_golden_build(input chandle hca, input string packet,
                                             output golden_frame_t frame, output int unsigned bytes);
import "DPI-C" function int hca_golden_compare(input chandle hca, input string packet,
                                               input golden_frame_t frame, input int unsigned bytes);
import "DPI-C" function int hca_golden_encode(input chandle hca, input string structure, input string fields,
                                              output golden_frame_t to, output int unsigned bytes);
import "DPI-C" function int hca_golden_receive(input chandle hca, input int unsigned port,
                                               input golden_frame_t frame, input int unsigned bytes);
import "DPI-C" function int hca_golden_sent(input chandle hca, output golden_frame_t frame,
                                            output int unsigned bytes);
import "DPI-C" function int hca_golden_completion(input chandle hca);
import "DPI-C" function int hca_golden_event(input chandle hca);
import "DPI-C" function int hca_golden_query(input chandle hca, input string qp, input string field,
                                             output longint unsigned value);
import "DPI-C" function int hca_golden_drops(input chandle hca, input int unsigned port, input string counter,
                                             output longint unsigned value);
import "DPI-C" function int hca_golden_memory(input chandle hca, input string region, input longint unsigned at,
                                              input int unsigned count, output golden_frame_t to);
`endif
