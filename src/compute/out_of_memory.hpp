#pragma once

#include <stdexcept>
#include <string>

namespace eckart::compute {

enum class MemoryKind {
  gpu,
  pinned_host  ///< host memory that a GPU copies to and from; the driver may limit it
};

/// "GPU memory" or "pinned host memory".
constexpr const char* to_text(MemoryKind kind) {
  return kind == MemoryKind::gpu ? "GPU memory" : "pinned host memory";
}

/// A batch did not fit into the memory of a backend. The lane remains usable and the slot is free.
/// The batch may be tried again, in parts or on another backend.
class OutOfMemory : public std::runtime_error {
 public:
  explicit OutOfMemory(const std::string& message, MemoryKind kind = MemoryKind::gpu)
      : std::runtime_error(message), kind_(kind) {}
  MemoryKind kind() const { return kind_; }

 private:
  MemoryKind kind_;
};

}  // namespace eckart::compute
