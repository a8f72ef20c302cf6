/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls whatever comes to mind, for so many seconds: products of random shapes from several
 * threads, in changing modes, strict and emulated, forks between them; on the stand-in driver also
 * failing calls, losses of the device, shortage of its memory and slowness. All values are small
 * whole numbers, so that each side gives the same bits, and each answer is checked whole: C against
 * A (B x) for a random x, padding against what it was. What the process holds (memory, mappings,
 * threads, open files) must not grow after the first fifth.
 *
 *     soak SECONDS [LARGEST [SEED]]        LARGEST: of m, n and k; 150
 *
 * SHIMBLAS_DRIVER says which driver. Prints a line every ten seconds, and at the end what it has
 * done; exits 1 if an answer was wrong or something has grown.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "holding.h"
#include "registry.h"
#include "settings.h"
#include "shimblas.h"

enum { THREADS = 4, ROW = 101, COLUMN = 102, NO = 111, YES = 112 };

void cblas_sgemm(int, int, int, int, int, int, float, const void *, int, const void *, int, float,
		 void *, int);

static atomic_bool over;
static atomic_long calls, on_gpu, emulated, wrong, forks, losses;
static int (*configure)(const char *);
static int largest = 150;
static double began;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned draw(uint64_t *state, unsigned below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (unsigned)(*state >> 33) % below;
}

/* Mostly small; whatever is drawn, a product stays within `largest` cubed. */
static int draw_size(uint64_t *state)
{
	static const int tiles[] = {1, 2, 31, 32, 33, 64, 65, 127, 128, 129};
	int size =
		draw(state, 3) ? 1 + (int)draw(state, (unsigned)largest) : tiles[draw(state, 10)];

	return size < largest ? size : largest;
}

struct matrix {
	float *values;
	int width, lines, ld; /* lines of so many values */
};

static int make(struct matrix *x, int width, int lines, uint64_t *state)
{
	size_t count;

	x->width = width;
	x->lines = lines;
	x->ld = width + (draw(state, 2) ? (int)draw(state, 9) : 0);
	count = (size_t)x->ld * (size_t)lines;
	x->values = malloc(count * sizeof *x->values);
	for (size_t i = 0; x->values && i < count; i++)
		x->values[i] = (float)((int)draw(state, 7) - 3);
	return x->values != NULL;
}

/* y = op(X) x, where op(X) has `rows` rows; a line of X is a column of op(X), or a row. */
static void apply(const struct matrix *x, int lines_are_rows, const double *in, double *out,
		  int rows)
{
	memset(out, 0, (size_t)rows * sizeof *out);
	for (int line = 0; line < x->lines; line++)
		for (int i = 0; i < x->width; i++) {
			double value = (double)x->values[(size_t)line * (size_t)x->ld + (size_t)i];

			if (lines_are_rows)
				out[line] += value * in[i];
			else
				out[i] += value * in[line];
		}
}

struct product {
	int order, ta, tb, m, n, k;
	float alpha, beta;
	struct matrix a, b, c;
	float *before;
};

static int open_product(struct product *p, uint64_t *state)
{
	static const float factors[] = {1, 1, 2, -1, 0.5f};
	int row;

	memset(p, 0, sizeof *p);
	p->order = draw(state, 2) ? ROW : COLUMN;
	p->ta = draw(state, 2) ? NO : YES;
	p->tb = draw(state, 2) ? NO : YES;
	p->m = draw_size(state);
	p->n = draw_size(state);
	/* Now and then long enough for the first tier of emulated products. */
	p->k = draw(state, 16) ? draw_size(state) : SB_FP16X3_LEAST + (int)draw(state, 80);
	p->alpha = factors[draw(state, 5)];
	p->beta = draw(state, 2) ? 0 : factors[draw(state, 5)];
	row = p->order == ROW;
	return make(&p->a, row == (p->ta == NO) ? p->k : p->m, row == (p->ta == NO) ? p->m : p->k,
		    state) &&
	       make(&p->b, row == (p->tb == NO) ? p->n : p->k, row == (p->tb == NO) ? p->k : p->n,
		    state) &&
	       make(&p->c, row ? p->n : p->m, row ? p->m : p->n, state) &&
	       (p->before = malloc((size_t)p->c.ld * (size_t)p->c.lines * sizeof(float)));
}

static void close_product(struct product *p)
{
	free(p->a.values);
	free(p->b.values);
	free(p->c.values);
	free(p->before);
}

static int padding_is_as_before(const struct product *p)
{
	const struct matrix *c = &p->c;

	for (int line = 0; line < c->lines; line++)
		if (memcmp(c->values + (size_t)line * (size_t)c->ld + c->width,
			   p->before + (size_t)line * (size_t)c->ld + c->width,
			   (size_t)(c->ld - c->width) * sizeof(float)) != 0)
			return 0;
	return 1;
}

