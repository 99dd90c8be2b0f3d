"""SciPy's compiled loops for products of sparse and dense matrices."""

try:
    from scipy.sparse._sparsetools import csc_matvec, csc_matvecs, csr_matvec, csr_matvecs
except ImportError:
    #: Loops for one column and for several columns, by format; None: SciPy lacks them.
    LOOPS = None
else:
    LOOPS = {"csc": (csc_matvec, csc_matvecs), "csr": (csr_matvec, csr_matvecs)}
