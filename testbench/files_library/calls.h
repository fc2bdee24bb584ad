// SPDX-License-Identifier: Apache-2.0
// Between the files of the library.
#pragma once
#include "testbench/attach/interposed.h"
#include "testbench/files_library/place.h"
