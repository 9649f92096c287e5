# SPDX-License-Identifier: Apache-2.0
# oneDNN, the matrix and convolution engine. The wheels onednn-cpu-gomp and onednn-devel-cpu-gomp carry it; they put
# their files into the virtual environment, into the isolated environment of pip, or wherever CMAKE_PREFIX_PATH says.
# -Ddnnl_DIR=<folder of dnnl-config.cmake> names another build of it.
# A git worktree shares the environment of the checkout it belongs to.
execute_process(COMMAND git rev-parse --path-format=absolute --git-common-dir WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                OUTPUT_VARIABLE git_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(dnnl 3 CONFIG QUIET PATHS ${CMAKE_SOURCE_DIR}/.venv $ENV{VIRTUAL_ENV} ${git_folder}/../.venv)
if(NOT dnnl_FOUND)
  message(FATAL_ERROR
    "AnyNPU needs oneDNN 3 built for OpenMP (libgomp).\n"
    "Install what pyproject.toml pins, into .venv of this folder, with: cmake/setup.sh build\n"
    "or pass -Ddnnl_DIR=<folder of dnnl-config.cmake>")
endif()

include(private_library)
include(onednn_private)
get_target_property(library DNNL::dnnl IMPORTED_LOCATION_RELEASE)
get_target_property(headers DNNL::dnnl INTERFACE_INCLUDE_DIRECTORIES)
make_private(${library} ${headers})

# libgomp is oneDNN's own runtime; ops/cube tells it how many threads to use.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.so.1 OUTPUT_VARIABLE gomp
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
bundle(gomp ${gomp})
add_library(onednn INTERFACE)
target_link_libraries(onednn INTERFACE private_onednn private_gomp)
