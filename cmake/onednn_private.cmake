# SPDX-License-Identifier: Apache-2.0
# make_private(SHARED_LIBRARY INCLUDE_FOLDER): a copy of oneDNN that no other oneDNN in the process can meet. The
# library becomes lib/libanynpu_onednn.so and each of its functions dnnl_x becomes anynpu_dnnl_x; the copied headers say
# the same, so sources use the documented names. Frameworks bring their own oneDNN, often with another threading
# runtime: without this, whichever is loaded first would answer for both. Makes the imported target private_onednn.
function(make_private library headers)
  set(folder ${CMAKE_BINARY_DIR}/onednn)
  file(REAL_PATH ${library} library)
  private_library(onednn ${library} stale)
  set_target_properties(private_onednn PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${folder}/include)
  if(NOT stale)
    return()
  endif()

  execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${library} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " dnnl_[a-z0-9_]+" names "${symbols}")
  set(map "")
  set(defines "")
  foreach(name ${names})
    string(STRIP ${name} name)
    string(APPEND map "${name} anynpu_${name}\n")
    string(APPEND defines "#define ${name} anynpu_${name}\n")
  endforeach()
  file(WRITE ${folder}/symbols.txt "${map}")

  file(REMOVE_RECURSE ${folder}/include)
  file(COPY ${headers}/ DESTINATION ${folder}/include FILES_MATCHING PATTERN "dnnl*")
  set(config ${folder}/include/oneapi/dnnl/dnnl_config.h)  # every header of oneDNN includes it first
  file(APPEND ${config} "\n#ifndef ANYNPU_PRIVATE_ONEDNN\n#define ANYNPU_PRIVATE_ONEDNN\n${defines}#endif\n")
  private_copy(onednn ${library} --rename-dynamic-symbols ${folder}/symbols.txt
               --replace-needed libgomp.so.1 libanynpu_gomp.so)
endfunction()
