// Copies within device memory: linear by 4-byte and 16-byte words, and a rectangle between two pitches.
// Any grid and any block are right. Source and destination do not overlap.
#include "grid_stride.cuh"

using u8 = unsigned char;
using u32 = unsigned int;
using u64 = unsigned long long;

// `n` counts words.
template <typename T> __device__ inline void copy(const T* __restrict__ source, T* __restrict__ destination, u64 n) {
#pragma unroll 1
    for (u64 i = first_x(); i < n; i += stride_x()) {
        destination[i] = source[i];
    }
}

extern "C" __global__ void copy_u32(const u32* __restrict__ source, u32* __restrict__ destination, u64 n) {
    copy(source, destination, n);
}
// Both pointers are aligned to 16 bytes.
extern "C" __global__ void copy_u128(const uint4* __restrict__ source, uint4* __restrict__ destination, u64 n) {
    copy(source, destination, n);
}

// Pitches and `width` are in bytes, `height` in rows. Padding is neither read nor written.
extern "C" __global__ void copy_pitched(const u8* __restrict__ source, u64 source_pitch, u8* __restrict__ destination,
                                        u64 destination_pitch, u64 width, u64 height) {
#pragma unroll 1
    for (u64 y = first_y(); y < height; y += stride_y()) {
        const u8* from = source + y * source_pitch;
        u8* to = destination + y * destination_pitch;
#pragma unroll 1
        for (u64 x = first_x(); x < width; x += stride_x()) {
            to[x] = from[x];
        }
    }
}
