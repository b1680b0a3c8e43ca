#include "analysis/squared_errors.hpp"

#include <cstddef>

namespace eckart::analysis {

std::vector<double> squared_errors(std::span<const double> singular_values) {
  std::vector<double> errors(singular_values.size() + 1);
  for (std::size_t k = singular_values.size(); k-- > 0;)
    errors[k] = errors[k + 1] + singular_values[k] * singular_values[k];
  return errors;
}

}  // namespace eckart::analysis
