# SPDX-License-Identifier: Apache-2.0
# machine_limit: what this machine can do at most; the benchmarks of tests/bench hold their times against it.
if(NOT ANYNPU_BENCHES)
  return()
endif()
set(folder ${CMAKE_SOURCE_DIR}/tests/bench/machine_limit)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(dot ${folder}/dot_x86.cpp)
else()
  set(dot ${folder}/dot_other.cpp)
endif()
add_executable(machine_limit ${folder}/limit.cpp ${folder}/vector.cpp ${dot})
target_include_directories(machine_limit PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(machine_limit PRIVATE private_hwy Threads::Threads)
