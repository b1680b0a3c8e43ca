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
  explicit FakeMemory(Reserve reserve) : reserve_(std::move(reserve)) {}
  flow::Budget::Reservation reserve(std::size_t bytes) override { return reserve_(bytes); }

 private:
  const Reserve reserve_;
};

}  // namespace eckart::test
