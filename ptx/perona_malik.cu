// One explicit step of anisotropic diffusion on a pitched grey image: P. Perona, J. Malik, "Scale-space and
// edge detection using anisotropic diffusion", IEEE PAMI 12(7), 1990, with four neighbours and their second
// conductance. That one needs no exponential, so every operation here is exactly rounded.

// The flux from a neighbour that is brighter by d: d / (1 + (d / kappa)^2).
// Odd in d to the last bit, so what one pixel gains its neighbour loses.
__device__ inline float flux(float d, float kappa) {
    float q = __fdiv_rn(d, kappa);
    float conductance = __fdiv_rn(1.0f, __fadd_rn(1.0f, __fmul_rn(q, q)));
    return __fmul_rn(conductance, d);
}

// out = c + lambda * (((flux(up) + flux(down)) + flux(left)) + flux(right)).
// Outside the image the border is repeated (no flux through it). `kappa` is in the image's own unit (values in
// 0..1 or 0..255 alike) and not zero; the scheme is stable for lambda in 0..=0.25.
// Pitches are in bytes and multiples of 4. One thread per pixel, guarded.
extern "C" __global__ void perona_malik(const float* __restrict__ in, unsigned long long in_pitch,
                                        float* __restrict__ out, unsigned long long out_pitch, unsigned width,
                                        unsigned height, float kappa, float lambda) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    unsigned left = x == 0 ? x : x - 1;
    unsigned right = x == width - 1 ? x : x + 1;
    unsigned up = y == 0 ? y : y - 1;
    unsigned down = y == height - 1 ? y : y + 1;
    const float* row = (const float*)((const char*)in + y * in_pitch);
    const float* row_up = (const float*)((const char*)in + up * in_pitch);
    const float* row_down = (const float*)((const char*)in + down * in_pitch);

    float c = row[x];
    float sum = flux(__fsub_rn(row_up[x], c), kappa);
    sum = __fadd_rn(sum, flux(__fsub_rn(row_down[x], c), kappa));
    sum = __fadd_rn(sum, flux(__fsub_rn(row[left], c), kappa));
    sum = __fadd_rn(sum, flux(__fsub_rn(row[right], c), kappa));
    ((float*)((char*)out + y * out_pitch))[x] = __fadd_rn(c, __fmul_rn(lambda, sum));
}
