// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/fresh_kernel.h"
