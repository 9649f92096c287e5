# SPDX-License-Identifier: Apache-2.0
# The module acl (pyACL): one extension for every Python since 3.10, made from adapters/pyacl/functions.tsv and a few
# functions by hand. It needs libanynpu.so of the folder beside it, and of Python only the headers.
set(pyacl ${CMAKE_SOURCE_DIR}/adapters/pyacl)
find_package(Python3 3.10 QUIET COMPONENTS Interpreter Development.Module)
if(NOT Python3_Development.Module_FOUND)
  message(FATAL_ERROR "AnyNPU needs the headers of Python. Install them with:\n  apt-get install -y python3-dev")
endif()
file(GLOB_RECURSE pyacl_sources CONFIGURE_DEPENDS ${pyacl}/*.cpp)
file(GLOB pyacl_generator CONFIGURE_DEPENDS ${pyacl}/generate/*.py)
file(STRINGS ${pyacl}/functions.tsv lines)
list(REMOVE_AT lines 0)
set(pyacl_made ${generated}/pyacl/parts.cpp)
foreach(line ${lines})
  string(REGEX MATCH "^[^\t]+" name "${line}")
  string(REGEX REPLACE "^([a-z0-9_]+)\\.?.*" "\\1" module "${name}")
  if(NOT name MATCHES "\\.")
    set(module acl)
  endif()
  list(APPEND pyacl_made ${generated}/pyacl/part_${module}.cpp)
endforeach()
list(REMOVE_DUPLICATES pyacl_made)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pyacl}/functions.tsv)
add_custom_command(
  OUTPUT ${pyacl_made}
  COMMAND ${Python3_EXECUTABLE} ${pyacl}/generate --table ${pyacl}/functions.tsv --out ${generated}/pyacl
  DEPENDS ${pyacl}/functions.tsv ${pyacl_generator}
  COMMENT "Generating the module acl from adapters/pyacl/functions.tsv"
  VERBATIM)

add_library(pyacl MODULE ${pyacl_sources} ${pyacl_made})
unity(pyacl adapters/pyacl)
target_include_directories(pyacl PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/acl/include)
target_include_directories(pyacl SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_compile_options(pyacl PRIVATE -fvisibility=hidden)
target_link_libraries(pyacl PRIVATE anynpu)
# Not in lib/: a folder for PYTHONPATH, where the module is tried without being installed.
set_target_properties(pyacl PROPERTIES OUTPUT_NAME acl PREFIX "" SUFFIX .abi3.so BUILD_WITH_INSTALL_RPATH ON
                                       INSTALL_RPATH "$ORIGIN/anynpu/lib64:$ORIGIN/../lib"
                                       LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/pyacl)
