// Runs one matrix instruction of a Hopper GPU on tiles of a file: D = A * B + C.
//
//     tiles FORM A B C D
//
// Every tile has 64 rows and 8 columns. Its operands lie in the files one tile after another, as raw codes:
// A as 64 rows of 32 bytes, B as 8 columns of 32 bytes (the 32 bytes are 8, 16 or 32 consecutive products' operands),
// C and D as 64 rows of 8 codes of two or four bytes. `tiles` without arguments lists the forms.
//
// The forms share one layout in bytes: a thread (lane `4 * g + t` of a warp) holds bytes 4t.. and 16 + 4t.. of rows g
// and g + 8 of A, and the same bytes of column g of B. It holds columns 2t and 2t + 1 of rows g and g + 8 of C and D.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int ROWS = 64, COLUMNS = 8, BYTES = 32;

struct Operands {
    uint32_t a[4], b[2], d[4];
    uint64_t b_descriptor;
};

#define WGMMA_F32(SHAPE, TYPES, TAIL)                                                                                \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                                                          \
                 "wgmma.fence.sync.aligned;\n"                                                                       \
                 "wgmma.mma_async.sync.aligned." SHAPE ".f32." TYPES                                                 \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, 1, 1" TAIL ";\n"                                       \
                 "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n}"                             \
                 : "+r"(o.d[0]), "+r"(o.d[1]), "+r"(o.d[2]), "+r"(o.d[3])                                            \
                 : "r"(o.a[0]), "r"(o.a[1]), "r"(o.a[2]), "r"(o.a[3]), "l"(o.b_descriptor)                           \
                 : "memory")
#define WGMMA_F16(SHAPE, TYPES, TAIL)                                                                                \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"                                                          \
                 "wgmma.fence.sync.aligned;\n"                                                                       \
                 "wgmma.mma_async.sync.aligned." SHAPE ".f16." TYPES                                                 \
                 " {%0, %1}, {%2, %3, %4, %5}, %6, p, 1, 1" TAIL ";\n"                                               \
                 "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n}"                             \
                 : "+r"(o.d[0]), "+r"(o.d[1])                                                                        \
                 : "r"(o.a[0]), "r"(o.a[1]), "r"(o.a[2]), "r"(o.a[3]), "l"(o.b_descriptor)                           \
                 : "memory")
#define MMA_F32(SHAPE, TYPES)                                                                                        \
    asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPES ".f32"                                              \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                  \
                 : "+r"(o.d[0]), "+r"(o.d[1]), "+r"(o.d[2]), "+r"(o.d[3])                                            \
                 : "r"(o.a[0]), "r"(o.a[1]), "r"(o.a[2]), "r"(o.a[3]), "r"(o.b[0]), "r"(o.b[1]))
#define MMA_F16(SHAPE, TYPES)                                                                                        \
    asm volatile("mma.sync.aligned." SHAPE ".row.col.f16." TYPES ".f16"                                              \
                 " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"                                                  \
                 : "+r"(o.d[0]), "+r"(o.d[1])                                                                        \
                 : "r"(o.a[0]), "r"(o.a[1]), "r"(o.a[2]), "r"(o.a[3]), "r"(o.b[0]), "r"(o.b[1]))

// Name, bytes of a code of C and D, instruction. The trailing ", 0" keeps B as it is stored, K consecutive.
#define FORMS(FORM)                                                                                                  \
    FORM(wgmma_e4m3_e4m3_f32, 4, WGMMA_F32("m64n8k32", "e4m3.e4m3", ""))                                             \
    FORM(wgmma_e4m3_e5m2_f32, 4, WGMMA_F32("m64n8k32", "e4m3.e5m2", ""))                                             \
    FORM(wgmma_e5m2_e4m3_f32, 4, WGMMA_F32("m64n8k32", "e5m2.e4m3", ""))                                             \
    FORM(wgmma_e5m2_e5m2_f32, 4, WGMMA_F32("m64n8k32", "e5m2.e5m2", ""))                                             \
    FORM(wgmma_e4m3_e4m3_f16, 2, WGMMA_F16("m64n8k32", "e4m3.e4m3", ""))                                             \
    FORM(wgmma_e4m3_e5m2_f16, 2, WGMMA_F16("m64n8k32", "e4m3.e5m2", ""))                                             \
    FORM(wgmma_e5m2_e4m3_f16, 2, WGMMA_F16("m64n8k32", "e5m2.e4m3", ""))                                             \
    FORM(wgmma_e5m2_e5m2_f16, 2, WGMMA_F16("m64n8k32", "e5m2.e5m2", ""))                                             \
    FORM(wgmma_f16_f16_f32, 4, WGMMA_F32("m64n8k16", "f16.f16", ", 0"))                                              \
    FORM(wgmma_f16_f16_f16, 2, WGMMA_F16("m64n8k16", "f16.f16", ", 0"))                                              \
    FORM(wgmma_bf16_bf16_f32, 4, WGMMA_F32("m64n8k16", "bf16.bf16", ", 0"))                                          \
    FORM(wgmma_tf32_tf32_f32, 4, WGMMA_F32("m64n8k8", "tf32.tf32", ""))                                              \
    FORM(mma_f16_f16_f32, 4, MMA_F32("m16n8k16", "f16.f16"))                                                         \
    FORM(mma_f16_f16_f16, 2, MMA_F16("m16n8k16", "f16.f16"))                                                         \
    FORM(mma_bf16_bf16_f32, 4, MMA_F32("m16n8k16", "bf16.bf16"))                                                     \
    FORM(mma_tf32_tf32_f32, 4, MMA_F32("m16n8k8", "tf32.tf32"))                                                      \
    FORM(mma_e4m3_e4m3_f32, 4, MMA_F32("m16n8k32", "e4m3.e4m3"))                                                     \
    FORM(mma_e5m2_e5m2_f32, 4, MMA_F32("m16n8k32", "e5m2.e5m2"))                                                     \
    FORM(mma_e4m3_e4m3_f16, 2, MMA_F16("m16n8k32", "e4m3.e4m3"))

