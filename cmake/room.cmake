# SPDX-License-Identifier: Apache-2.0
# room(name USES a b): every source below name/ becomes the OBJECT library anynpu_name (so no registration is dropped),
# every *_test.cpp one case file of the program name_test, every *_bench.cpp one of name_bench. Adding a file edits
# nothing here. PARTS orders the folders inside (`.`: the files beside them, else the first), each of which sees those
# before it: tests/house/test_parts.py reads it. X_x86.cpp is built for such CPUs, X_other.cpp for all else.
function(room name)
  cmake_parse_arguments(ROOM "" "" "PARTS;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cpp$")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(FILTER sources EXCLUDE REGEX "_other\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "_x86\\.cpp$")
  endif()

  add_library(anynpu_${name} OBJECT ${sources})
  precompiled(anynpu_${name})
  unity(anynpu_${name} ${name})
  target_include_directories(anynpu_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(anynpu_${name} PUBLIC private_fmt private_hwy Threads::Threads)
  set(rooms anynpu_${name})  # objects reach a program only when it names their room itself
  foreach(used ${ROOM_USES})
    target_link_libraries(anynpu_${name} PUBLIC anynpu_${used})
    list(APPEND rooms anynpu_${used})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ANYNPU_ROOMS anynpu_${name})

  if(ANYNPU_TESTS AND tests)
    add_executable(${name}_test ${tests})
    precompiled(${name}_test TEST)
    unity(${name}_test ${name})
    target_link_libraries(${name}_test PRIVATE ${rooms} GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${name}_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
  if(ANYNPU_BENCHES AND benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE ${rooms} GTest::gtest benchmark::benchmark_main)
  endif()
endfunction()

# inside(folder PARTS a b): the order of the folders inside a part, an adapter or a tool, for the same test.
function(inside folder)
endfunction()
