# SPDX-License-Identifier: Apache-2.0
"""Cases of powers, exponentials, trigonometry and rounding."""

import torch
from both import edges, unary
from case import COMPLEX, REAL

unary("Sqrt", torch.sqrt, REAL + COMPLEX, low=0, high=9)
edges("Sqrt", torch.sqrt)
unary("Rsqrt", torch.rsqrt, low=0.1, high=9)
edges("Rsqrt", torch.rsqrt)
unary("Exp", torch.exp, REAL + COMPLEX)
edges("Exp", torch.exp)
unary("Log", torch.log, REAL + COMPLEX, low=0.01, high=9)
edges("Log", torch.log)
