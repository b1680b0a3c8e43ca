// This program replaces three functions of OpenBLAS: those that give and take back a buffer, see
// kept_openblas_buffer(), and the one that reads OPENBLAS_NUM_THREADS. So OpenBLAS is loaded with
// one thread: the others would wait at full load for their first work, at each start of the
// program, and only benchmarks use them, by openblas_set_num_threads(). OpenBLAS must be a shared
// library. Its builds with OpenMP, or without threads, have no such threads, and use the buffers.
#pragma once

#include <string>

namespace eckart::compute::cpu {

/// OpenBLAS allocates one buffer of 128 MiB of address space for each thread that has called it and
/// not ended, of a few hundred threads at most, and keeps it. If that allocation fails, OpenBLAS
/// retries forever. So call this before `threads` threads use OpenBLAS: it allocates their buffers.
/// Throws FatalError if there is not enough address space; `explanation` ends the message: "128 MiB
/// per lane".
void make_openblas_buffers(int threads, const std::string& explanation);

/// The buffer that the calling thread keeps for its next call of OpenBLAS; null if it has none.
///
/// OpenBLAS itself searches for a free buffer in each call, under a lock and in memory that all
/// threads write: 16 threads on small images only wait for each other. Here a thread keeps its
/// buffer until it ends.
const void* kept_openblas_buffer();

}  // namespace eckart::compute::cpu
