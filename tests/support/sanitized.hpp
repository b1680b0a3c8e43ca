#pragma once

namespace eckart::test {

/// Whether AddressSanitizer or ThreadSanitizer is enabled. A process then starts slowly, and needs
/// more address space than any limit of the tests allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace eckart::test
