# SPDX-License-Identifier: Apache-2.0
# The TensorFlow adapter: one library that needs TensorFlow's C API of the process it is loaded into, and nothing of it to
# be built. A stand-in with the same SONAME and the names of tf_api.h satisfies the linker; it is not installed.
set(adapter ${CMAKE_SOURCE_DIR}/adapters/tensorflow)
file(STRINGS ${adapter}/c_api/tf_api.h names REGEX "^[A-Za-z].* ?\\**TFE?_[A-Za-z0-9_]+\\(")
list(TRANSFORM names REPLACE ".*[ *](TFE?_[A-Za-z0-9_]+)\\(.*" "\\1")
list(TRANSFORM names REPLACE "(.+)" ".globl \\1\n.type \\1,@function\n\\1:" OUTPUT_VARIABLE lines)
list(JOIN lines "\n" text)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/tensorflow.S CONTENT ".text\n${text}\n.section .note.GNU-stack,\"\",@progbits\n" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${adapter}/c_api/tf_api.h)
add_library(tensorflow_stand_in SHARED ${CMAKE_BINARY_DIR}/generated/tensorflow.S)
target_link_options(tensorflow_stand_in PRIVATE -nostdlib)
set_target_properties(tensorflow_stand_in PROPERTIES OUTPUT_NAME tensorflow_cc SOVERSION 2 LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stand_in)

file(GLOB_RECURSE adapter_sources CONFIGURE_DEPENDS ${adapter}/*.cpp)
set(golden_sources ${adapter_sources})
list(FILTER adapter_sources EXCLUDE REGEX "_test\\.cpp$|/golden/")
list(FILTER golden_sources EXCLUDE REGEX "_test\\.cpp$")
list(FILTER golden_sources INCLUDE REGEX "/golden/")
add_library(anynpu_tensorflow SHARED ${adapter_sources})
precompiled(anynpu_tensorflow)
unity(anynpu_tensorflow adapters/tensorflow)
target_include_directories(anynpu_tensorflow PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/acl/include)
target_link_libraries(anynpu_tensorflow PRIVATE anynpu tensorflow_stand_in)
target_link_options(anynpu_tensorflow PRIVATE -Wl,-z,defs)
set_target_properties(anynpu_tensorflow PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")

# tfdbg_ascend, the dump of TensorFlow's own runs: a library of its own, for machines without an NPU. It needs none of ours.
add_library(tfdbg_ascend SHARED ${golden_sources})
precompiled(tfdbg_ascend)
unity(tfdbg_ascend adapters/tensorflow)
target_include_directories(tfdbg_ascend PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/acl/include)
target_link_libraries(tfdbg_ascend PRIVATE tensorflow_stand_in Threads::Threads)
target_link_options(tfdbg_ascend PRIVATE -Wl,-z,defs)
# Not in lib/, whose libraries all lead to the one of the device.
set_target_properties(tfdbg_ascend PROPERTIES BUILD_WITH_INSTALL_RPATH ON LIBRARY_OUTPUT_DIRECTORY
                                              ${CMAKE_BINARY_DIR}/tfdbg_ascend)

# The parts that call nothing of TensorFlow, in a program without it and without our library, so that sanitizers see all.
if(ANYNPU_TESTS)
  file(GLOB_RECURSE adapter_tests CONFIGURE_DEPENDS ${adapter}/*_test.cpp)
  add_executable(tensorflow_test ${adapter_tests} ${adapter}/input/channel.cpp ${adapter}/golden/file_name.cpp
                                 ${adapter}/golden/npy.cpp ${adapter}/golden/writer.cpp)
  precompiled(tensorflow_test TEST)
  target_include_directories(tensorflow_test PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/acl/include)
  target_link_libraries(tensorflow_test PRIVATE GTest::gtest_main Threads::Threads)
  add_test(NAME tensorflow COMMAND tensorflow_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
