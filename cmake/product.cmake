# SPDX-License-Identifier: Apache-2.0
# The one core library. The vendor-named filter libraries are generated from acl/ (see acl/README.md).
add_library(anynpu SHARED)
target_link_options(anynpu PRIVATE -Wl,-z,defs)
get_property(rooms GLOBAL PROPERTY ANYNPU_ROOMS)
target_link_libraries(anynpu PRIVATE ${rooms})
