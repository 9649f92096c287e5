# SPDX-License-Identifier: Apache-2.0
# The migration tool: a program of its own, which needs none of our libraries. Its rules and lists are inside it.
include(tree_sitter)
set(migrate ${CMAKE_SOURCE_DIR}/tools/migrate)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${migrate}/*.cpp)
set(tests ${sources})
list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")

file(GLOB data CONFIGURE_DEPENDS ${migrate}/rules/*.yaml ${migrate}/rules/*.tsv ${migrate}/support/*.tsv)
set(embedded ${CMAKE_BINARY_DIR}/generated/migrate_data.cpp)
list(JOIN data "|" joined)
add_custom_command(OUTPUT ${embedded} COMMAND ${CMAKE_COMMAND} -DFILES=${joined} -DOUT=${embedded} -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
                   DEPENDS ${data} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)

add_library(anynpu_migrate_objects OBJECT ${sources} ${embedded})
target_include_directories(anynpu_migrate_objects PUBLIC ${CMAKE_SOURCE_DIR})
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
# The archives, where there is one: the program then needs no library of theirs.
find_library(yaml_cpp NAMES libyaml-cpp.a yaml-cpp NO_CACHE REQUIRED)
find_library(expat NAMES libexpat.a expat NO_CACHE REQUIRED)
# libxlsxwriter and what it needs go along as copies of our own (private_library.cmake).
find_library(xlsxwriter xlsxwriter NO_CACHE REQUIRED)
find_library(minizip minizip NO_CACHE REQUIRED)
find_library(crypto NAMES libcrypto.so.3 NO_CACHE REQUIRED)
bundle(minizip ${minizip})
bundle(crypto ${crypto})
file(REAL_PATH ${xlsxwriter} xlsxwriter)
private_library(xlsxwriter ${xlsxwriter} stale)
if(stale)
  private_copy(xlsxwriter ${xlsxwriter} --replace-needed libminizip.so.1 libanynpu_minizip.so --replace-needed
               libcrypto.so.3 libanynpu_crypto.so)
endif()
target_link_libraries(
  anynpu_migrate_objects PUBLIC tree_sitter_python fmt::fmt-header-only CLI11::CLI11 nlohmann_json::nlohmann_json ${yaml_cpp}
                                ${expat} private_xlsxwriter private_minizip Threads::Threads)
target_compile_definitions(anynpu_migrate_objects PUBLIC YAML_CPP_STATIC_DEFINE)

add_executable(anynpu-migrate ${migrate}/main.cpp)
target_link_libraries(anynpu-migrate PRIVATE anynpu_migrate_objects)
set_target_properties(anynpu-migrate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin BUILD_WITH_INSTALL_RPATH ON
                                                INSTALL_RPATH "$ORIGIN/../lib64:$ORIGIN/../lib")
if(ANYNPU_TESTS AND tests)
  add_executable(migrate_test ${tests})
  target_link_libraries(migrate_test PRIVATE anynpu_migrate_objects GTest::gtest_main)
  add_test(NAME migrate COMMAND migrate_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  add_executable(migrate_probe ${CMAKE_SOURCE_DIR}/tests/migrate/probe.cpp)
  target_link_libraries(migrate_probe PRIVATE anynpu_migrate_objects)
endif()
