/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "offload.h"
#include "process.h"
#include "settings.h"
#include "trace.h"

static struct {
	pthread_mutex_t lock;
	uint64_t compared, failed;
	double worst;
} summary = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A child of fork compares its own; another thread may have held the lock in the parent. */
static void forget_parent(void)
{
	pthread_mutex_init(&summary.lock, NULL);
	summary.compared = summary.failed = 0;
	summary.worst = 0;
}

static void watch_fork(void)
{
	pthread_atfork(NULL, NULL, forget_parent);
}

/* What a comparison needs: C before the call, C by the GPU, and |A||B|, all m x n without gaps. */
struct trial {
	struct sb_call call;
	float *before, *gpu, *magnitude;
	float *abs_a, *abs_b;
};

/* The magnitudes of a rows x columns operand, without its gaps, which are not ours to read. */
static float *magnitudes(const void *from, int64_t rows, int64_t columns, int64_t ld)
{
	float *to = malloc((size_t)rows * (size_t)columns * sizeof *to);

	if (!to)
		return NULL;
	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < rows; i++)
			to[i + j * rows] = __builtin_fabsf(((const float *)from)[i + j * ld]);
	return to;
}

static void close_trial(struct trial *trial)
{
	free(trial->abs_b);
	free(trial->abs_a);
	free(trial->magnitude);
	free(trial->gpu);
	free(trial->before);
}

static bool open_trial(struct trial *trial, const struct sb_call *call)
{
	int kept = errno;
	size_t bytes = (size_t)call->m * (size_t)call->n * sizeof(float);
	int64_t rows_a = call->trans_a ? call->k : call->m,
		rows_b = call->trans_b ? call->n : call->k;

	*trial = (struct trial){
		.call = *call,
		.before = malloc(bytes),
		.gpu = malloc(bytes),
		.magnitude = malloc(bytes),
		.abs_a = magnitudes(call->a, rows_a, call->trans_a ? call->m : call->k, call->lda),
		.abs_b = magnitudes(call->b, rows_b, call->trans_b ? call->k : call->n, call->ldb)};
	if (!trial->before || !trial->gpu || !trial->magnitude || !trial->abs_a || !trial->abs_b) {
		close_trial(trial);
		errno = kept;
		return false;
	}
	for (int64_t j = 0; j < call->n; j++)
		memcpy(trial->before + j * call->m, (const float *)call->c + j * call->ldc,
		       (size_t)call->m * sizeof(float));
	memcpy(trial->gpu, trial->before, bytes);
	trial->call.c = trial->gpu;
	trial->call.ldc = call->m;
	return true;
}

static void finish(void *context, const struct sb_call *block)
{
	sb_backend_call(context, block);
}

static enum sb_status run_gpu(const struct sb_forward *forward, struct trial *trial,
			      struct sb_decision *decision)
{
	struct sb_as_found found;
	enum sb_status status;

	if (!sb_process_enter(&found))
		return SB_DECLINE;
	status = sb_offload(&trial->call, decision, finish, (void *)forward);
	sb_process_leave(&found);
	return status;
}

static void run_magnitude(const struct sb_forward *forward, struct trial *trial)
{
	struct sb_call call = trial->call;

	call.alpha = 1;
	call.beta = 0;
	call.a = trial->abs_a;
	call.lda = call.trans_a ? call.k : call.m;
	call.b = trial->abs_b;
	call.ldb = call.trans_b ? call.n : call.k;
	call.c = trial->magnitude;
	sb_backend_call(forward, &call);
}

static double difference(float cpu, float gpu, double unit)
{
	double apart = (double)cpu - (double)gpu;

	if (cpu == gpu || (cpu != cpu && gpu != gpu))
		return 0;
	if (apart != apart || __builtin_isinf(apart) || unit != unit)
		return (double)INFINITY;
	apart = apart < 0 ? -apart : apart;
	/* The smallest step there is counts as a rounding, whatever the unit. */
	return apart / (unit + (double)FLT_TRUE_MIN);
}

static double worst_of(const struct trial *trial, const struct sb_call *call)
{
	double scale = (double)call->k * (double)FLT_EPSILON, worst = 0;

	for (int64_t j = 0; j < call->n; j++)
		for (int64_t i = 0; i < call->m; i++) {
			int64_t at = i + j * call->m;
			double beta = call->beta == 0.0f ? 0 : (double)call->beta;
			double old = beta == 0 ? 0 : beta * (double)trial->before[at];
			double unit = (double)call->alpha * (double)trial->magnitude[at];
			float cpu = ((const float *)call->c)[i + j * call->ldc];
			double apart =
				difference(cpu, trial->gpu[at],
					   scale * (__builtin_fabs(unit) + __builtin_fabs(old)));

			worst = apart > worst ? apart : worst;
		}
	return worst;
}

/* Entered as a call on the GPU is: the flags it raises and its errno are not the program's. */
static double compare(const struct sb_forward *forward, struct trial *trial)
{
	struct sb_as_found found;
	bool entered = sb_process_enter(&found);
	double worst;

	run_magnitude(forward, trial);
	worst = worst_of(trial, forward->call);
	if (entered)
		sb_process_leave(&found);
	return worst;
}

static void note(const struct sb_call *call, enum sb_arithmetic arithmetic, double worst)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_fork);
	pthread_mutex_lock(&summary.lock);
	summary.compared++;
	summary.failed += worst > 1;
	summary.worst = worst > summary.worst ? worst : summary.worst;
	pthread_mutex_unlock(&summary.lock);
	sb_trace_line(1,
		      "check m=%" PRId64 " n=%" PRId64 " k=%" PRId64
		      " math=%s error=%s of k*eps*|A||B|",
		      call->m, call->n, call->k, sb_arithmetic_word(arithmetic),
		      sb_trace_fixed(worst, 3).text);
	if (worst > 1)
		sb_trace_once(&said,
			      "check: the sides differ by %s of k*eps*|A||B| at m=%" PRId64
			      " n=%" PRId64 " k=%" PRId64,
			      sb_trace_fixed(worst, 3).text, call->m, call->n, call->k);
}

void sb_check(const struct sb_forward *forward, struct sb_decision *decision)
{
	const struct sb_call *call = forward->call;
	struct sb_decision attempt = *decision;
	enum sb_status status;
	struct trial trial;

	if (sb_backend_foreign(forward->name, forward->caller)) {
		sb_backend_run(forward);
		*decision = sb_route_to_cpu(*decision, SB_REASON_INVALID);
		return;
	}
	*decision = sb_route_to_cpu(*decision, SB_REASON_FORCED);
	if (!open_trial(&trial, call)) {
		sb_backend_run(forward);
		*decision = sb_route_after(*decision, SB_NO_MEMORY);
		return;
	}
	status = attempt.side == SB_GPU ? run_gpu(forward, &trial, &attempt) : SB_DECLINE;
	sb_backend_run(forward);
	if (status == SB_OK)
		note(call, attempt.manner.arithmetic, compare(forward, &trial));
	else
		*decision = sb_route_after(*decision, status);
	close_trial(&trial);
}

void sb_check_summary(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	uint64_t compared, failed;
	double worst;

	pthread_mutex_lock(&summary.lock);
	compared = summary.compared;
	failed = summary.failed;
	worst = summary.worst;
	pthread_mutex_unlock(&summary.lock);
	if (compared || sb_route_mode() == SB_MODE_CHECK)
		sb_trace_once(&said,
			      "check: %" PRIu64
			      " calls compared, largest error %s of k*eps*|A||B|, "
			      "%" PRIu64 " above 1",
			      compared, sb_trace_fixed(worst, 3).text, failed);
}
