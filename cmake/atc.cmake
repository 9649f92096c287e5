# SPDX-License-Identifier: Apache-2.0
# The command atc: a program of its own over the library's door, and the part of graph that reads dumped files.
set(atc ${CMAKE_SOURCE_DIR}/tools/atc)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${atc}/*.cpp)
set(tests ${sources})
list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
find_package(CLI11 REQUIRED)
add_library(anynpu_atc_objects OBJECT ${sources})
precompiled(anynpu_atc_objects)
unity(anynpu_atc_objects tools/atc)
target_include_directories(anynpu_atc_objects PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/acl/include)
target_link_libraries(anynpu_atc_objects PUBLIC ${libraries} CLI11::CLI11)

add_executable(anynpu-atc ${atc}/main.cpp ${seen})
target_link_libraries(anynpu-atc PRIVATE anynpu_atc_objects anynpu)
set_target_properties(anynpu-atc PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin BUILD_WITH_INSTALL_RPATH ON
                                            INSTALL_RPATH "$ORIGIN/../lib64:$ORIGIN/../lib")
target_link_options(anynpu-atc PRIVATE -Wl,-rpath-link,${CMAKE_BINARY_DIR}/lib)

if(ANYNPU_TESTS)
  add_executable(atc_test ${tests} ${seen})
  precompiled(atc_test TEST)
  unity(atc_test tools/atc)
  target_link_libraries(atc_test PRIVATE anynpu_atc_objects anynpu GTest::gtest_main)
  add_test(NAME atc COMMAND atc_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
