// Reductions to one partial result per block: no atomics, so the result depends on the launch shape only,
// never on the order in which blocks run. Any grid and any block are right.
#include "grid_stride.cuh"

// A block has at most 1024 threads on every device.
constexpr unsigned MAX_THREADS = 1024;

// partial[block] = the sum of the elements that the block's threads visit, for blocks of the grid's x axis.
// Each thread adds its elements in order of index; a tree over the threads then folds the upper half
// (the smaller one, if the count is odd) onto the lower.
extern "C" __global__ void reduce_sum(const float* x, float* partial, unsigned n) {
    __shared__ float sums[MAX_THREADS];
    unsigned t = threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (unsigned long long i = first_x(); i < n; i += stride_x()) {
        sum = __fadd_rn(sum, x[i]);
    }
    sums[t] = sum;
    __syncthreads();
#pragma unroll 1
    for (unsigned count = blockDim.x; count > 1;) {
        unsigned half = (count + 1) / 2;
        if (t + half < count) {
            sums[t] = __fadd_rn(sums[t], sums[t + half]);
        }
        __syncthreads();
        count = half;
    }
    if (t == 0) {
        partial[blockIdx.x] = sums[0];
    }
}

// minimum[block], maximum[block] of the elements that the block's threads visit;
// a block that visits none leaves 2147483647 and -2147483648.
extern "C" __global__ void reduce_min_max(const int* x, int* minimum, int* maximum, unsigned n) {
    __shared__ int minima[MAX_THREADS];
    __shared__ int maxima[MAX_THREADS];
    unsigned t = threadIdx.x;
    int low = 0x7fffffff;
    int high = -low - 1;
#pragma unroll 1
    for (unsigned long long i = first_x(); i < n; i += stride_x()) {
        low = min(low, x[i]);
        high = max(high, x[i]);
    }
    minima[t] = low;
    maxima[t] = high;
    __syncthreads();
#pragma unroll 1
    for (unsigned count = blockDim.x; count > 1;) {
        unsigned half = (count + 1) / 2;
        if (t + half < count) {
            minima[t] = min(minima[t], minima[t + half]);
            maxima[t] = max(maxima[t], maxima[t + half]);
        }
        __syncthreads();
        count = half;
    }
    if (t == 0) {
        minimum[blockIdx.x] = minima[0];
        maximum[blockIdx.x] = maxima[0];
    }
}
