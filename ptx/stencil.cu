// One Jacobi step for the Laplace equation on a pitched f32 array.

// Interior: out = 0.25 * (((left + right) + above) + below); the boundary is copied.
// Both arrays share `pitch`, in bytes and a multiple of 4. One thread per element, guarded.
extern "C" __global__ void stencil(const float* __restrict__ in, float* __restrict__ out, unsigned long long pitch,
                                   unsigned width, unsigned height) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    const float* row = (const float*)((const char*)in + y * pitch);
    float* out_row = (float*)((char*)out + y * pitch);
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        out_row[x] = row[x];
        return;
    }
    float above = ((const float*)((const char*)row - pitch))[x];
    float below = ((const float*)((const char*)row + pitch))[x];
    float sum = __fadd_rn(__fadd_rn(__fadd_rn(row[x - 1], row[x + 1]), above), below);
    out_row[x] = __fmul_rn(0.25f, sum);
}
