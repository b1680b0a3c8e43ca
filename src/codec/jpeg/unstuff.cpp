#include "codec/jpeg/unstuff.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace eckart::codec::jpeg {

std::optional<std::size_t> unstuff(std::span<const std::byte> scan, std::span<std::byte> data) {
  constexpr int kPrefix = 0xFF;
  constexpr std::byte kStuffed{0}, kEndOfImage{0xD9};
  if (data.size() < max_unstuffed_bytes(scan.size()))
    throw std::logic_error("the buffer for the data of a scan is too small");
  std::size_t size = 0;
  for (;;) {
    if (scan.empty()) return std::nullopt;
    const auto* prefix =
        static_cast<const std::byte*>(std::memchr(scan.data(), kPrefix, scan.size()));
    if (prefix == nullptr) return std::nullopt;
    const auto count = std::size_t(prefix - scan.data());
    if (count + 1 == scan.size()) return std::nullopt;
    const bool is_data = prefix[1] == kStuffed;
    std::memcpy(data.data() + size, scan.data(), count + is_data);
    size += count + is_data;
    if (!is_data) {
      if (prefix[1] != kEndOfImage) return std::nullopt;
      const std::size_t whole = max_unstuffed_bytes(size);
      std::fill(data.begin() + std::ptrdiff_t(size), data.begin() + std::ptrdiff_t(whole),
                std::byte(0));
      return size;
    }
    scan = scan.subspan(count + 2);
  }
}

}  // namespace eckart::codec::jpeg
