# SPDX-License-Identifier: Apache-2.0
# precompiled(TARGET [TEST]): TARGET reads the headers of the standard library and of fmt, and test programs those of
# GoogleTest, as parsed once for all targets. Sources include what they use all the same. A ccache store does without,
# and so do sanitizers.
if(CCACHE OR ANYNPU_SANITIZE)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
# GCC 12 forgets which headers are the system's when it has read them before, and warns of std::string in these, where
# there is nothing to warn of.
set_source_files_properties(
  device/memory/virtual.cpp tools/migrate/code/tensorflow_import.cpp tools/migrate/rule/pending.cpp
  tools/migrate/text/words.cpp tools/profile/report/page/modules_test.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# precompiled_headers(NAME [HEADER…]): the target whose parsed headers others use.
function(precompiled_headers name)
  set(headers algorithm array atomic chrono cmath condition_variable cstring deque exception filesystem fstream functional
              limits map memory mutex numeric optional set span string string_view thread tuple utility vector fmt/format.h)
  list(APPEND headers ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "<\\1>")
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled/${name}.cpp "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/precompiled/${name}.cpp)
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

# The compiler takes parsed headers only with the options and definitions they were parsed with.
function(parsed_alike target kind)
  foreach(library private_fmt private_hwy)
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>)
  endforeach()
  if(kind STREQUAL "test" AND NOT ANYNPU_SANITIZE)  # tests are compiled for the sake of one run
    target_compile_options(${target} PRIVATE -O1 -fno-tree-vectorize)
  endif()
endfunction()

precompiled_headers(precompiled_product)
parsed_alike(precompiled_product product)
if(ANYNPU_TESTS)
  precompiled_headers(precompiled_test gtest/gtest.h)
  set_target_properties(precompiled_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(precompiled_test PRIVATE -fPIE)  # as programs are
  target_link_libraries(precompiled_test PRIVATE GTest::gtest)
  parsed_alike(precompiled_test test)
endif()

function(precompiled target)
  cmake_parse_arguments(PRECOMPILED TEST "" "" ${ARGN})
  set(kind product)
  if(PRECOMPILED_TEST)
    set(kind test)
  endif()
  parsed_alike(${target} ${kind})
  target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
endfunction()
