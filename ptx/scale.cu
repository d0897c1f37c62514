// Scaling in place: the smallest kernel with a scalar argument, used by the documentation.

// x[i] = x[i] * factor for i < n. One thread per element.
extern "C" __global__ void scale(float* x, float factor, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = __fmul_rn(x[i], factor);
    }
}