/* C x = alpha A (B x) + beta C0 x: whole numbers and halves, exact in doubles. */
static int right(const struct product *p, uint64_t *state)
{
	int row = p->order == ROW, good;
	struct matrix old = p->c;
	double *x = calloc((size_t)(p->n + p->k + 3 * p->m), sizeof *x), *y = x + p->n;
	double *wanted = y + p->k, *found = wanted + p->m, *was = found + p->m;

	if (!x)
		return 1;
	old.values = p->before;
	for (int j = 0; j < p->n; j++)
		x[j] = (double)((int)draw(state, 64) - 32);
	apply(&p->b, row == (p->tb == NO), x, y, p->k);
	apply(&p->a, row == (p->ta == NO), y, wanted, p->m);
	apply(&p->c, row, x, found, p->m);
	if (p->beta != 0)
		apply(&old, row, x, was, p->m);
	good = padding_is_as_before(p);
	for (int i = 0; i < p->m; i++)
		good = good && found[i] == (double)p->alpha * wanted[i] +
						   (p->beta == 0 ? 0 : (double)p->beta * was[i]);
	free(x);
	return good;
}

/* Where ours could not be popped the device is lost; a program of many losses drops it itself. */
static void drop_contexts(void)
{
	const struct sb_driver *cu = sb_driver_open();
	sb_cu_context context;

	while (configure && cu->context_current(&context) == 0 && context)
		if (cu->context_pop(&context) != 0)
			return;
}

static int multiply(uint64_t *state)
{
	struct shimblas_decision last = {.size = sizeof last};
	struct product p;
	int good = 1;

	if (open_product(&p, state)) {
		size_t bytes = (size_t)p.c.ld * (size_t)p.c.lines * sizeof(float);

		memcpy(p.before, p.c.values, bytes);
		/* Where beta is zero C is not read. */
		for (int line = 0; p.beta == 0 && line < p.c.lines; line++)
			memset(p.c.values + (size_t)line * (size_t)p.c.ld, 0xff,
			       (size_t)p.c.width * sizeof(float));
		cblas_sgemm(p.order, p.ta, p.tb, p.m, p.n, p.k, p.alpha, p.a.values, p.a.ld,
			    p.b.values, p.b.ld, p.beta, p.c.values, p.c.ld);
		(void)shimblas_last_decision(&last);
		drop_contexts();
		good = right(&p, state);
		if (!good)
			printf("wrong: %d %d %d, %dx%dx%d, alpha %g, beta %g, by %s (%s)\n",
			       p.order, p.ta, p.tb, p.m, p.n, p.k, (double)p.alpha, (double)p.beta,
			       last.side, last.reason);
		atomic_fetch_add(&calls, 1);
		atomic_fetch_add(&on_gpu, strcmp(last.side, "gpu") == 0);
		atomic_fetch_add(&emulated, strpbrk(last.arithmetic, "x") != NULL);
	}
	close_product(&p);
	return good;
}

static void *call_on(void *seed)
{
	uint64_t state = (uint64_t)(uintptr_t)seed * 0x9e3779b97f4a7c15u + 1;

	while (!atomic_load(&over))
		atomic_fetch_add(&wrong, !multiply(&state));
	return NULL;
}

/* A child of a process whose CUDA is live computes on the CPU. */
static void fork_one(uint64_t *state)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0) {
		alarm(60);
		_exit(!multiply(state));
	}
	if (child > 0) {
		waitpid(child, &status, 0);
		atomic_fetch_add(&wrong, status != 0);
		atomic_fetch_add(&forks, 1);
		if (status)
			printf("wrong: a child ended with %d\n", status);
	}
	(void)draw(state, 2);
}

/* What goes wrong next; the stand-in heals what went wrong before. */
static void disturb(uint64_t *state)
{
	static const char *const slots[] = {
		"copy_2d",	     "copy_2d",	      "launch",	      "event_record",
		"event_query",	     "memory_create", "memory_info",  "pointer_attributes",
		"context_push",	     "context_pop",   "capture_mode", "memory_unmap",
		"stream_wait_event", "set_words",
	};
	static const char *const kinds[] = {"fail=%s:%u:INVALID_VALUE", "from=%s:%u:OUT_OF_MEMORY",
					    "lose=%s:%u", "crash=%s:%u"};
	char text[200], fault[80] = "short=0";
	struct sb_device *device = sb_device_made()->devices;
	enum sb_reason why;

	if (draw(state, 3) == 0)
		snprintf(fault, sizeof fault, kinds[draw(state, 4)], slots[draw(state, 14)],
			 1 + draw(state, 300));
	snprintf(text, sizeof text, "forget,seed=%u,slow=%u,short=%uK,%s", draw(state, 100),
		 draw(state, 10) == 0, draw(state, 4) ? 0 : 16 + draw(state, 600), fault);
	/* A call that is at work must not find that what it has queued is forgotten. */
	if (sb_device_health(&why) == SB_HEALTH_STARTING || !sb_device_take(device, 60))
		return;
	atomic_fetch_add(&losses, sb_device_health(&why) == SB_HEALTH_LOST);
	if (configure(text) != 0)
		atomic_fetch_add(&wrong, 1);
	/* To a program a device that was lost stays so. */
	(void)sb_device_turn(SB_HEALTH_LOST, SB_HEALTH_READY, SB_REASON_LOST);
	sb_device_give(device);
}

