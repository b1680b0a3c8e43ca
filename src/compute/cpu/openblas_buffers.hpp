#pragma once

#include <string>

namespace eckart::compute::cpu {

/// OpenBLAS allocates one buffer of 128 MiB of address space for each thread that calls it at the
/// same time, and keeps it. If that allocation fails, OpenBLAS retries forever. So call this before
/// `threads` threads use OpenBLAS: it allocates their buffers. Throws FatalError if there is not
/// enough address space; `explanation` ends the message: "128 MiB per lane".
void make_openblas_buffers(int threads, const std::string& explanation);

}  // namespace eckart::compute::cpu
