#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compute/backend.hpp"

namespace eckart {

/// `gpu`, and what is done when its memory runs out: a batch is split in two, and an image
/// that does not fit alone, on the backend that `make_cpu` makes when it is first needed. What a
/// batch of a kind may hold is remembered for all lanes, and batch_planes() tells it. `warn` is
/// called once a batch key, on any lane's thread; warnings() has the sum.
std::unique_ptr<Backend> make_fallback_backend(
    std::unique_ptr<Backend> gpu, std::function<std::unique_ptr<Backend>()> make_cpu,
    std::function<void(const std::string& warning)> warn);

}  // namespace eckart
