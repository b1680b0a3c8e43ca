#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "capacity/plan.hpp"

namespace eckart::capacity {

/// Why the logs are a weak basis, and what to do.
struct DataProblem {
  std::string what, remedy;
  /// The machine can do more than was measured, so the problem does not weaken a "yes".
  bool is_rate_too_low = false;
};

/// Returns the most important problem of the logs, if there is one.
std::optional<DataProblem> data_problem(const Plan& plan);

/// The first line of a plan.
struct Answer {
  enum class Kind {
    yes,
    no,
    cannot_tell,
    rate,  ///< there is no target: the rate of this machine
  };
  Kind kind = Kind::rate;
  std::string text = {};
  bool names_problem = false;  ///< `text` contains data_problem()
};

std::string_view to_string(Answer::Kind kind);  ///< "yes", "no", "cannot tell", "rate"
Answer answer(const Plan& plan);

}  // namespace eckart::capacity
