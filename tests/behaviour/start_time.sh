#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# /bin/true under the preload takes at most 0.1 ms more than without.
. "${srcdir:-.}/tests/behaviour/harness.sh"
"$cases/spawn_time" 0.1 "$SB_LIBRARY" || fail '/bin/true takes more than 0.1 ms longer'
finish
