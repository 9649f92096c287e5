# SPDX-License-Identifier: Apache-2.0
# tree-sitter and its grammar of Python: sources, compiled into the migration tool. cmake/setup.sh unpacks what the group
# `source` of pyproject.toml pins into .venv/src; where that was not run (pip install .), pip fetches the same here.
file(STRINGS ${CMAKE_SOURCE_DIR}/pyproject.toml pin REGEX "^source = ")
string(REGEX MATCHALL "[a-z-]+==[0-9.]+" pins "${pin}")
set(places ${CMAKE_SOURCE_DIR}/.venv/src $ENV{VIRTUAL_ENV}/src ${git_folder}/../.venv/src ${CMAKE_BINARY_DIR}/src)

function(find_sources)
  foreach(pin ${pins})
    string(REGEX MATCH "([a-z-]+)==([0-9.]+)" _ ${pin})
    string(REPLACE "-" "_" name ${CMAKE_MATCH_1})
    unset(${name} CACHE)
    find_path(${name} PKG-INFO PATHS ${places} PATH_SUFFIXES ${CMAKE_MATCH_1}-${CMAKE_MATCH_2} ${name}-${CMAKE_MATCH_2}
              NO_DEFAULT_PATH)
  endforeach()
endfunction()

find_sources()
if(NOT tree_sitter OR NOT tree_sitter_python)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHON=${PYTHON_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/fetch_sources.sh ${CMAKE_BINARY_DIR}/src ${pins}
                  RESULT_VARIABLE failed ERROR_VARIABLE text)
  find_sources()
endif()
if(NOT tree_sitter OR NOT tree_sitter_python)
  message(FATAL_ERROR "AnyNPU needs the sources of ${pins} (${text}).\nUnpack them into .venv/src with: cmake/setup.sh build")
endif()

# The grammar asks for headers of the core as tree_sitter/*.h.
foreach(header parser alloc array ts_assert)
  configure_file(${tree_sitter}/tree_sitter/core/lib/src/${header}.h
                 ${CMAKE_BINARY_DIR}/generated/grammar/tree_sitter/${header}.h COPYONLY)
endforeach()
add_library(tree_sitter STATIC ${tree_sitter}/tree_sitter/core/lib/src/lib.c)
target_include_directories(tree_sitter SYSTEM PUBLIC ${tree_sitter}/tree_sitter/core/lib/include
                           PRIVATE ${tree_sitter}/tree_sitter/core/lib/src)
add_library(tree_sitter_python STATIC ${tree_sitter_python}/src/parser.c ${tree_sitter_python}/src/scanner.c)
target_include_directories(tree_sitter_python PRIVATE ${CMAKE_BINARY_DIR}/generated/grammar)
target_link_libraries(tree_sitter_python PUBLIC tree_sitter)
target_compile_options(tree_sitter PRIVATE -w)
target_compile_options(tree_sitter_python PRIVATE -w)
