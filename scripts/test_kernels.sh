#!/usr/bin/env bash
# test_kernels.sh PYTHON: the tests of the mathematics, as other processors would add up.
#
# Kernels of OpenBLAS and loops of NumPy for other processors sum in another order. 'make test' runs
# with this processor's own. A kernel that needs what it lacks ends by an illegal instruction: it is
# named, and left out.
set -euo pipefail

cd "$(dirname "$0")/.."
python=$1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# What scikit-learn checks takes half of the time, and 'make test' checks it.
suite() {
    "$python" -m pytest --numprocesses=auto --dist=worksteal \
        --ignore tests/algorithms/test_scikit_learn.py \
        tests/core tests/algorithms tests/inspection
}

multiply='import numpy as np; np.ones((300, 300)) @ np.ones((300, 300))'
own=$("$python" -c 'import numpy
from threadpoolctl import threadpool_info
print(*{one.get("architecture") for one in threadpool_info()})')
has_avx512='import sys
from numpy._core._multiarray_umath import __cpu_features__ as found
sys.exit(not (found.get("X86_V4") or found.get("AVX512_SKX")))'
without=""
if "$python" -c "$has_avx512"; then
    # NumPy warns of names that it does not have.
    without="X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL"
fi

for kernel in ${KERNELS:-Prescott Haswell SkylakeX}; do
    # Processors of these two kernels have no AVX-512 for NumPy either.
    case $kernel in Prescott | Haswell) disabled=$without ;; *) disabled="" ;; esac
    if [ "$kernel" = "$own" ]; then
        echo "$kernel is the kernel of this processor"
    elif OPENBLAS_CORETYPE=$kernel "$python" -c "$multiply" >/dev/null 2>&1; then
        echo "OpenBLAS with the kernel for $kernel${disabled:+, NumPy without AVX-512}"
        OPENBLAS_CORETYPE=$kernel NPY_DISABLE_CPU_FEATURES=$disabled suite
    else
        echo "the kernel for $kernel does not run on this processor"
    fi
done
