# SPDX-License-Identifier: Apache-2.0
# msprof and anynpu-profile: programs of their own, which start without our libraries. Of the rooms they see base and the layout of records.
set(profile ${CMAKE_SOURCE_DIR}/tools/profile)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${profile}/*.cpp)
set(tests ${sources})
list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
set(seen $<TARGET_OBJECTS:anynpu_base>)

find_package(CLI11 REQUIRED)
find_library(sqlite libsqlite3.a REQUIRED)
add_library(anynpu_profile_objects OBJECT ${sources})
precompiled(anynpu_profile_objects)
unity(anynpu_profile_objects tools/profile)
target_include_directories(anynpu_profile_objects PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(anynpu_profile_objects PUBLIC private_fmt private_hwy CLI11::CLI11 ${sqlite} ${CMAKE_DL_LIBS} m
                      Threads::Threads)

add_executable(msprof ${profile}/main.cpp ${seen})
target_link_libraries(msprof PRIVATE anynpu_profile_objects)
set_target_properties(msprof PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/toolkit/tools/profiler/bin BUILD_WITH_INSTALL_RPATH ON
                                        INSTALL_RPATH "$ORIGIN/../../../lib64:$ORIGIN/../../../../lib")

add_executable(anynpu-profile ${profile}/report/main.cpp ${seen})
target_link_libraries(anynpu-profile PRIVATE anynpu_profile_objects)
set_target_properties(anynpu-profile PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin BUILD_WITH_INSTALL_RPATH ON
                                                INSTALL_RPATH "$ORIGIN/../lib64:$ORIGIN/../lib")

# torch_npu runs no msprof that has not this script in its toolkit.
configure_file(${profile}/msprof.py ${CMAKE_BINARY_DIR}/toolkit/tools/profiler/profiler_tool/analysis/msprof/msprof.py COPYONLY)

if(ANYNPU_TESTS AND tests)
  add_executable(profile_test ${tests} ${seen})
  precompiled(profile_test TEST)
  unity(profile_test tools/profile)
  target_link_libraries(profile_test PRIVATE anynpu_profile_objects GTest::gtest_main)
  add_test(NAME profile COMMAND profile_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
