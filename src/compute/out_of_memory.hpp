#pragma once

#include <stdexcept>

namespace eckart {

/// A batch did not fit into a backend's memory. Nothing else is harmed: the lane goes on, the slot
/// is free, and the batch may be tried again, in parts or elsewhere.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace eckart
