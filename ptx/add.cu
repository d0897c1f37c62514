// Vector addition: the smallest kernel worth launching, used by the documentation.

// c[i] = a[i] + b[i] for i < n. One thread per element.
extern "C" __global__ void add(const float* a, const float* b, float* c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = __fadd_rn(a[i], b[i]);
    }
}
