# SPDX-License-Identifier: Apache-2.0
"""The commands of the precision tool, a module each."""
