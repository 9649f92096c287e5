# SPDX-License-Identifier: Apache-2.0
"""Cases of linear algebra on batches of small matrices."""

import torch
from case import COMPLEX, NUMERIC, T, case

DEEP = [torch.float32, torch.float64]
SEPARATE = ("plain", "transposed", "sliced")  # rows that repeat would make a matrix singular


def steady(*shape):
    """Matrices whose diagonal is large: their inverses and solutions lose little."""

    def make(generator):
        made = torch.rand(shape, generator=generator, dtype=torch.float64) - 0.5
        return made + 3 * torch.eye(shape[-2], shape[-1], dtype=torch.float64)

    return T(*shape, values=make)


def steady_complex(*shape):
    """Of complex numbers, and positive definite where one triangle stands for both."""

    def make(generator):
        parts = torch.rand((2, *shape), generator=generator, dtype=torch.float64) - 0.5
        return torch.complex(*parts) + 6 * torch.eye(shape[-2], shape[-1], dtype=torch.float64)

    return T(*shape, values=make)


MAKERS = [(steady, DEEP), (steady_complex, COMPLEX)]

for shape in [(1, 1), (5, 5), (3, 4, 4), (2, 3, 17, 17), (40, 2, 2), (0, 0), (0, 3, 3)]:
    case("aclnnInverse", lambda self: torch.linalg.inv(self), DEEP, self=steady(*shape), layouts=SEPARATE)
    for x in (steady(*shape), T(*shape)):
        case("aclnnSlogdet", lambda self: tuple(torch.linalg.slogdet(self)), DEEP, self=x, layouts=SEPARATE)
    for upper in (True, False):  # the other triangle is not read, and is not its mirror here
        for maker, dtypes in MAKERS:
            case("aclnnLinalgCholesky", lambda self, upper: torch.linalg.cholesky(self, upper=upper), dtypes,
                 self=maker(*shape), upper=upper, layouts=SEPARATE)  # fmt: skip
# Singular: the oracle's own elimination may round past the zero.
case("aclnnSlogdet", lambda self: (torch.tensor(0.0).double(), torch.tensor(-torch.inf).double()), DEEP,
     layouts=SEPARATE, self=T(3, 3, values=lambda _: torch.tensor([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]])))  # fmt: skip


def solve(self, A, upper, transpose, unitriangular):
    batch = torch.broadcast_shapes(self.shape[:-2], A.shape[:-2])
    matrix = A.mT if transpose else A
    x = torch.linalg.solve_triangular(matrix, self, upper=upper != transpose, unitriangular=unitriangular)
    return x, A.expand(*batch, *A.shape[-2:]).clone()


for a, b in [
    ((4, 4), (4, 3)),
    ((5, 7, 7), (5, 7, 2)),
    ((3, 3), (2, 3, 1)),
    ((2, 1, 6, 6), (4, 6, 20)),
    ((0, 0), (0, 3)),
]:
    for upper in (True, False):
        for transpose in (True, False):
            for unit in (True, False):
                for maker, dtypes in MAKERS:
                    case("aclnnTriangularSolve", solve, dtypes, self=T(*b), A=maker(*a), upper=upper,
                         transpose=transpose, unitriangular=unit)  # fmt: skip

SHAPES = [(1, 1), (4, 4), (7, 3), (3, 7), (2, 3, 9, 5), (30, 2, 2), (0, 3), (2, 0, 0), (5, 1)]
for shape in SHAPES:
    for maker, dtypes in MAKERS:
        for mode in range(2):
            case("aclnnLinalgQr", lambda self, mode: tuple(torch.linalg.qr(self, ("reduced", "complete")[mode])),
                 dtypes, self=maker(*shape), mode=mode, layouts=SEPARATE)  # fmt: skip
        case("aclnnLinalgQr", lambda self: (None, torch.linalg.qr(self, "r").R), dtypes, self=maker(*shape),
             mode=2, layouts=SEPARATE)  # fmt: skip


def check_svd(inputs, outputs):
    """Signs and the vectors of equal values are free; the product and the orthogonality are not."""
    a, s, u, v = (t.double() for t in (inputs["self"], outputs["S"], outputs["U"], outputs["V"]))
    k = s.shape[-1]
    close = {"rtol": 0, "atol": 1e-5 if inputs["self"].dtype == torch.float32 else 1e-12}
    torch.testing.assert_close((u[..., :k] * s[..., None, :]) @ v[..., :k].mT, a, **close)
    for m in (u, v):
        torch.testing.assert_close(m.mT @ m, torch.eye(m.shape[-1]).double().expand(*m.shape[:-2], -1, -1), **close)
    torch.testing.assert_close(s, torch.linalg.svdvals(a), rtol=0, atol=3 * close["atol"])


for shape in SHAPES:
    m, n = shape[-2:]
    k, batch = min(m, n), shape[:-2]
    for full in (False, True):
        wide = {"S": (*batch, k), "U": (*batch, m, m if full else k), "V": (*batch, n, n if full else k)}
        case("aclnnSvd", None, DEEP, self=T(*shape), full_matrices=full, compute_uv=True, check=check_svd,
             out_shapes=wide)  # fmt: skip
    case("aclnnSvd", lambda self: (torch.linalg.svdvals(self), None, None), DEEP, self=T(*shape), full_matrices=False,
         compute_uv=False)  # fmt: skip


def cross_terms(self, other, dim):
    a, b = torch.broadcast_tensors(self.abs(), other.abs())
    return a.roll(-1, dim) * b.roll(-2, dim) + a.roll(-2, dim) * b.roll(-1, dim)


for shapes, dim in [
    (((3,), (3,)), 0),
    (((4, 3, 2), (4, 3, 2)), 1),
    (((1, 5, 3), (4, 1, 3)), -1),
    (((3, 0), (3, 0)), 0),
]:
    case("aclnnLinalgCross", lambda self, other, dim: torch.linalg.cross(self, other, dim=dim), NUMERIC + COMPLEX,
         self=T(*shapes[0]), other=T(*shapes[1]), dim=dim, out_dtypes={"out": None}, terms=cross_terms)  # fmt: skip
