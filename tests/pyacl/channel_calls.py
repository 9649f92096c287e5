# SPDX-License-Identifier: Apache-2.0
"""later"""


def run(call, folder):
    pass
