#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace eckart {

/// Bytes that are not changed, in memory that exists as long as a copy of this object.
class SharedBytes {
 public:
  SharedBytes() = default;
  /// `owner` keeps the memory of `bytes`.
  SharedBytes(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}
  SharedBytes(std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    bytes_ = *owner;
    owner_ = std::move(owner);
  }
  operator std::span<const std::byte>() const { return bytes_; }

  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace eckart
