# SPDX-License-Identifier: Apache-2.0
def count_of(graph, names):
    return 1
