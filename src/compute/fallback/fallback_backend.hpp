#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compute/backend.hpp"

namespace eckart::compute {

/// Returns a backend that computes on `gpu` and handles OutOfMemory. It splits a batch in two, and
/// computes an image that does not fit alone on the CPU backend. `make_cpu` is called when that
/// backend is first needed. The planes that fit are remembered for each batch key and all lanes;
/// batch_planes() respects this limit. `warn` is called once per batch key, on the thread of any
/// lane. warnings() returns a summary.
std::unique_ptr<Backend> make_fallback_backend(
    std::unique_ptr<Backend> gpu, std::function<std::unique_ptr<Backend>()> make_cpu,
    std::function<void(const std::string& warning)> warn);

}  // namespace eckart::compute
