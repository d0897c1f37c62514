// Grid-stride indices: the kernels that include this are right for any grid and any block.
// 64 bits, because lengths may exceed 2^32 and `index + stride` must not wrap near the end.
#pragma once

__device__ inline unsigned long long first_x() {
    return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ inline unsigned long long first_y() {
    return (unsigned long long)blockIdx.y * blockDim.y + threadIdx.y;
}
__device__ inline unsigned long long stride_x() {
    return (unsigned long long)gridDim.x * blockDim.x;
}
__device__ inline unsigned long long stride_y() {
    return (unsigned long long)gridDim.y * blockDim.y;
}
