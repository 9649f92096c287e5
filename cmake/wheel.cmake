# SPDX-License-Identifier: Apache-2.0
# What `pip install .` puts into the Python environment (pyproject.toml builds the target anynpu_wheel and installs the
# component wheel):
#   anynpu/lib64, anynpu/include   a toolkit folder for C programs: core, what it links (private_library.cmake) with the
#                                  licences, vendor-named libraries, headers
#   anynpu/bin      the migration tool, the comparison tool, the pages of profiles and atc; the commands exec them, and so
#                   do the scripts that guides name: npu_device/convert_tf2npu/main.py, npu_bridge/convert_tf2npu/main.py (for
#                   TensorFlow 1) and anynpu/tools/ms_fmk_transplt/ms_fmk_transplt.py
#   anynpu/opp      the lists of mixed precision, where guides look them up (operator_info.py)
#   anynpu/tools/profiler          msprof, where torch_npu looks for it
#   anynpu/atc, compiler, tools/aoe   atc and aoe, where tools of the guides look for them
#   anynpu/tools/precision_tool    the folder that users copy beside their script
#   anynpu/tools/adump/lib64       the library through which the published msaccucmp reads dump files
#   tfdbg_ascend    the library of the Python package beside it, which needs none of the others
#   acl.abi3.so     the module acl (pyACL), beside the packages
#   torch_npu.libs                 the vendor-named libraries once more, where torch-npu's RPATH looks first
# The copies are a few kilobytes each; all of them lead to the one libanynpu.so.
list(TRANSFORM filters PREPEND filter_ OUTPUT_VARIABLE filter_targets)
add_custom_target(anynpu_wheel DEPENDS anynpu anynpu_tensorflow tfdbg_ascend anynpu_torch pyacl
                                       anynpu-migrate anynpu-compare anynpu-atc anynpu-profile msprof
                                       ascend_dump_parser ${filter_targets})

set_target_properties(anynpu PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
set_target_properties(${filter_targets} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH
                                                                               "$ORIGIN:$ORIGIN/../anynpu/lib64")
install(TARGETS anynpu anynpu_tensorflow anynpu_torch ${filter_targets} LIBRARY DESTINATION anynpu/lib64 COMPONENT wheel)
install(TARGETS ${filter_targets} LIBRARY DESTINATION torch_npu.libs COMPONENT wheel)
set(package_of_crypto libssl3)
set(package_of_z zlib1g)
foreach(part ucm ucs uct ucp)
  set(package_of_${part} libucx0)
endforeach()
get_property(private GLOBAL PROPERTY ANYNPU_PRIVATE_LIBRARIES)
install(IMPORTED_RUNTIME_ARTIFACTS ${private} LIBRARY DESTINATION anynpu/lib64 COMPONENT wheel)
install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/ucx DESTINATION anynpu/lib64 COMPONENT wheel OPTIONAL)
foreach(library ${private})
  string(REPLACE "private_" "" name ${library})
  set(package lib${name}[0-9]*)
  if(DEFINED package_of_${name})
    set(package ${package_of_${name}})
  endif()
  file(GLOB licences /usr/share/doc/${package}/copyright ${dnnl_DIR}/../../../share/doc/${name}/[LT]*)
  install(FILES ${licences} DESTINATION anynpu/licenses/${name} COMPONENT wheel)
endforeach()
# Libraries of headers alone and archives are in ours; their licences ask to be named too.
foreach(package libprotozero-dev nlohmann-json3-dev libcli11-dev libyaml-cpp-dev libexpat1-dev libsqlite3-dev)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION anynpu/licenses/${package} COMPONENT wheel OPTIONAL)
endforeach()
install(FILES ${tree_sitter}/LICENSE DESTINATION anynpu/licenses/tree-sitter COMPONENT wheel)
install(FILES ${tree_sitter_python}/LICENSE DESTINATION anynpu/licenses/tree-sitter-python COMPONENT wheel)
install(TARGETS anynpu-migrate anynpu-compare anynpu-atc anynpu-profile RUNTIME DESTINATION anynpu/bin COMPONENT wheel)
install(TARGETS tfdbg_ascend LIBRARY DESTINATION tfdbg_ascend COMPONENT wheel)
install(TARGETS pyacl LIBRARY DESTINATION . COMPONENT wheel)
install(TARGETS ascend_dump_parser LIBRARY DESTINATION anynpu/tools/adump/lib64 COMPONENT wheel)
install(DIRECTORY tools/precision_tool DESTINATION anynpu/tools COMPONENT wheel PATTERN "*_test.py" EXCLUDE
        PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)
