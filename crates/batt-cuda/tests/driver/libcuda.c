// A fake driver that tests the host side on any machine. Device memory is host memory, every call
// takes effect at once, and the only kernel is the probe (src/probe.cu). Wrong use ends the process:
// an address outside of all allocations, a call without a context, or freeing something twice.
//
// FAKE_MEMORY  the device memory in bytes
// FAKE_FAIL    function:n:code makes the n-th call, counted from 0, of launch, query, upload,
//              download or load return the code
// FAKE_SCARCE  allocations beyond half of the memory fail, as if another process used the rest

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { GOOD = 0, OUT_OF_MEMORY = 2, NOT_READY = 600 };

typedef uint64_t address;
typedef struct { address start; uint64_t bytes; } block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block blocks[4096];
static int block_count;
static uint64_t total, used, peak;
// The numbers of objects that were created and not destroyed yet.
static long contexts, streams, events, modules, pinned, launches;
static double busy_until;
static __thread int current;

static void wrong(const char *what) {
    fprintf(stderr, "driver used wrongly: %s\n", what);
    abort();
}

static void need_context(void) {
    if (!current) wrong("no context");
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static int failure(const char *function) {
    static int calls;
    char name[32];
    int at, code;
    const char *text = getenv("FAKE_FAIL");
    if (!text || sscanf(text, "%31[^:]:%d:%d", name, &at, &code) != 3 || strcmp(name, function)) return GOOD;
    return __sync_fetch_and_add(&calls, 1) == at ? code : GOOD;
}

static void need_inside(address start, uint64_t bytes, const char *what) {
    int inside = bytes == 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < block_count; i++)
        inside |= start >= blocks[i].start && start + bytes <= blocks[i].start + blocks[i].bytes;
    pthread_mutex_unlock(&lock);
    if (!inside) wrong(what);
}

// Lets the tests read the state. It is not a function of CUDA.
void fake_state(uint64_t *state) {
    const uint64_t all[8] = {used, peak, contexts, streams, events, modules, pinned, launches};
    memcpy(state, all, sizeof all);
}

int cuInit(unsigned flags) {
    const char *memory = getenv("FAKE_MEMORY");
    total = memory ? strtoull(memory, 0, 10) : 1ull << 30;
    return GOOD;
}
int cuDriverGetVersion(int *version) { *version = 12080; return GOOD; }
int cuDeviceGetCount(int *count) { *count = 2; return GOOD; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return GOOD; }
int cuDeviceGetName(char *name, int room, int device) { snprintf(name, room, "Nothing %d", device); return GOOD; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = total; return GOOD; }
int cuDeviceGetAttribute(int *value, int which, int device) {
    // Compute capability 9.0, four multiprocessors.
    *value = which == 75 ? 9 : which == 76 ? 0 : which == 16 ? 4 : -1;
    return GOOD;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = (void *)(uintptr_t)(device + 1);
    __sync_fetch_and_add(&contexts, 1);
    return GOOD;
}
int cuDevicePrimaryCtxRelease_v2(int device) { __sync_fetch_and_sub(&contexts, 1); return GOOD; }
int cuCtxSetCurrent(void *context) { current = (int)(uintptr_t)context; return GOOD; }

static size_t stack = 1024;
int cuCtxGetLimit(size_t *value, int limit) { need_context(); *value = stack; return GOOD; }
int cuCtxSetLimit(int limit, size_t value) { need_context(); stack = value; return GOOD; }

int cuMemGetInfo_v2(size_t *free, size_t *all) {
    need_context();
    *free = total - used;
    *all = total;
    return GOOD;
}
int cuMemAlloc_v2(address *start, size_t bytes) {
    need_context();
    uint64_t most = getenv("FAKE_SCARCE") ? total / 2 : total;
    int status = OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    if (bytes > 0 && used + bytes <= most && block_count < 4096) {
        void *memory = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory != MAP_FAILED) {
            *start = (address)memory;
            blocks[block_count++] = (block){*start, bytes};
            used += bytes;
            if (used > peak) peak = used;
            status = GOOD;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}
int cuMemFree_v2(address start) {
    need_context();
    int found = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < block_count && !found; i++) {
        if (blocks[i].start != start) continue;
        munmap((void *)start, blocks[i].bytes);
        used -= blocks[i].bytes;
        blocks[i] = blocks[--block_count];
        found = 1;
    }
    pthread_mutex_unlock(&lock);
    if (!found) wrong("freed what was not allocated");
    return GOOD;
}
int cuMemHostAlloc(void **start, size_t bytes, unsigned flags) {
    need_context();
    *start = aligned_alloc(4096, bytes);
    if (!*start) return OUT_OF_MEMORY;
    __sync_fetch_and_add(&pinned, 1);
    return GOOD;
}
int cuMemFreeHost(void *start) { need_context(); free(start); __sync_fetch_and_sub(&pinned, 1); return GOOD; }
int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream) {
    need_context();
    need_inside(to, bytes, "copied to the wrong place");
    int status = failure("upload");
    if (status == GOOD) memcpy((void *)to, from, bytes);
    return status;
}
int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream) {
    need_context();
    need_inside(from, bytes, "copied from the wrong place");
    int status = failure("download");
    if (status == GOOD) memcpy(to, (void *)from, bytes);
    return status;
}
int cuMemsetD32Async(address to, unsigned word, size_t words, void *stream) {
    need_context();
    need_inside(to, words * 4, "filled the wrong place");
    for (size_t i = 0; i < words; i++) ((uint32_t *)to)[i] = word;
    return GOOD;
}

