# SPDX-License-Identifier: Apache-2.0
# The migration tool: a program of its own, which needs none of our libraries. Its rules and lists are inside it. Of the
# rooms it sees base/json.h.
include(tree_sitter)
set(migrate ${CMAKE_SOURCE_DIR}/tools/migrate)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${migrate}/*.cpp)
set(tests ${sources})
list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")

file(GLOB data CONFIGURE_DEPENDS ${migrate}/rules/*.yaml ${migrate}/rules/*.tsv ${migrate}/support/tensorflow.tsv
     ${migrate}/support/label.tsv)
set(embedded ${CMAKE_BINARY_DIR}/generated/migrate_data.cpp)
list(JOIN data "|" joined)
add_custom_command(OUTPUT ${embedded} COMMAND ${CMAKE_COMMAND} -DFILES=${joined} -DOUT=${embedded} -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
                   DEPENDS ${data} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)

set(seen $<FILTER:$<TARGET_OBJECTS:anynpu_base>,INCLUDE,/base/json\\.cpp>)
add_library(anynpu_migrate_objects OBJECT ${sources} ${embedded})
precompiled(anynpu_migrate_objects)
unity(anynpu_migrate_objects tools/migrate)
target_include_directories(anynpu_migrate_objects PUBLIC ${CMAKE_SOURCE_DIR})
find_package(CLI11 REQUIRED)
# The archives, where there is one: the program then needs no library of theirs.
find_library(yaml_cpp NAMES libyaml-cpp.a yaml-cpp NO_CACHE REQUIRED)
find_library(expat NAMES libexpat.a expat NO_CACHE REQUIRED)
# libxlsxwriter and what it needs go along as copies of our own (private_library.cmake).
function(bundle_for_sheets name)  # FILE [NEEDED-NAME PRIVATE-NAME]…
  list(POP_FRONT ARGN file)
  find_library(found NAMES ${file} NO_CACHE REQUIRED)
  file(REAL_PATH ${found} found)
  private_library(${name} ${found} stale)
  if(stale)
    set(renamed "")
    while(ARGN)
      list(POP_FRONT ARGN needed private)
      list(APPEND renamed --replace-needed ${needed} libanynpu_${private}.so)
    endwhile()
    private_copy(${name} ${found} ${renamed})
  endif()
endfunction()
bundle_for_sheets(z libz.so.1)
bundle_for_sheets(crypto libcrypto.so.3)
bundle_for_sheets(minizip minizip libz.so.1 z)
bundle_for_sheets(xlsxwriter xlsxwriter libminizip.so.1 minizip libcrypto.so.3 crypto libz.so.1 z)

target_link_libraries(
  anynpu_migrate_objects PUBLIC tree_sitter_python private_fmt CLI11::CLI11 ${yaml_cpp} ${expat} private_xlsxwriter
                                private_minizip Threads::Threads)
target_compile_definitions(anynpu_migrate_objects PUBLIC YAML_CPP_STATIC_DEFINE)

add_executable(anynpu-migrate ${migrate}/main.cpp ${seen})
target_link_libraries(anynpu-migrate PRIVATE anynpu_migrate_objects)
set_target_properties(anynpu-migrate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin BUILD_WITH_INSTALL_RPATH ON
                                                INSTALL_RPATH "$ORIGIN/../lib64:$ORIGIN/../lib")
target_link_options(anynpu-migrate PRIVATE -Wl,-rpath-link,${CMAKE_BINARY_DIR}/lib)
if(ANYNPU_TESTS AND tests)
  add_executable(migrate_test ${tests} ${seen})
  precompiled(migrate_test TEST)
  unity(migrate_test tools/migrate)
  target_link_options(migrate_test PRIVATE -Wl,-rpath-link,${CMAKE_BINARY_DIR}/lib)
  target_link_libraries(migrate_test PRIVATE anynpu_migrate_objects GTest::gtest_main)
  add_test(NAME migrate COMMAND migrate_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  add_executable(migrate_probe ${CMAKE_SOURCE_DIR}/tests/migrate/probe.cpp ${seen})
  target_link_libraries(migrate_probe PRIVATE anynpu_migrate_objects)
endif()
