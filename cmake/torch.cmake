# SPDX-License-Identifier: Apache-2.0
# What torch-npu needs beside the CUDA build of torch: a library that needs nothing of torch to be built or loaded.
add_library(anynpu_torch SHARED ${CMAKE_SOURCE_DIR}/adapters/torch/allocator_keys.cpp)
target_link_options(anynpu_torch PRIVATE -Wl,-z,defs)
