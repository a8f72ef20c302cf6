/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floor 0: the words in which the floors report to each other.
 *
 * enum sb_status is what a step of the GPU path returns. enum sb_reason is why a call was answered
 * where it was; its words appear in trace lines, reports and the public API, and come from
 * reasons.def. enum sb_side is the side that answers. struct sb_manner is how the GPU has computed.
 */
#ifndef SB_STATUS_H
#define SB_STATUS_H

#include <stdint.h>

enum sb_status {
	SB_OK,	      /* done */
	SB_DECLINE,   /* this call cannot be done, another may; the context is whole */
	SB_NO_DEVICE, /* no usable driver or device in this process */
	SB_NO_IMAGE,  /* no kernel of this build runs on the device */
	SB_NO_MEMORY, /* an allocation of ours failed; a smaller plan may fit */
	SB_BUSY,      /* others have the device for longer than this call can wait */
	SB_LOST	      /* the context is gone or does not answer; never try again */
};

enum sb_side { SB_CPU, SB_GPU, SB_SIDES };

enum sb_reason {
#define SB_REASON(name, word, text) SB_REASON_##name,
#include "reasons.def"
#undef SB_REASON
	SB_REASONS
};

/*
 * The arithmetic of a tile of C: FP32 multiply-adds, or emulated on tensor cores by three products
 * of two fp16 parts or six of three bf16 parts. Best first among the emulated ones.
 */
enum sb_arithmetic { SB_NO_ARITHMETIC, SB_FP16X3, SB_BF16X6, SB_STRICT, SB_ARITHMETICS };

enum sb_fallback {
#define SB_FALLBACK(name, word, text) SB_FALLBACK_##name,
#include "fallbacks.def"
#undef SB_FALLBACK
	SB_FALLBACKS
};

struct sb_manner {
	enum sb_arithmetic arithmetic; /* of most tiles; none where the GPU did not answer */
	enum sb_fallback fallback;     /* of what did not get the first tier */
	int64_t tiles[SB_ARITHMETICS]; /* how many got which; all 0: nobody has looked */
};

/* The word for each, never NULL; "unknown" for a value outside the enum. */
const char *sb_status_word(enum sb_status status);
const char *sb_side_word(enum sb_side side);
const char *sb_reason_word(enum sb_reason reason);
/* One sentence that explains the reason to a user. */
const char *sb_reason_text(enum sb_reason reason);
const char *sb_arithmetic_word(enum sb_arithmetic arithmetic);
const char *sb_fallback_word(enum sb_fallback fallback);
const char *sb_fallback_text(enum sb_fallback fallback);

#endif