install(FILES tools/anynpu/tools/convert_tf2npu/main.py DESTINATION npu_device/convert_tf2npu COMPONENT wheel)
install(FILES tools/anynpu/tools/convert_tf2npu/tensorflow1.py DESTINATION npu_bridge/convert_tf2npu RENAME main.py
        COMPONENT wheel)
install(DIRECTORY acl/include/ ${generated}/include/ DESTINATION anynpu/include COMPONENT wheel FILES_MATCHING
        PATTERN "*.h")
# Where ASCEND_HOME_PATH is set, torch-npu does not start without these folders below it.
foreach(folder runtime compiler opp)
  file(WRITE ${CMAKE_BINARY_DIR}/toolkit/${folder}/README
       "Clients check that this folder of a toolkit exists. AnyNPU needs nothing in it: all code is in lib64.\n")
endforeach()
# Where guides look up the lists of mixed precision.
set(operator_info ${CMAKE_BINARY_DIR}/generated/operator_info.stamp)
add_custom_command(
  OUTPUT ${operator_info}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/operator_info.py ${CMAKE_BINARY_DIR}/toolkit/opp
  COMMAND ${CMAKE_COMMAND} -E touch ${operator_info}
  DEPENDS cmake/operator_info.py graph/precision/precision.tsv graph/ir/ops.tsv device/process/soc_profile.tsv
  COMMENT "Writing the operators' lists of mixed precision")
add_custom_target(operator_info ALL DEPENDS ${operator_info})
add_dependencies(anynpu_wheel operator_info)
# Where torch-npu's Python reads which CANN this is: it chooses optimizers by it, and shows it as torch.version.cann.
file(STRINGS acl/runtime/info.cpp version REGEX "kVersion = ")
string(REGEX REPLACE ".*\"(.+)\".*" "version=\\1\n" version "${version}")
file(WRITE ${CMAKE_BINARY_DIR}/toolkit/runtime/ascend_toolkit_install.info "package_name=Ascend-cann-toolkit\n${version}")
# Where scripts source the environment from: below ASCEND_HOME_PATH, and below the folder that guides install into.
foreach(script set_env.sh bin/setenv.bash ascend-toolkit/set_env.sh nnae/set_env.sh tfplugin/set_env.sh)
  configure_file(cmake/set_env.sh ${CMAKE_BINARY_DIR}/toolkit/${script} COPYONLY)
endforeach()
# Where tools of the guides look for the programs themselves.
foreach(program atc/bin/atc compiler/bin/atc tools/aoe/bin/aoe)
  get_filename_component(name ${program} NAME)
  configure_file(cmake/toolkit/${name} ${CMAKE_BINARY_DIR}/toolkit/${program} COPYONLY)
endforeach()
# Where Python programs look for the module acl.
configure_file(cmake/toolkit/acl.py ${CMAKE_BINARY_DIR}/toolkit/python/site-packages/acl.py COPYONLY)
# Profilers look for their libraries in the toolkit; an installed one has a folder of this name.
file(CREATE_LINK ../lib ${CMAKE_BINARY_DIR}/toolkit/lib64 SYMBOLIC)
install(DIRECTORY ${CMAKE_BINARY_DIR}/toolkit/ DESTINATION anynpu COMPONENT wheel USE_SOURCE_PERMISSIONS PATTERN lib64 EXCLUDE)
install(FILES tools/anynpu/anynpu-preload.pth DESTINATION . COMPONENT wheel)
set_source_files_properties(${CMAKE_SOURCE_DIR}/acl/introspection/registry.cpp ${CMAKE_SOURCE_DIR}/comm/rendezvous/registrar.cpp
                            ${CMAKE_SOURCE_DIR}/ops/tuning/bank.cpp
                            PROPERTIES COMPILE_DEFINITIONS ANYNPU_VERSION="${PROJECT_VERSION}")
