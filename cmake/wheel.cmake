# SPDX-License-Identifier: Apache-2.0
# What `pip install .` puts into the Python environment (pyproject.toml builds the target anynpu_wheel and installs the
# component wheel):
#   anynpu/lib64, anynpu/include   a toolkit folder for C programs: core, what it links (private_library.cmake) with the
#                                  licences, vendor-named libraries, headers
#   torch_npu.libs                 the vendor-named libraries once more, where torch-npu's RPATH looks first
# The copies are a few kilobytes each; all of them lead to the one libanynpu.so.
list(TRANSFORM filters PREPEND filter_ OUTPUT_VARIABLE filter_targets)
add_custom_target(anynpu_wheel DEPENDS anynpu anynpu_tensorflow ${filter_targets})

set_target_properties(anynpu PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
set_target_properties(${filter_targets} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH
                                                                               "$ORIGIN:$ORIGIN/../anynpu/lib64")
install(TARGETS anynpu anynpu_tensorflow ${filter_targets} LIBRARY DESTINATION anynpu/lib64 COMPONENT wheel)
install(TARGETS ${filter_targets} LIBRARY DESTINATION torch_npu.libs COMPONENT wheel)
get_property(private GLOBAL PROPERTY ANYNPU_PRIVATE_LIBRARIES)
install(IMPORTED_RUNTIME_ARTIFACTS ${private} LIBRARY DESTINATION anynpu/lib64 COMPONENT wheel)
foreach(library ${private})
  string(REPLACE "private_" "" name ${library})
  file(GLOB licences /usr/share/doc/lib${name}[0-9]*/copyright ${dnnl_DIR}/../../../share/doc/${name}/[LT]*)
  install(FILES ${licences} DESTINATION anynpu/licenses/${name} COMPONENT wheel)
endforeach()
# Libraries of headers alone are in ours; their licences ask to be named too.
foreach(package libprotozero-dev nlohmann-json3-dev)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION anynpu/licenses/${package} COMPONENT wheel OPTIONAL)
endforeach()
install(DIRECTORY acl/include/ ${generated}/include/ DESTINATION anynpu/include COMPONENT wheel FILES_MATCHING
        PATTERN "*.h")
# Where ASCEND_HOME_PATH is set, torch-npu does not start without these folders below it.
foreach(folder runtime compiler opp)
  file(WRITE ${CMAKE_BINARY_DIR}/toolkit/${folder}/README
       "Clients check that this folder of a toolkit exists. AnyNPU needs nothing in it: all code is in lib64.\n")
endforeach()
install(DIRECTORY ${CMAKE_BINARY_DIR}/toolkit/ DESTINATION anynpu COMPONENT wheel)
install(FILES tools/anynpu/anynpu-preload.pth DESTINATION . COMPONENT wheel)
set_source_files_properties(${CMAKE_SOURCE_DIR}/acl/registry.cpp PROPERTIES COMPILE_DEFINITIONS
                                                                            ANYNPU_VERSION="${PROJECT_VERSION}")
