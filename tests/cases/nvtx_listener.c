/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a profiler injects: NVTX finds it by NVTX_INJECTION64_PATH and hands it its table. Appends a
 * line a range to the file that NVTX_LISTENER_LOG names: the thread, how deep, the domain, the
 * name; and one line when it is loaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

static const char *domain = "none";
static _Thread_local int depth;

static void say(const char *name)
{
	const char *path = getenv("NVTX_LISTENER_LOG");
	FILE *log = path ? fopen(path, "a") : NULL;

	if (!log)
		return;
	fprintf(log, "%d %d %s: %s\n", (int)gettid(), depth, domain, name);
	fclose(log);
}

static nvtxDomainHandle_t create(const char *name)
{
	domain = name;
	return (nvtxDomainHandle_t)&domain;
}

static int push(nvtxDomainHandle_t of, const nvtxEventAttributes_t *attributes)
{
	if (of != (nvtxDomainHandle_t)&domain)
		abort();
	say(attributes->message.ascii);
	return depth++;
}

static int pop(nvtxDomainHandle_t of)
{
	if (of != (nvtxDomainHandle_t)&domain || depth == 0)
		abort();
	return --depth;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
	const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
	NvtxFunctionTable table;
	unsigned size;

	if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
		return 0;
	*table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
	*table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
	*table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
	say("listening");
	return 1;
}
