// A kernel with a bug on purpose: the fault report's demonstration. Built with line information,
// so that the report can point into this file.

// Meant to move x up by one place, but the last thread stores to y[n], one element past the end.
extern "C" __global__ void shift_off_by_one(const float* x, float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i + 1] = x[i];
    }
}
