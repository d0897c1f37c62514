// Fills by bit pattern: NaN payloads and -0.0 arrive as given. One kernel per element size
// (1, 2, 4, 8, 16 bytes) and one that repeats a pattern of any size, each linear and pitched.
// Any grid and any block are right; padding between pitched rows is never written.
#include "grid_stride.cuh"

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

// Unrolling would only make the PTX long: a fill is bound by memory.
template <typename T> __device__ inline void fill(T* out, u64 n, T pattern) {
#pragma unroll 1
    for (u64 i = first_x(); i < n; i += stride_x()) {
        out[i] = pattern;
    }
}

// `pitch` is in bytes and a multiple of the element's size, `width` in elements, `height` in rows.
template <typename T>
__device__ inline void fill_pitched(T* out, u64 pitch, u64 width, u64 height, T pattern) {
#pragma unroll 1
    for (u64 y = first_y(); y < height; y += stride_y()) {
        T* row = (T*)((u8*)out + y * pitch);
#pragma unroll 1
        for (u64 x = first_x(); x < width; x += stride_x()) {
            row[x] = pattern;
        }
    }
}

// Linear: out[i] = pattern for i < n (elements).
extern "C" __global__ void fill_u8(u8* out, u64 n, u8 pattern) { fill(out, n, pattern); }
extern "C" __global__ void fill_u16(u16* out, u64 n, u16 pattern) { fill(out, n, pattern); }
extern "C" __global__ void fill_u32(u32* out, u64 n, u32 pattern) { fill(out, n, pattern); }
extern "C" __global__ void fill_u64(u64* out, u64 n, u64 pattern) { fill(out, n, pattern); }
// 16-byte elements: `low` is the half at the lower address. `out` is aligned to 16 bytes.
extern "C" __global__ void fill_u128(ulonglong2* out, u64 n, u64 low, u64 high) {
    fill(out, n, make_ulonglong2(low, high));
}

// Pitched: element x of row y = pattern for x < width, y < height.
extern "C" __global__ void fill_pitched_u8(u8* out, u64 pitch, u64 width, u64 height, u8 pattern) {
    fill_pitched(out, pitch, width, height, pattern);
}
extern "C" __global__ void fill_pitched_u16(u16* out, u64 pitch, u64 width, u64 height, u16 pattern) {
    fill_pitched(out, pitch, width, height, pattern);
}
extern "C" __global__ void fill_pitched_u32(u32* out, u64 pitch, u64 width, u64 height, u32 pattern) {
    fill_pitched(out, pitch, width, height, pattern);
}
extern "C" __global__ void fill_pitched_u64(u64* out, u64 pitch, u64 width, u64 height, u64 pattern) {
    fill_pitched(out, pitch, width, height, pattern);
}
// `pitch` is a multiple of 16 here.
extern "C" __global__ void fill_pitched_u128(ulonglong2* out, u64 pitch, u64 width, u64 height, u64 low, u64 high) {
    fill_pitched(out, pitch, width, height, make_ulonglong2(low, high));
}

// For elements of any other size (12 or 24 bytes, say): byte i = pattern[i % period] for i < n (bytes).
// `period` is the element's size and not zero.
extern "C" __global__ void fill_repeat(u8* out, u64 n, const u8* pattern, u32 period) {
#pragma unroll 1
    for (u64 i = first_x(); i < n; i += stride_x()) {
        out[i] = pattern[i % period];
    }
}
// The same per row: `pitch` and `width` are in bytes, and each row starts the pattern anew.
extern "C" __global__ void fill_pitched_repeat(u8* out, u64 pitch, u64 width, u64 height, const u8* pattern,
                                               u32 period) {
#pragma unroll 1
    for (u64 y = first_y(); y < height; y += stride_y()) {
        u8* row = out + y * pitch;
#pragma unroll 1
        for (u64 x = first_x(); x < width; x += stride_x()) {
            row[x] = pattern[x % period];
        }
    }
}
