/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer_nvblas.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"

static char library[PATH_MAX];
static double *measured; /* by kind, memory and row */
static int rows;

static double *cell(int kind, int memory, int row)
{
	return &measured[(kind * SB_BENCH_MEMORIES + memory) * rows + row];
}

double sb_peer_nvblas(enum sb_peer_kind kind, enum sb_bench_memory memory, int row)
{
	return measured ? *cell((int)kind, (int)memory, row) : -1;
}

/* The library in a folder, by whatever version's name it has there. */
static bool find(const char *beside)
{
	const char *slash = beside ? strrchr(beside, '/') : NULL;
	char pattern[PATH_MAX + 20];
	glob_t matches;
	bool found;

	if (!slash)
		return false;
	snprintf(pattern, sizeof pattern, "%.*s/libnvblas.so*", (int)(slash - beside), beside);
	found = glob(pattern, 0, NULL, &matches) == 0;
	if (found)
		snprintf(library, sizeof library, "%s", matches.gl_pathv[0]);
	globfree(&matches);
	return found;
}

/* Its configuration, in a file that the child reads as it starts. */
static bool configure(char *name, const char *cpu, enum sb_peer_kind kind)
{
	int fd = mkostemp(name, O_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	fprintf(out, "NVBLAS_LOGFILE /dev/null\nNVBLAS_CPU_BLAS_LIB %s\nNVBLAS_GPU_LIST 0\n", cpu);
	if (kind == SB_PEER_PINNING)
		fprintf(out, "NVBLAS_AUTOPIN_MEM_ENABLED\n");
	return fclose(out) == 0;
}

/* Becomes the child: this command again, with NVBLAS preloaded and the options that matter. */
static void become(const struct sb_bench *bench, const char *configuration, int out)
{
	static const enum sb_option_row kept[] = {
		SB_OPTION_bench_sizes,	SB_OPTION_bench_transposes, SB_OPTION_bench_pads,
		SB_OPTION_bench_shapes, SB_OPTION_bench_seed,	    SB_OPTION_bench_largest,
		SB_OPTION_bench_repeat, SB_OPTION_bench_pinned,	    SB_OPTION_bench_shapes_from,
	};
	enum { KEPT = sizeof kept / sizeof *kept };
	char self[PATH_MAX], *words[KEPT + 5] = {"shimblas", "bench", "--scope", "--csv"};
	int count = 4, null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (int i = 0; i < KEPT; i++) {
		const struct sb_option *option = sb_option_row(kept[i]);
		const char *value = bench->options->value[kept[i]];

		if (value && asprintf(&words[count++], "--%s%s%s", option->word,
				      *option->value ? "=" : "", value) < 0)
			_exit(1);
	}
	if (null < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    !sb_place_self(self, sizeof self) || setenv("LD_PRELOAD", library, 1) ||
	    setenv("NVBLAS_CONFIG_FILE", configuration, 1))
		_exit(1);
	execv(self, words);
	_exit(1);
}

/* "m,n,k,trans,pad,memory,library,ms,...": the rows come in the order of the shapes. */
static bool read_rows(FILE *in, enum sb_peer_kind kind)
{
	int next[SB_BENCH_MEMORIES] = {0};
	char line[PATH_MAX + 256];
	bool any = false;

	while (fgets(line, sizeof line, in)) {
		char memory[16], object[PATH_MAX], ms[32];
		int which;

		if (sscanf(line, "%*d,%*d,%*d,%*[a-z],%*d,%15[a-z],%4095[^,],%31[^,]", memory,
			   object, ms) != 3 ||
		    !strstr(object, "libnvblas"))
			continue;
		which = strcmp(memory, sb_bench_memory_word(SB_BENCH_PINNED)) == 0;
		if (next[which] < rows)
			*cell((int)kind, which, next[which]++) =
				*ms == '-' ? -1 : strtod(ms, NULL) / 1e3;
		any = true;
	}
	return any;
}

static bool measure(const struct sb_bench *bench, const char *configuration, enum sb_peer_kind kind)
{
	bool any = false;
	int ends[2], status;
	pid_t child;
	FILE *in;

	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC))
		return false;
	child = fork();
	if (child == 0)
		become(bench, configuration, ends[1]);
	close(ends[1]);
	in = child > 0 ? fdopen(ends[0], "r") : NULL;
	if (in) {
		any = read_rows(in, kind);
		fclose(in);
	} else {
		close(ends[0]);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return any;
}

const char *sb_peer_nvblas_open(struct sb_bench *bench, const char *beside, const char *cpu)
{
	bool any = false;

	if (!find(beside) && !find("/usr/local/cuda/lib64/"))
		return "no libnvblas.so beside cuBLAS";
	if (!*cpu)
		return "needs a BLAS for the CPU, and none was found";
	rows = bench->shapes.count;
	measured = malloc(SB_PEER_KINDS * SB_BENCH_MEMORIES * (size_t)rows * sizeof *measured);
	if (!measured)
		return "not enough memory";
	for (int i = 0; i < SB_PEER_KINDS * SB_BENCH_MEMORIES * rows; i++)
		measured[i] = -1;
	for (int kind = 0; kind < SB_PEER_KINDS; kind++) {
		char name[] = "/tmp/shimblas-nvblas-XXXXXX";

		if (configure(name, cpu, (enum sb_peer_kind)kind))
			any |= measure(bench, name, (enum sb_peer_kind)kind);
		unlink(name);
	}
	return any ? library : "its process gave no times";
}
