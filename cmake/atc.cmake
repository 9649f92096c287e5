# SPDX-License-Identifier: Apache-2.0
# The command atc: a program of its own, which starts without our libraries. Of the rooms it sees base and the part of
# graph that reads dumped files, as the map says.
set(atc ${CMAKE_SOURCE_DIR}/tools/atc)
add_library(anynpu_atc_objects OBJECT ${atc}/command.cpp)
target_include_directories(anynpu_atc_objects PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(anynpu_atc_objects PUBLIC ${libraries})

add_executable(anynpu-atc ${atc}/main.cpp ${seen})
target_link_libraries(anynpu-atc PRIVATE anynpu_atc_objects)
set_target_properties(anynpu-atc PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin BUILD_WITH_INSTALL_RPATH ON
                                            INSTALL_RPATH "$ORIGIN/../lib64:$ORIGIN/../lib")

if(ANYNPU_TESTS)
  add_executable(atc_test ${atc}/command_test.cpp ${seen})
  target_link_libraries(atc_test PRIVATE anynpu_atc_objects GTest::gtest_main)
  add_test(NAME atc COMMAND atc_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
