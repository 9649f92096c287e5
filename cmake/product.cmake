# SPDX-License-Identifier: Apache-2.0
# The one core library, and around it the vendor-named filter libraries: everything a client loads, in build/lib/.
# acl/generate turns the tables of acl/ into the C entries, the public headers, the list of exported names and the
# filter libraries' symbols.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(generated ${CMAKE_BINARY_DIR}/generated)
file(GLOB tables CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/acl/*.tsv ${CMAKE_SOURCE_DIR}/acl/aclnn/functions/*.tsv)
file(GLOB generator CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/acl/generate/*.py)
file(GLOB families CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/acl/aclnn/functions/*.tsv)
list(TRANSFORM families REPLACE ".*/([^/]+)\\.tsv" "${generated}/entries/\\1.cpp" OUTPUT_VARIABLE entries)
list(APPEND entries ${generated}/entries/rows.cpp ${generated}/entries/unsupported.cpp)

# Libraries that clients name when they link or load; the `library` column of acl/symbols.tsv says what each one shows.
set(filters ascendcl acl_rt opapi opapi_math opapi_nn nnopbase acl_op_compiler ge_runner ge_compiler fmk_onnx_parser graph hccl hcomm acl_tdt_channel
            acl_cblas acl_dvpp acl_retr msprofiler mspti ms_tools_ext ascend_hal dcmi drvdsmi_host)
list(TRANSFORM filters PREPEND lib OUTPUT_VARIABLE filter_names)
list(TRANSFORM filters REPLACE "(.+)" "${generated}/filter/lib\\1.S" OUTPUT_VARIABLE filter_sources)

add_custom_command(
  OUTPUT ${entries} ${generated}/exports.map ${filter_sources}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/acl/generate --tables ${CMAKE_SOURCE_DIR}/acl --out ${generated}
          --libraries ${filter_names}
  DEPENDS ${tables} ${generator}
  COMMENT "Generating the C entries from the tables of acl/"
  VERBATIM)
add_custom_target(generate_door DEPENDS ${entries} ${generated}/exports.map ${filter_sources})

target_sources(anynpu_acl PRIVATE ${entries})
set_source_files_properties(${entries} PROPERTIES COMPILE_OPTIONS "-O1;-g0" SKIP_PRECOMPILE_HEADERS ON)  # thousands of small forwarders
target_include_directories(anynpu_acl PUBLIC ${CMAKE_SOURCE_DIR}/acl/include ${generated}/include)
add_dependencies(anynpu_acl generate_door)

set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_library(anynpu SHARED)
get_property(rooms GLOBAL PROPERTY ANYNPU_ROOMS)
target_link_libraries(anynpu PRIVATE ${rooms})
target_link_options(anynpu PRIVATE -Wl,-z,defs -Wl,--version-script=${generated}/exports.map -Wl,--no-undefined-version)
set_target_properties(anynpu PROPERTIES LINK_DEPENDS ${generated}/exports.map)

foreach(filter ${filters})
  add_library(filter_${filter} SHARED ${generated}/filter/lib${filter}.S)
  add_dependencies(filter_${filter} anynpu)
  set_target_properties(filter_${filter} PROPERTIES OUTPUT_NAME ${filter} LINKER_LANGUAGE C BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
  # DT_FILTER: every look-up in this library is answered by libanynpu.so. DT_NEEDED would only load it beside.
  target_link_options(filter_${filter} PRIVATE -nostdlib -Wl,--filter,libanynpu.so)
endforeach()

if(ANYNPU_TESTS)
  foreach(client client ggml_client)
    add_executable(door_${client} ${CMAKE_SOURCE_DIR}/tests/door/${client}.c)
    target_include_directories(door_${client} PRIVATE ${CMAKE_SOURCE_DIR}/acl/include ${generated}/include)
    target_link_libraries(door_${client} PRIVATE filter_ascendcl filter_opapi filter_nnopbase ${CMAKE_DL_LIBS})
    add_dependencies(door_${client} filter_graph)
    add_test(NAME door_${client} COMMAND door_${client})
  endforeach()
  add_executable(door_dlopen_client ${CMAKE_SOURCE_DIR}/tests/door/dlopen_client.c)
  target_link_libraries(door_dlopen_client PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(door_dlopen_client filter_opapi)
  add_test(NAME door_dlopen_client COMMAND door_dlopen_client ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libopapi.so)
  # The two prototypes that clients of aclnnMaskedScale know, as a compiler passes their number with and without care.
  foreach(number float double)
    foreach(level 0 2)
      set(caller door_masked_scale_${number}_O${level})
      add_executable(${caller} ${CMAKE_SOURCE_DIR}/tests/door/masked_scale.c)
      target_include_directories(${caller} PRIVATE ${CMAKE_SOURCE_DIR}/acl/include ${generated}/include)
      target_compile_definitions(${caller} PRIVATE NUMBER=${number})
      target_compile_options(${caller} PRIVATE -O${level})
      target_link_libraries(${caller} PRIVATE filter_ascendcl filter_opapi filter_nnopbase)
      add_test(NAME ${caller} COMMAND ${caller})
    endforeach()
  endforeach()
endif()
