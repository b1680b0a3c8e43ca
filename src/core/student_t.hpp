#pragma once

#include <cstddef>

namespace eckart {

/// Half the width of the 95 % interval of a normal distribution, in standard deviations.
inline constexpr double kNormalQuantile975 = 1.96;

/// Returns the same for Student's t distribution with `degrees` degrees of freedom, at least 1.
double student_t(std::size_t degrees);

}  // namespace eckart
