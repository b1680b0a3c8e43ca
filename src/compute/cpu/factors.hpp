#pragma once

#include "compute/backend.hpp"
#include "core/factors.hpp"

namespace eckart::compute::cpu {

/// Sets the triplets of a matrix of factors.rows x factors.cols, m x n if it is tall and otherwise
/// transposed, from `scale` A = left right', where one of the two has orthonormal columns and the
/// columns of the other are orthogonal. Both are column-major, m x k and n x k; the largest
/// singular value first. `squared_norm` is ||scale A||_F^2.
void set_factors(const double* left_mk, const double* right_nk, int k, double scale,
                 double squared_norm, eckart::Factors& factors);

/// Computes a task from Task::known_factors. Nothing is decomposed. If these do not suffice,
/// returns false if the samples of the task are known, and otherwise throws ItemError(unsupported).
bool reconstruct_from_factors(Task& task);

}  // namespace eckart::compute::cpu
