#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "pipeline/load.hpp"

namespace eckart::test {

/// Reserves bytes with a function of the test.
class FakeMemory : public pipeline::LoadContext {
 public:
  using Reserve = std::function<flow::Budget::Reservation(std::size_t bytes)>;
  explicit FakeMemory(Reserve reserve, bool leaves_to_backend = false)
      : reserve_(std::move(reserve)), leaves_to_backend_(leaves_to_backend) {}
  flow::Budget::Reservation reserve(std::size_t bytes) override { return reserve_(bytes); }
  bool leaves_to_backend(ImageFormat, const ImageShape&, std::size_t) override {
    return leaves_to_backend_;
  }

 private:
  const Reserve reserve_;
  const bool leaves_to_backend_;
};

}  // namespace eckart::test
