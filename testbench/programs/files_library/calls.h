// SPDX-License-Identifier: Apache-2.0
// Declarations shared by the files of the library.
#pragma once
#include "testbench/programs/files_library/place.h"
#include "testbench/programs/server/interposed.h"
