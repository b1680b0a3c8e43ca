#pragma once

namespace eckart::bench {

/// What a call of a variant took, in seconds.
struct CallTimes {
  double compute_s = 0;  ///< the operands are in the memory of the device, but not in its caches
  /// Copying the operands to the device and the result back; 0 on the CPU.
  double copy_in_s = 0, copy_out_s = 0;
  /// Both with computing, by the clock of the host until the result is there; 0 on the CPU.
  double total_s = 0;
};

}  // namespace eckart::bench
