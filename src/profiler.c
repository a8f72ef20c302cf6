/* SPDX-License-Identifier: BSD-3-Clause */
#include "profiler.h"

#ifdef HAVE_NVTX3_NVTOOLSEXT_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include <nvtx3/nvToolsExt.h>

#include "settings.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static nvtxDomainHandle_t domain;

static void create_domain(void)
{
	domain = nvtxDomainCreateA("ShimBLAS");
	/* A library that could not be loaded is no matter of the program's. */
	(void)dlerror();
}

bool sb_profiler_listens(void)
{
	return sb_settings()->profiler;
}

void sb_profiler_begin(const char *name)
{
	nvtxEventAttributes_t attributes = {
		.version = NVTX_VERSION,
		.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
		.messageType = NVTX_MESSAGE_TYPE_ASCII,
		.message = {.ascii = name},
	};

	pthread_once(&once, create_domain);
	(void)nvtxDomainRangePushEx(domain, &attributes);
}

void sb_profiler_end(void)
{
	(void)nvtxDomainRangePop(domain);
}

#else

bool sb_profiler_listens(void)
{
	return false;
}

void sb_profiler_begin(const char *name)
{
	(void)name;
}

void sb_profiler_end(void)
{
}

#endif
