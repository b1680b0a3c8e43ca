#pragma once

#include <string>
#include <vector>

#include "capacity/log.hpp"

namespace eckart::capacity {

/// What runs must have in common for one to tell about another.
struct Kind {
  std::string cpu, backend, device;
  std::vector<std::string> settings = {};
  double pixels_per_image, input_bytes_per_image;

  bool is_like(const Kind& other) const;
};

/// Runs of the same work.
struct Group {
  Kind kind;
  std::vector<LoggedRun> runs;
};

std::vector<Group> by_kind(const std::vector<LoggedRun>& runs);

}  // namespace eckart::capacity
