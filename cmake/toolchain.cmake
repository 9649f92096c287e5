# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and code generation for every room.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or Sanitize" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(ANYNPU_SANITIZE "" CACHE STRING "address,undefined or thread: build for `make sanitize`")
option(ANYNPU_TESTS "build the test programs" ON)
option(ANYNPU_BENCHES "build the benchmark programs" OFF)

add_compile_options(-Wall -Wextra -Werror -fno-gnu-unique)
# gcc frees memory only when it has used half a gigabyte: looking for it takes a tenth of the time that a source takes.
add_compile_options(--param=ggc-min-heapsize=524288)
# No trapping maths and no errno: loops over float may then become vector code; NaN and infinities keep their meaning.
add_compile_options(-fno-math-errno -fno-trapping-math)
# Products and sums are rounded one by one here, as by the operators that it stands for. (A precompiled header would bring
# its own options along.)
set_source_files_properties(ops/vector/chain/joined_hard.cpp PROPERTIES COMPILE_OPTIONS -ffp-contract=off
                                                                        SKIP_PRECOMPILE_HEADERS ON)
# Error places and log lines name files from the repository's root, wherever it was built.
# (ccache may pass relative paths.)
add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/= -fmacro-prefix-map=../=)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -ftree-vectorize -fvect-cost-model=dynamic")
option(ANYNPU_LINES "lines of the sources for debuggers and profilers; without them these show functions only" OFF)
if(ANYNPU_LINES OR ANYNPU_SANITIZE)
  add_compile_options(-g1)
  add_link_options(-Wl,--compress-debug-sections=zlib)  # they are four fifths of a library otherwise
endif()
if(ANYNPU_SANITIZE)
  # Checked code makes gcc 12 see uninitialized values in <regex>, where none are.
  add_compile_options(-fsanitize=${ANYNPU_SANITIZE} -fno-omit-frame-pointer -Wno-tsan -O1 -fno-tree-vectorize
                      -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=${ANYNPU_SANITIZE})
  # Clients in C put any number into an enum of the interface; gcc takes it as it is, and the call refuses it.
  add_compile_options(-fno-sanitize=enum)
  # Kernels for this machine only: three instruction sets would take three times as long to compile.
  add_compile_options(-march=native -ffp-contract=off)
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
endif()
# ccache is used where it is there; its store stays in the build folder unless the user has named one.
find_program(CCACHE ccache)
if(CCACHE AND DEFINED ENV{CCACHE_DIR})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
elseif(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DIR=${CMAKE_BINARY_DIR}/.ccache ${CCACHE})
endif()
