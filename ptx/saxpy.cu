// y = a*x + y in single and double precision, as in BLAS level 1.
// Product and sum are rounded separately (never fused), so that plain host code gives the same bits.

// y[i] = a*x[i] + y[i] for i < n. One thread per element.
extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __fadd_rn(__fmul_rn(a, x[i]), y[i]);
    }
}

// The same for doubles.
extern "C" __global__ void daxpy(double a, const double* x, double* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __dadd_rn(__dmul_rn(a, x[i]), y[i]);
    }
}