enum Form {
#define NAME(name, bytes, instruction) name,
    FORMS(NAME)
#undef NAME
        COUNT
};
const char *const NAMES[] = {
#define NAME(name, bytes, instruction) #name,
    FORMS(NAME)
#undef NAME
};
const int CODE_BYTES[] = {
#define NAME(name, bytes, instruction) bytes,
    FORMS(NAME)
#undef NAME
};

template <Form form> __device__ void multiply(Operands &o) {
#define CASE(name, bytes, instruction)                                                                               \
    if constexpr (form == name)                                                                                      \
        instruction;
    FORMS(CASE)
#undef CASE
}

// One block of 128 threads (a warpgroup) computes one tile.
template <Form form, int code_bytes>
__global__ void tile(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *d) {
    // Two core matrices of 8 columns by 16 bytes, without swizzle; they are neighbors in K and 128 bytes apart.
    __shared__ alignas(128) uint8_t shared[COLUMNS * BYTES];
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    a += size_t(blockIdx.x) * ROWS * BYTES;
    b += size_t(blockIdx.x) * COLUMNS * BYTES;
    c += size_t(blockIdx.x) * ROWS * COLUMNS * code_bytes;
    d += size_t(blockIdx.x) * ROWS * COLUMNS * code_bytes;
    for (int i = threadIdx.x; i < COLUMNS * BYTES; i += blockDim.x) {
        const int column = i / BYTES, byte = i % BYTES;
        shared[byte / 16 * 128 + column * 16 + byte % 16] = b[i];
    }
    // The instruction reads shared memory through the asynchronous proxy.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    Operands o = {};
    auto word = [](const uint8_t *at) { return *reinterpret_cast<const uint32_t *>(at); };
    for (int i = 0; i < 4; i++)
        o.a[i] = word(a + (16 * warp + g + i % 2 * 8) * BYTES + 4 * t + i / 2 * 16);
    for (int i = 0; i < 2; i++)
        o.b[i] = word(b + g * BYTES + 4 * t + i * 16);
    // Start address, distance of core matrices in K and in N (there is one in N), each in 16 bytes; no swizzle.
    const uint64_t start = __cvta_generic_to_shared(shared);
    o.b_descriptor = (start & 0x3FFFF) >> 4 | uint64_t(128 >> 4) << 16 | uint64_t(128 >> 4) << 32;
    const int place = (16 * warp + g) * COLUMNS + 2 * t;
    for (int half = 0; half < 2; half++) {
        const int at = (place + half * 8 * COLUMNS) * code_bytes;
        if (code_bytes == 4) {
            o.d[2 * half] = word(c + at);
            o.d[2 * half + 1] = word(c + at + 4);
        } else {
            o.d[half] = word(c + at);
        }
    }
    multiply<form>(o);
    auto store = [](uint8_t *at, uint32_t value) { *reinterpret_cast<uint32_t *>(at) = value; };
    for (int half = 0; half < 2; half++) {
        const int at = (place + half * 8 * COLUMNS) * code_bytes;
        if (code_bytes == 4) {
            store(d + at, o.d[2 * half]);
            store(d + at + 4, o.d[2 * half + 1]);
        } else {
            store(d + at, o.d[half]);
        }
    }
}

void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        exit(1);
    }
}

std::vector<uint8_t> read(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    std::vector<uint8_t> bytes;
    uint8_t buffer[1 << 16];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        bytes.insert(bytes.end(), buffer, buffer + got);
    fclose(file);
    return bytes;
}

uint8_t *to_device(const std::vector<uint8_t> &bytes) {
    uint8_t *at;
    check(cudaMalloc(&at, bytes.size()), "cudaMalloc");
    check(cudaMemcpy(at, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copy to the device");
    return at;
}

int main(int count, char **arguments) {
    if (count != 6) {
        for (const char *name : NAMES)
            puts(name);
        return count != 1;
    }
    int form = 0;
    while (form < COUNT && strcmp(arguments[1], NAMES[form]))
        form++;
    if (form == COUNT) {
        fprintf(stderr, "unknown form `%s`\n", arguments[1]);
        return 1;
    }
    const auto a = read(arguments[2]), b = read(arguments[3]), c = read(arguments[4]);
    const size_t tiles = a.size() / (ROWS * BYTES), results = tiles * ROWS * COLUMNS * CODE_BYTES[form];
    if (!tiles || a.size() != tiles * ROWS * BYTES || b.size() != tiles * COLUMNS * BYTES || c.size() != results) {
        fprintf(stderr, "the sizes of A, B and C do not belong to a whole number of tiles\n");
        return 1;
    }
    uint8_t *const da = to_device(a), *const db = to_device(b), *const dc = to_device(c);
    // An element that is not written keeps a code that no addition returns.
    std::vector<uint8_t> d(results, 0xA5);
    uint8_t *const dd = to_device(d);
    switch (form) {
#define CASE(name, bytes, instruction)                                                                               \
    case name:                                                                                                       \
        tile<name, bytes><<<tiles, 128>>>(da, db, dc, dd);                                                           \
        break;
        FORMS(CASE)
#undef CASE
    }
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), arguments[1]);
    check(cudaMemcpy(d.data(), dd, results, cudaMemcpyDeviceToHost), "copy from the device");
    FILE *file = fopen(arguments[5], "wb");
    if (!file || fwrite(d.data(), 1, results, file) != results || fclose(file)) {
        perror(arguments[5]);
        return 1;
    }
    return 0;
}
