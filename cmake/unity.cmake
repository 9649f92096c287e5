# SPDX-License-Identifier: Apache-2.0
# unity(TARGET FOLDER): compiles sources of TARGET that lie below FOLDER in units of up to twelve: each unit reads the
# headers once, so the whole takes less than half the time. unity_groups.py chooses sources whose names do not clash;
# sources with compile options of their own stay alone.
# The tools link the objects of graph/dump/record without the rest of graph: it has units of its own.
# -DANYNPU_UNITY=OFF compiles each source by itself: for clang-tidy, and to see that each includes what it uses.
option(ANYNPU_UNITY "compile several sources as one unit" ON)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/unity_groups.py)
# tools/migrate links its object without the rest of base.
set_source_files_properties(base/json.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# A unit of kernels is what Highway includes once for each instruction set. Its sources ask for that too, each for
# itself: their requests have no effect inside, and the last lines undo what they have defined.
function(kernel_unit target name)
  set(unit ${CMAKE_BINARY_DIR}/unity/${name}.cpp)
  set(again "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"${unit}\"\n")
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
  list(JOIN includes "" includes)
  file(CONFIGURE OUTPUT ${unit} @ONLY
       CONTENT "#include \"ops/vector/target.h\"\n${again}#include <hwy/foreach_target.h>\n${includes}${again}")
  target_sources(${target} PRIVATE ${unit})
  set_source_files_properties(${unit} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_source_files_properties(${ARGN} PROPERTIES HEADER_FILE_ONLY ON)
endfunction()

# Folders whose code runs once a command, a model or a job, and not over data: they are compiled with fewer passes of the
# optimiser, which are a fifth of what a source takes.
set(once acl/introspection acl/tuning comm/rendezvous graph/cache graph/convert graph/import graph/passes graph/precision
         graph/report tools/atc tools/compare/face tools/compare/folder tools/compare/network tools/compare/overflow
         tools/compare/page tools/compare/report tools/compare/rule tools/compare/side tools/migrate tools/profile/face
         tools/profile/report)
list(JOIN once "|" ONCE)

# Options of a source, or of the unit of that name: CMake leaves sources with options of their own out of units.
function(optimise_less target source)
  if(NOT IS_ABSOLUTE ${source})
    set(source ${CMAKE_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${source}_cxx.cxx)
  endif()
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -O1)
endfunction()

function(unity target folder)
  get_target_property(sources ${target} SOURCES)
  get_target_property(type ${target} TYPE)
  list(FILTER sources INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/${folder}/")
  set(less ${sources})
  list(FILTER less INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/(${ONCE})/")
  if(type STREQUAL "EXECUTABLE" OR ANYNPU_SANITIZE)  # these have options of their own
    set(less "")
  endif()
  if(ANYNPU_UNITY)
    set(joined "")
    foreach(source ${sources})
      get_source_file_property(alone ${source} SKIP_PRECOMPILE_HEADERS)
      if(NOT alone)
        list(APPEND joined ${source})
      endif()
    endforeach()
    list(TRANSFORM joined REPLACE "^${CMAKE_SOURCE_DIR}/" "")
    list(JOIN joined "\n" lines)
    file(WRITE ${CMAKE_BINARY_DIR}/unity/${target}.txt "${lines}")
    execute_process(
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/unity_groups.py --root ${CMAKE_SOURCE_DIR} --below ${folder} --apart graph/dump/record
      INPUT_FILE ${CMAKE_BINARY_DIR}/unity/${target}.txt OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[^\n]+" lines "${lines}")
    foreach(line ${lines})
      string(REPLACE " " ";" members "${line}")
      list(POP_FRONT members name)
      list(TRANSFORM members PREPEND ${CMAKE_SOURCE_DIR}/)
      if(name MATCHES "_kernels$")
        kernel_unit(${target} ${name} ${members})
      else()
        set_source_files_properties(${members} PROPERTIES UNITY_GROUP ${name})
      endif()
      list(GET members 0 first)
      if(first IN_LIST less)  # and so are the others: units do not mix folders
        list(REMOVE_ITEM less ${members})
        list(APPEND less ${name})
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endif()
  foreach(source ${less})
    optimise_less(${target} ${source})
  endforeach()
endfunction()
