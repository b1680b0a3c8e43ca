#pragma once

#include <cstdint>
#include <string>

#include "core/instant.hpp"

namespace eckart::cli {

/// Shows a number on stderr, such as "1,000 images listed", if it is a terminal. The destructor
/// erases it.
class CountProgress {
 public:
  /// `noun`: in the singular.
  CountProgress(std::string noun, std::string verb);
  ~CountProgress();
  CountProgress(const CountProgress&) = delete;
  CountProgress& operator=(const CountProgress&) = delete;
  /// Shows it a few times a second, however often it is called.
  void show(std::int64_t count);

 private:
  const std::string noun_, verb_;
  const bool is_shown_;
  Instant next_{};
};

}  // namespace eckart::cli
