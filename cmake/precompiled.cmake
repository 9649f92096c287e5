# SPDX-License-Identifier: Apache-2.0
# precompiled(TARGET [TEST] [HEADER…]): headers that most sources read are parsed once for TARGET: the standard library's
# and fmt's, HEADERs of the house, and for test programs GoogleTest's. The sources include what they use all the same. A
# store of ccache does without, and so do sanitizers.
if(CCACHE OR ANYNPU_SANITIZE)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
# GCC 12 forgets which headers are the system's when it has read them before, and warns of std::string in these, where
# there is nothing to warn of.
set_source_files_properties(
  device/memory/virtual.cpp tools/migrate/code/tensorflow_import.cpp tools/migrate/rule/pending.cpp
  tools/migrate/text/words.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
# Of the house, what most sources of a room read.
set(read_in_device base/error.h)
set(read_in_ops base/error.h ops/operator.h)
set(read_in_comm base/error.h base/tensor.h)
set(read_in_graph graph/plan/plan.h)
set(read_in_acl base/error.h ops/operator.h)

function(precompiled target)
  cmake_parse_arguments(PRECOMPILED TEST "" "" ${ARGN})
  set(headers algorithm array atomic chrono cmath condition_variable cstring deque exception filesystem fstream functional
              limits map memory mutex numeric optional set span string string_view thread tuple utility vector fmt/format.h)
  if(PRECOMPILED_TEST)
    list(APPEND headers gtest/gtest.h)
    # Tests are compiled for the sake of one run.
    if(NOT ANYNPU_SANITIZE)
      target_compile_options(${target} PRIVATE -O1 -fno-tree-vectorize)
    endif()
  endif()
  list(TRANSFORM headers REPLACE "(.+)" "<\\1>")
  list(TRANSFORM PRECOMPILED_UNPARSED_ARGUMENTS PREPEND ${CMAKE_SOURCE_DIR}/)
  target_precompile_headers(${target} PRIVATE ${headers} ${PRECOMPILED_UNPARSED_ARGUMENTS})
endfunction()
