# SPDX-License-Identifier: BSD-3-Clause
# Where the distribution keeps the two BLAS libraries that tests put a program on by name. Both
# folders hold a libblas.so.3 whatever the alternatives say. Another system keeps them elsewhere and
# says where.

multiarch=/usr/lib/$("$CC" -print-multiarch 2>/dev/null || gcc -print-multiarch)
openblas_dir=${SB_OPENBLAS_DIR:-$multiarch/openblas-pthread}
netlib_dir=${SB_NETLIB_DIR:-$multiarch/blas}