static void tell(const struct held *held)
{
	printf("%6.0f s: %ld calls, %ld on the GPU, %ld of them emulated, %ld wrong, %ld forks, "
	       "%ld losses; "
	       "%ld KiB of heap, %ld resident, %ld threads, %ld files\n",
	       now() - began, atomic_load(&calls), atomic_load(&on_gpu), atomic_load(&emulated),
	       atomic_load(&wrong), atomic_load(&forks), atomic_load(&losses), held->heap,
	       held->resident, held->threads, held->files);
	fflush(stdout);
}

static void find_stand_in(void)
{
	const char *driver = getenv("SHIMBLAS_DRIVER");
	void *library = driver ? dlopen(driver, RTLD_NOW | RTLD_LOCAL) : NULL;

	*(void **)&configure = library ? dlsym(library, "stand_in_configure") : NULL;
}

int main(int argc, char **argv)
{
	static const enum shimblas_mode modes[] = {SHIMBLAS_MODE_GPU, SHIMBLAS_MODE_GPU,
						   SHIMBLAS_MODE_GPU, SHIMBLAS_MODE_AUTO,
						   SHIMBLAS_MODE_CPU};
	double seconds = argc > 1 ? atof(argv[1]) : 0, told = 0;
	struct held early = {0}, late = {0}, held;
	long swing; /* products in flight, of each thread, in KiB */
	pthread_t threads[THREADS];
	uint64_t state;
	bool sanitized;

	if (seconds <= 0)
		return 2;
	largest = argc > 2 ? atoi(argv[2]) : largest;
	swing = 4096 + THREADS * 4 * (long)((size_t)largest * (size_t)largest / 256);
	/* A sanitizer keeps what has been given back, and its locks are not made for forks. */
	sanitized = getenv("SB_SANITIZED") && strcmp(getenv("SB_SANITIZED"), "yes") == 0;
	if (sanitized)
		swing = 4 << 20;
	state = argc > 3 ? strtoull(argv[3], NULL, 10) * 2 + 1 : 88172645463325252u;
	/* A fork while another thread is at work with OpenBLAS's own threads hangs in OpenBLAS. */
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	/* Whatever is predicted, what is to be emulated is. */
	setenv("SHIMBLAS_KERNEL", "sgemm_fp16x3_128x128x64", 0);
	began = now();
	find_stand_in();
	if (configure)
		sb_device_least_patience = 3;
	(void)shimblas_set_mode(SHIMBLAS_MODE_GPU);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call_on, (void *)(i + state % 1000)))
			return 2;
	while (now() - began < seconds) {
		const struct timespec nap = {.tv_nsec = 50000000};

		nanosleep(&nap, NULL);
		if (configure)
			disturb(&state);
		if (draw(&state, 4) == 0)
			(void)shimblas_set_mode(modes[draw(&state, 5)]);
		if (draw(&state, 4) == 0)
			(void)shimblas_set_math(draw(&state, 2) ? SHIMBLAS_MATH_EMULATED
								: SHIMBLAS_MATH_STRICT);
		if (draw(&state, 20) == 0 && !sanitized)
			fork_one(&state);
		held = held_now();
		held_widen(now() - began < seconds / 5 ? &early : &late, &held);
		if (now() - told > 10) {
			tell(&held);
			told = now();
		}
	}
	atomic_store(&over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	held = held_now();
	tell(&held);
	if (held_grown(&early, &late, swing))
		printf("grown: heap %ld to %ld KiB, resident %ld to %ld, threads %ld to %ld, files "
		       "%ld to %ld\n",
		       early.heap, late.heap, early.resident, late.resident, early.threads,
		       late.threads, early.files, late.files);
	return atomic_load(&wrong) != 0 || held_grown(&early, &late, swing) ||
	       atomic_load(&on_gpu) == 0 || atomic_load(&emulated) == 0;
}
