# SPDX-License-Identifier: Apache-2.0
# The comparison tool: a program of its own, which starts without our libraries. Of the rooms it sees base and the part of
# graph that reads dump files, as the map says.
set(compare ${CMAKE_SOURCE_DIR}/tools/compare)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${compare}/*.cpp)
set(tests ${sources})
list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
list(FILTER sources EXCLUDE REGEX "(_test|/main|/parser)\\.cpp$")
set(seen $<TARGET_OBJECTS:anynpu_base> $<FILTER:$<TARGET_OBJECTS:anynpu_graph>,INCLUDE,/graph/dump/record/|/unity_graph_dump_record_>)

set(libraries private_fmt private_hwy Threads::Threads)

add_library(anynpu_compare_objects OBJECT ${sources})
precompiled(anynpu_compare_objects)
unity(anynpu_compare_objects tools/compare)
target_include_directories(anynpu_compare_objects PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(anynpu_compare_objects PUBLIC ${libraries})

add_executable(anynpu-compare ${compare}/main.cpp ${seen})
target_link_libraries(anynpu-compare PRIVATE anynpu_compare_objects)
set_target_properties(anynpu-compare PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin BUILD_WITH_INSTALL_RPATH ON
                                                INSTALL_RPATH "$ORIGIN/../lib64:$ORIGIN/../lib")

# Through this library the published msaccucmp reads dump files.
add_library(ascend_dump_parser SHARED ${compare}/parser.cpp ${seen})
target_include_directories(ascend_dump_parser PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(ascend_dump_parser PRIVATE ${libraries})
set_target_properties(ascend_dump_parser PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tools/adump/lib64
                      BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../../../lib64:$ORIGIN/../../../lib")

if(ANYNPU_TESTS AND tests)
  add_executable(compare_test ${tests} ${seen})
  precompiled(compare_test TEST)
  unity(compare_test tools/compare)
  target_link_libraries(compare_test PRIVATE anynpu_compare_objects GTest::gtest_main)
  add_test(NAME compare COMMAND compare_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
