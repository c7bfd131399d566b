// A kernel with the VM's parameters that does simple arithmetic instead of running programs. It
// tests the host side of a launch: transfers, cached blobs, arenas, counters, the stack and the
// timeout. plumbing.rs has the expected results.

typedef unsigned int u32;
typedef unsigned long long u64;

// The launch structure of docs/device.md.
struct Launch {
    u64 programs;
    u64 inputs;
    u64 jobs;
    u64 results;
    u64 output;
    u64 arenas;
    u64 counters;
    u64 cursor;
    u64 job_count;
    u64 output_words;
    u64 arena_bytes;
    u64 fuel;
    u64 work;
    u32 flags;
    u32 warps;
};

static_assert(sizeof(Launch) == 112, "the host passes 112 bytes");

// Uses stack as the VM does: one frame for each call.
__noinline__ __device__ u32 deep(u32 n, u32 salt) {
    volatile u32 frame[8];
    frame[n & 7] = salt + n;
    return n == 0 ? frame[0] - salt : deep(n - 1, frame[n & 7] - n) + 1;
}

extern "C" __global__ void __launch_bounds__(1024) batt_vm(const Launch launch) {
    const u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const u32 lane = threadIdx.x % 32;
    if (warp >= launch.warps) return;

    // Flag 31 makes the kernel busy for `fuel` ticks of the clock.
    if (launch.flags >> 31) {
        const long long start = clock64();
        while ((u64)(clock64() - start) < launch.fuel) {
        }
    }

    const u32 *programs = (const u32 *)launch.programs;
    const u32 *inputs = (const u32 *)launch.inputs;
    u64 *cursor = (u64 *)launch.cursor;
    u32 *arena = (u32 *)(launch.arenas + warp * launch.arena_bytes);
    u32 *last = arena + launch.arena_bytes / 4 - 32;

    for (;;) {
        u64 job = 0;
        if (lane == 0) job = atomicAdd(cursor, 1ULL);
        job = __shfl_sync(0xffffffffu, job, 0);
        if (job >= launch.job_count) return;

        const u32 *words = (const u32 *)launch.jobs + job * 4;
        u32 *result = (u32 *)launch.results + job * 4;

        // Writes both ends of the arena, so that overlapping arenas give wrong answers.
        arena[lane] = words[2];
        last[lane] = (u32)job;
        __syncwarp();
        const u32 kept = arena[31 - lane] ^ last[31 - lane];

        if (lane == 0) {
            u32 status = 0;
            const u64 at = atomicAdd(cursor + 1, 2ULL);
            if (at + 2 > launch.output_words) {
                status = 7;
            } else {
                u32 *output = (u32 *)launch.output + at;
                output[0] = programs[words[0]] + inputs[words[1]];
                output[1] = kept + deep(words[3] & 63, kept);
            }
            if (launch.counters) atomicAdd((u64 *)launch.counters + job % 3, 1ULL);
            result[0] = status;
            result[1] = (u32)at;
            result[2] = 2;
            result[3] = (u32)launch.fuel;
        }
        __syncwarp();
    }
}
