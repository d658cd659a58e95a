"""Dense symmetric linear algebra on the leading n x n block of a preallocated matrix.

Every inner loop adds a multiple of one contiguous row to another, so that vectorising it cannot
change the order of a sum: the result has the same bits whatever the processor.
"""

import math
from typing import Final

from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import CONVERGED, NOT_POSITIVE_DEFINITE, Matrix, Vector, kernel

# Of a long product the logarithm is added to a sum before it leaves these bounds.
PRODUCT_MIN: Final = 1e-150
PRODUCT_MAX: Final = 1e150
# Rows of a matrix whose loops are written out, if their length is known where it is compiled. Half
# of each row is then enough; a loop over half a row takes longer than one over all of it.
UNROLLED_MAX: Final = 12


@kernel
def cholesky(n: int, a: Matrix) -> int:
    """`U^T U = A`: overwrite the upper triangle of A with U.

    Row i of U is row i of A less u[k, i] times each row k above it, over the root of its pivot;
    four rows are taken at a time, because row i is then read and written once for all four. Returns
    `NOT_POSITIVE_DEFINITE` if a pivot is not positive. The strict lower triangle is left.
    """
    for i in range(n):
        row = a[i]
        k = 0
        while k + 4 <= i:
            row_0, row_1, row_2, row_3 = a[k], a[k + 1], a[k + 2], a[k + 3]
            u_0, u_1, u_2, u_3 = row_0[i], row_1[i], row_2[i], row_3[i]
            for j in range(i, n):
                row[j] = (
                    ((row[j] - u_0 * row_0[j]) - u_1 * row_1[j]) - u_2 * row_2[j]
                ) - u_3 * row_3[j]
            k += 4
        while k < i:
            row_0, u_0 = a[k], a[k, i]
            for j in range(i, n):
                row[j] -= u_0 * row_0[j]
            k += 1
        if not row[i] > 0.0:
            return NOT_POSITIVE_DEFINITE
        scale = 1.0 / math.sqrt(row[i])
        for j in range(i, n):
            row[j] *= scale
    return CONVERGED


@kernel
def solve(n: int, u: Matrix, b: Vector) -> int:
    """A^-1 b overwrites b, given the factor U of A = U^T U."""
    for k in range(n):
        b[k] /= u[k, k]
        for j in range(k + 1, n):
            b[j] -= b[k] * u[k, j]
    for k in range(n - 1, -1, -1):
        total = b[k]
        for j in range(k + 1, n):
            total -= u[k, j] * b[j]
        b[k] = total / u[k, k]
    return CONVERGED


@kernel
def solve_lower(n: int, columns: int, u: Matrix, b: Matrix) -> int:
    """U^-T B overwrites B, which is n x columns."""
    for i in range(n):
        for k in range(i):
            c = u[k, i]
            for j in range(columns):
                b[i, j] -= c * b[k, j]
        scale = 1.0 / u[i, i]
        for j in range(columns):
            b[i, j] *= scale
    return CONVERGED


@kernel
def inverse(n: int, u: Matrix, scratch: Matrix, a_inverse: Matrix) -> int:
    """Write the lower triangle of A^-1 = (U^-T)^T (U^-T), given the factor U; scratch gets U^-T."""
    for i in range(n):
        for j in range(i):
            scratch[i, j] = 0.0
            a_inverse[i, j] = 0.0
        scratch[i, i] = 1.0
        a_inverse[i, i] = 0.0
    for i in range(n):
        for k in range(i):
            c = u[k, i]
            for j in range(k + 1):
                scratch[i, j] -= c * scratch[k, j]
        scale = 1.0 / u[i, i]
        for j in range(i + 1):
            scratch[i, j] *= scale
    for k in range(n):
        for i in range(k + 1):
            c = scratch[k, i]
            for j in range(i + 1):
                a_inverse[i, j] += c * scratch[k, j]
    return CONVERGED


