# SPDX-License-Identifier: Apache-2.0
# cmake -D build=B -D prefix=P -P install.cmake: an install of B into an empty P, which must hold what users include.
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(path include/hca/model/proto/wire/headers.h include/hca/model/engine/link.h include/hca/tlm/wire/wire.h bin/hca)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "the installed package lacks ${path}")
  endif()
endforeach()
