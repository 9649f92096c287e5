# SPDX-License-Identifier: Apache-2.0
"""x"""


def add_arguments(parser):
    pass


def execute(options):
    return 0
