#pragma once

namespace eckart::test {

/// Whether AddressSanitizer or ThreadSanitizer is built in: a process starts slowly, and takes more
/// address space than any limit could leave.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace eckart::test
