#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace eckart {

/// An allocator whose vector does not initialize new elements without a value.
template <class T>
struct UninitializedAllocator : std::allocator<T> {
  using std::allocator<T>::allocator;

  template <class U>
  void construct(U* at) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};

/// Bytes. Those that resize() adds are uninitialized.
using ByteBuffer = std::vector<std::byte, UninitializedAllocator<std::byte>>;

}  // namespace eckart
