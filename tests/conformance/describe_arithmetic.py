# SPDX-License-Identifier: Apache-2.0
"""Cases of basic arithmetic (see case.py for the form)."""

from case import COMPLEX, NUMERIC, REAL, T, case

case("aclnnAdd", lambda self, other, alpha: self + alpha * other, NUMERIC + COMPLEX,
     self=T(4, 5), other=T(4, 5), alpha=2, elementwise=True)  # fmt: skip
case("aclnnAdd", lambda self, other, alpha: self + alpha * other, REAL, self=T(3, 1, 5), other=T(4, 1), alpha=0.5)