int cuModuleLoadData(void **module, const void *image) {
    need_context();
    int status = failure("load");
    if (status != GOOD) return status;
    *module = (void *)1;
    __sync_fetch_and_add(&modules, 1);
    return GOOD;
}
int cuModuleUnload(void *module) { need_context(); __sync_fetch_and_sub(&modules, 1); return GOOD; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = (void *)2;
    return strcmp(name, "batt_vm") ? 500 : GOOD;
}
int cuFuncGetAttribute(int *value, int which, void *function) { *value = 40; return GOOD; }
int cuFuncSetAttribute(void *function, int which, int value) { return GOOD; }
// Linking fails. Tests take their kernels from the cache.
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state) { return 500; }
int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned count, int *options, void **values) { return 500; }
int cuLinkComplete(void *state, void **cubin, size_t *size) { return 500; }
int cuLinkDestroy(void *state) { return GOOD; }
int cuStreamCreate(void **stream, unsigned flags) {
    need_context();
    *stream = (void *)3;
    __sync_fetch_and_add(&streams, 1);
    return GOOD;
}
int cuStreamDestroy_v2(void *stream) { need_context(); __sync_fetch_and_sub(&streams, 1); return GOOD; }
int cuStreamSynchronize(void *stream) { need_context(); return GOOD; }

int cuEventCreate(void **event, unsigned flags) {
    need_context();
    *event = calloc(1, sizeof(double));
    __sync_fetch_and_add(&events, 1);
    return GOOD;
}
int cuEventDestroy_v2(void *event) { free(event); __sync_fetch_and_sub(&events, 1); return GOOD; }
int cuEventRecord(void *event, void *stream) { *(double *)event = now(); return GOOD; }
int cuEventElapsedTime(float *millis, void *from, void *to) {
    *millis = (*(double *)to - *(double *)from) * 1e3;
    return GOOD;
}
int cuEventQuery(void *event) {
    int status = failure("query");
    return status != GOOD ? status : now() < busy_until ? NOT_READY : GOOD;
}
int cuGetErrorName(int code, const char **name) { *name = "CUDA_ERROR_MADE_UP"; return GOOD; }
int cuGetErrorString(int code, const char **text) { *text = "an error made up"; return GOOD; }

typedef struct {
    address programs, inputs, jobs, results, output, arenas, counters, cursor;
    uint64_t job_count, output_words, arena_bytes, fuel, work;
    uint32_t flags, warps;
} launch_parameters;

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra) {
    need_context();
    int status = failure("launch");
    if (status != GOOD) return status;
    __sync_fetch_and_add(&launches, 1);
    launch_parameters p;
    memcpy(&p, parameters[0], sizeof p);
    need_inside(p.jobs, p.job_count * 16, "jobs");
    need_inside(p.results, p.job_count * 16, "results");
    need_inside(p.output, p.output_words * 4, "output");
    need_inside(p.arenas, p.arena_bytes * p.warps, "arenas");
    need_inside(p.cursor, 16, "cursor");
    if (gx * (bx / 32) != p.warps || gy * gz * by * bz != 1 || bx % 32 || bx > 1024 || shared != bx * 64 || p.arena_bytes % 256) wrong("geometry");
    uint64_t *cursor = (uint64_t *)p.cursor;
    if (cursor[0] || cursor[1]) wrong("the cursor is not at the beginning");
    if (p.flags >> 31) {
        busy_until = now() + p.fuel * 1e-9;
        return GOOD;
    }
    // Jobs run in reverse, so a host that depends on their order fails.
    for (uint64_t job = p.job_count; job-- > 0;) {
        const uint32_t *words = (uint32_t *)p.jobs + job * 4;
        uint32_t *result = (uint32_t *)p.results + job * 4;
        if (result[0] != 9) wrong("results do not say that nothing was reached");
        uint32_t *arena = (uint32_t *)(p.arenas + job % p.warps * p.arena_bytes);
        uint32_t *last = arena + p.arena_bytes / 4 - 1;
        arena[0] = words[2];
        *last = (uint32_t)job;
        uint64_t at = cursor[1];
        cursor[0] += 1;
        cursor[1] += 2;
        uint32_t full = at + 2 > p.output_words;
        if (!full) {
            uint32_t *output = (uint32_t *)p.output + at;
            need_inside(p.programs + words[0] * 4ull, 4, "programs");
            need_inside(p.inputs + words[1] * 4ull, 4, "inputs");
            output[0] = ((uint32_t *)p.programs)[words[0]] + ((uint32_t *)p.inputs)[words[1]];
            output[1] = (arena[0] ^ *last) + (words[3] & 63);
        }
        if (p.counters) ((uint64_t *)p.counters)[job % 3]++;
        result[0] = full ? 7 : 0;
        result[1] = (uint32_t)at;
        result[2] = 2;
        result[3] = (uint32_t)p.fuel;
    }
    return GOOD;
}
