# SPDX-License-Identifier: Apache-2.0
# The compiler is looked for before CMake does, whose own text names no package. Without one nothing else can be looked
# for either, so all that the build needs is named.
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/debian-packages.txt packages REGEX "^[^#]+ build( |$)")
  list(TRANSFORM packages REPLACE " .*" "")
  list(JOIN packages " " packages)
  message(FATAL_ERROR "AnyNPU needs a C++ compiler. Install all that it builds with:\n  apt-get install -y ${packages}")
endif()
enable_language(C)
enable_language(CXX)
enable_language(ASM)
