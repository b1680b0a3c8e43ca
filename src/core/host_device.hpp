#pragma once

/// Marks functions that kernels and the host share. Their headers do not need CUDA, so that they
/// can be tested without a GPU.
#ifdef __CUDACC__
#define ECKART_HOST_DEVICE __host__ __device__
#else
#define ECKART_HOST_DEVICE
#endif
