#pragma once

#include <stdexcept>

namespace eckart::compute {

/// A batch did not fit into the memory of a backend. The lane remains usable and the slot is free.
/// The batch may be tried again, in parts or on another backend.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace eckart::compute
