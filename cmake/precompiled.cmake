# SPDX-License-Identifier: Apache-2.0
# precompiled(TARGET [TEST]): the standard library's headers that most sources read, and for test programs GoogleTest's,
# are parsed once for TARGET; the sources include what they use all the same. A store of ccache does without, and so do
# sanitizers.
if(CCACHE OR ANYNPU_SANITIZE)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
# GCC 12 forgets which headers are the system's when it has read them before, and warns of std::string in these, where
# there is nothing to warn of.
set_source_files_properties(
  device/memory/virtual.cpp tools/migrate/code/tensorflow_import.cpp tools/migrate/rule/pending.cpp
  tools/migrate/text/words.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
function(precompiled target)
  set(headers algorithm array atomic chrono cmath condition_variable cstring deque exception filesystem fstream functional
              limits map memory mutex numeric optional set span string string_view thread tuple utility vector)
  if(ARGN STREQUAL TEST)
    list(APPEND headers gtest/gtest.h)
    # Tests are compiled for the sake of one run.
    if(NOT ANYNPU_SANITIZE)
      target_compile_options(${target} PRIVATE -O1 -fno-tree-vectorize)
    endif()
  endif()
  list(TRANSFORM headers REPLACE "(.+)" "<\\1>")
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()
