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
  explicit FakeMemory(Reserve reserve, bool decodes_jpeg = false)
      : reserve_(std::move(reserve)), decodes_jpeg_(decodes_jpeg) {}
  flow::Budget::Reservation reserve(std::size_t bytes) override { return reserve_(bytes); }
  bool leaves_jpeg_to_backend(const ImageShape&, std::size_t) override { return decodes_jpeg_; }

 private:
  const Reserve reserve_;
  const bool decodes_jpeg_;
};

}  // namespace eckart::test
