/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry.h"

#include <stddef.h>
#include <string.h>

#include "settings.h"
#include "trace.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Methods whose kernels fetch by bulk tensor copies, and so read the maps of their arguments. */
static const char *const mapped_sources[] = {"sgemm_bulk"};

static const struct sb_kernel kernels[] = {
#define SB_KERNEL(method, bm_, bn_, bk_, threads_, tm_, tn_, stages_, dynamic_, form_, arch_,      \
		  text_)                                                                           \
	{.name = "sgemm_" #method "_" #bm_ "x" #bn_ "x" #bk_,                                      \
	 .source = "sgemm_" #method,                                                               \
	 .text = text_,                                                                            \
	 .bm = bm_,                                                                                \
	 .bn = bn_,                                                                                \
	 .bk = bk_,                                                                                \
	 .threads = threads_,                                                                      \
	 .tm = tm_,                                                                                \
	 .tn = tn_,                                                                                \
	 .stages = stages_,                                                                        \
	 .dynamic = dynamic_,                                                                      \
	 .form = SB_FORM_##form_,                                                                  \
	 .arch = arch_},
#include "kernels.def"
};

static const struct sb_pack_kernel pack_kernels[] = {
#define SB_PACK(method, bi_, bk_, threads_, text_)                                                 \
	{.name = "pack_" #method "_" #bi_ "x" #bk_,                                                \
	 .source = "pack_" #method,                                                                \
	 .text = text_,                                                                            \
	 .bi = bi_,                                                                                \
	 .bk = bk_,                                                                                \
	 .threads = threads_},
#include "kernels.def"
};

/*
 * What is preferred where, best first: the first row that the architecture has and whose least
 * sizes the call reaches. The last row serves everything.
 */
static const struct {
	const char *source;
	int64_t least_mn, least_k; /* least of m and n; of k */
} preferences[] = {
	{"sgemm_bulk", 512, 128},
	{"sgemm_dynamic", 256, 64},
	{"sgemm_double", 128, 32},
	{"sgemm_plain", 0, 0},
};

bool sb_registry_has_maps(const struct sb_kernel *kernel)
{
	for (size_t i = 0; i < COUNT(mapped_sources); i++)
		if (strcmp(kernel->source, mapped_sources[i]) == 0)
			return true;
	return false;
}

int sb_registry_count(void)
{
	return (int)COUNT(kernels);
}

const struct sb_kernel *sb_registry_row(int row)
{
	return &kernels[row];
}

const struct sb_kernel *sb_registry_find(const char *name)
{
	for (size_t i = 0; i < COUNT(kernels); i++)
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	return NULL;
}

const struct sb_kernel *sb_registry_plain(void)
{
	return &kernels[0];
}

static bool runs_on(const struct sb_kernel *kernel, int arch, bool maps)
{
	return kernel->arch <= arch && (maps || !sb_registry_has_maps(kernel));
}

const struct sb_kernel *sb_registry_pick(int64_t m, int64_t n, int64_t k, int arch, bool maps)
{
	int64_t mn = m < n ? m : n;

	for (size_t p = 0; p < COUNT(preferences); p++) {
		if (mn < preferences[p].least_mn || k < preferences[p].least_k)
			continue;
		for (size_t i = 0; i < COUNT(kernels); i++)
			if (strcmp(kernels[i].source, preferences[p].source) == 0 &&
			    runs_on(&kernels[i], arch, maps))
				return &kernels[i];
	}
	return sb_registry_plain();
}

const struct sb_kernel *sb_registry_choose(int64_t m, int64_t n, int64_t k, int arch, bool maps)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	const struct sb_kernel *picked = sb_registry_pick(m, n, k, arch, maps);
	const char *name = sb_settings()->kernel;
	const struct sb_kernel *named = *name ? sb_registry_find(name) : NULL;

	if (!*name)
		return picked;
	if (named && runs_on(named, arch, maps))
		return named;
	sb_trace_once(&said, "SHIMBLAS_KERNEL=%s %s; using %s", name,
		      named ? "does not run on this device" : "is no kernel (see shimblas info)",
		      picked->name);
	return picked;
}

const struct sb_kernel *sb_registry_narrow(const struct sb_kernel *kernel)
{
	for (size_t i = 0; i < COUNT(kernels) && !*sb_settings()->kernel; i++) {
		const struct sb_kernel *other = &kernels[i];

		if (strcmp(other->source, kernel->source) == 0 && other->form == kernel->form &&
		    other->arch <= kernel->arch && kernel->bm % other->bm == 0 &&
		    kernel->bn % other->bn == 0 && kernel->bk % other->bk == 0 &&
		    other->bm * other->bn < kernel->bm * kernel->bn)
			return other;
	}
	return NULL;
}

const struct sb_pack_kernel *sb_registry_pack(bool k_contiguous)
{
	const char *source = k_contiguous ? "pack_across" : "pack_along";

	for (size_t i = 0; i < COUNT(pack_kernels); i++)
		if (strcmp(pack_kernels[i].source, source) == 0)
			return &pack_kernels[i];
	return &pack_kernels[0]; /* each is right for any strides */
}
