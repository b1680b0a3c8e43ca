#pragma once

#include <string_view>

namespace eckart::bench {

/// The text of tools/baselines/experiments.py.
extern const std::string_view kPeerScript;

}  // namespace eckart::bench
