#pragma once

#include <string>
#include <vector>

#include "compute/backend.hpp"
#include "text/json.hpp"

namespace eckart::cli {

/// Returns one image of `eckart doctor`, reconstructed on this lane: the reference of checks.
compute::Task reconstruct_check_image(compute::Backend& backend, int lane = 0);

/// The maximum difference of all lanes from the reference.
struct MaxDifference {
  bool failed = false;  ///< a decomposition did not converge
  int samples = 0;      ///< that differ
  int levels = 0;       ///< of a sample
  double loss_db = 0;   ///< of PSNR; infinity if the reference is exact

  void add(const compute::Task& task, const compute::Task& reference);
  /// Uses the pixels of the output instead of the loss that the backend reports.
  bool is_acceptable() const;
};

/// What a backend is, and whether it computes what the reference did.
struct BackendCheck {
  std::string name, description;
  std::vector<std::string> details, warnings;
  int devices = 0;  ///< GPUs; the CPU is one
  int lanes = 0, lanes_checked = 0;
  MaxDifference difference{};
  double first_batch_ms = 0;
};

enum class LanesToCheck { all, one_per_device };

/// Tests these lanes against `reference`. one_per_device: of each GPU one, if there are as many
/// lanes; of the CPU one.
BackendCheck check_backend(compute::Backend& backend, const compute::Task& reference,
                           LanesToCheck lanes);

void print(const BackendCheck& check);
/// Returns an object of `checks` in docs/reference/json.md.
text::Json to_json(const BackendCheck& check);

}  // namespace eckart::cli
