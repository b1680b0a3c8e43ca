#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compute/backend.hpp"

namespace eckart {

/// What is known of the GPU's want of memory, and what was done about it. Thread-safe; the lanes
/// share one.
class Shortage {
 public:
  using Warn = std::function<void(const std::string& warning)>;
  explicit Shortage(Warn warn) : warn_(std::move(warn)) {}

  /// As many of `planes` as a batch of this kind may have.
  int at_most(const BatchKind& kind, int planes) const;

  /// What did not fit; `why` is for people. From now on a batch of the kind has half as many.
  void batch_did_not_fit(const BatchKind& kind, int planes, const std::string& why);
  void image_did_not_fit(const BatchKind& kind, const std::string& why);
  void lane_did_not_fit(const std::string& why);

  void cut_in_halves();
  void computed_on_cpu();

  BackendCounts counts() const;
  std::vector<std::string> remarks() const;

 private:
  struct Known {
    int most_planes = 0;  ///< 0: no limit was found
    bool on_cpu = false;
  };

  Known& known(const BatchKind& kind);

  const Warn warn_;
  mutable std::mutex mutex_;
  std::map<BatchKind, Known> kinds_;
  BackendCounts counts_;
  bool lane_did_not_fit_ = false;
};

}  // namespace eckart
