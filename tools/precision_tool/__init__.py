# SPDX-License-Identifier: Apache-2.0
"""The precision tool as the vendor's guides know it: a folder that is copied beside a training script."""
