#include "io/process_token.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>

namespace eckart::io {

const std::string& process_token() {
  static const std::string digits = [] {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != ssize_t(sizeof number))
      number = std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count());
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016" PRIx64, number);
    return std::string(text.data());
  }();
  return digits;
}

}  // namespace eckart::io