@kernel
def invert(n: int, a: Matrix, scratch: Matrix, a_inverse: Matrix) -> float:
    """A^-1, the whole of it; return log det(A) / 2, NaN if A is not positive definite.

    Overwrites the upper triangle of A with its factor.
    """
    if cholesky(n, a) != CONVERGED:
        return math.nan
    inverse(n, a, scratch, a_inverse)
    half_log_determinant, product = 0.0, 1.0
    for i in range(n):
        product *= a[i, i]
        if not PRODUCT_MIN < product < PRODUCT_MAX:
            half_log_determinant += log(product)
            product = 1.0
        for j in range(i):
            a_inverse[j, i] = a_inverse[i, j]
    return half_log_determinant + log(product)


@kernel
def sweep_pivots(n: int, a: Matrix, row: Vector) -> float:
    """A^-1 overwrites A; return log det(A) / 2, NaN if A is not positive definite.

    By the sweep operator (Goodnight 1979), which makes of A^-1 the negative, a pivot at a time. No
    row is exchanged: of a positive definite matrix every pivot is positive. Reads the upper
    triangle of A, and writes all of the inverse; `row` is scratch, (n,).
    """
    logs, product = 0.0, 1.0
    for k in range(n):
        pivot = a[k, k]
        if not pivot > 0.0:
            return math.nan
        product *= pivot
        if not PRODUCT_MIN < product < PRODUCT_MAX:
            logs += log(product)
            product = 1.0
        scale = 1.0 / pivot
        for j in range(k):
            row[j] = a[j, k]
            a[j, k] = 0.0
        for j in range(k, n):
            row[j] = a[k, j]
            a[k, j] = 0.0
        row[k] = -1.0
        for i in range(n):
            c = scale * row[i]
            for j in range(i if n <= UNROLLED_MAX else 0, n):
                a[i, j] -= c * row[j]
    for i in range(n):
        for j in range(i, n):
            a[i, j] = -a[i, j]
            a[j, i] = a[i, j]
    return 0.5 * (logs + log(product))


@kernel
def sweep_more_pivots(n: int, a: Matrix, row: Vector) -> float:
    """`sweep_pivots` for the sizes of where bends are asked about, too."""
    if n == 16:
        return sweep_pivots(16, a, row)
    if n == 20:
        return sweep_pivots(20, a, row)
    if n == 24:
        return sweep_pivots(24, a, row)
    return sweep_pivots(n, a, row)


# The next kernels are for the small matrices of the mixture: 4, 8 or 12 rows as long as only knots
# are asked about. A loop of a length that the compiler knows takes half the instructions.


@kernel
def take_outer(n: int, c: float, b: Vector, a: Matrix) -> int:
    """Overwrite A with A - c b b^T."""
    for i in range(n):
        scale = c * b[i]
        for j in range(n):
            a[i, j] -= scale * b[j]
    return CONVERGED


@kernel
def add_product_of(rows: int, n: int, columns: int, a: Matrix, b: Matrix, out: Matrix) -> int:
    """`sum_k A_ki B_kj` is added to `out`."""
    for i in range(rows):
        for k in range(n):
            c = a[k, i]
            for j in range(columns):
                out[i, j] += c * b[k, j]
    return CONVERGED


@kernel
def add_product(rows: int, n: int, columns: int, a: Matrix, b: Matrix, out: Matrix) -> int:
    """A^T B is added to `out` (rows, columns); A is (n, rows), B is (n, columns)."""
    if columns == 4:
        return add_product_of(rows, n, 4, a, b, out)
    if columns == 8:
        return add_product_of(rows, n, 8, a, b, out)
    if columns == 12:
        return add_product_of(rows, n, 12, a, b, out)
    return add_product_of(rows, n, columns, a, b, out)


@kernel
def multiply(n: int, a: Matrix, b: Vector, out: Vector) -> int:
    """`sum_k A_jk b_k` for a full symmetric A."""
    for j in range(n):
        out[j] = 0.0
    for k in range(n):
        c = b[k]
        for j in range(n):
            out[j] += c * a[k, j]
    return CONVERGED
