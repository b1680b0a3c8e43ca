#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace eckart::bench {

/// What the kernels of the experiments compute. All matrices are row-major.
enum class Operation {
  reconstruct,      ///< C = U diag(s) V': U is m x k, s has k elements, V' is k x n
  multiply,         ///< C = A B: A is m x k, B is k x n
  transpose,        ///< C = A': A is m x n, C is n x m
  add,              ///< c = a + b: n elements each
  multiply_vector,  ///< c = A b: A is m x n, b has n elements
};

enum class Precision { float32, float64 };
std::string_view to_string(Precision precision);

/// An operation on operands of some size. Sizes that the operation does not use are 1.
struct Shape {
  Operation operation = Operation::multiply;
  Precision precision = Precision::float32;
  int m = 1, n = 1, k = 1;
  bool operator==(const Shape&) const = default;

  std::vector<std::size_t> operand_sizes() const;  ///< in elements
  std::size_t result_size() const;                 ///< in elements
  std::size_t element_bytes() const { return precision == Precision::float32 ? 4 : 8; }
  /// Additions and multiplications.
  double flops() const;
  /// Bytes that any implementation must move: every operand is read once, the result is written
  /// once.
  double bytes() const;
};

using Array = std::variant<std::vector<float>, std::vector<double>>;
/// An array of zeros.
Array make_array(Precision precision, std::size_t size);

/// Uniform random numbers in (-1, 1) for each operand; the same for the same seed.
std::vector<Array> random_operands(const Shape& shape, int seed);

/// Measures the relative error of results in the Frobenius norm, in float64. A result of one column
/// is compared directly; others by products of the operands and of the result with random vectors x
/// of signs (Freivalds 1977): the mean square of E x is the squared norm of the error E. A single
/// wrong element shows as 1 / sqrt(elements) at least.
class Reference {
 public:
  Reference(const Shape& shape, const std::vector<Array>& operands);
  /// Not a number if an element is not.
  double relative_error(const Array& result) const;

 private:
  bool has_one_column_;           // the result: no random vectors are needed
  std::vector<double> vectors_;   // element by element, each of all vectors
  std::vector<double> expected_;  // the exact result times the vectors, in the same order
};

/// The largest relative error of a right result: rounding errors of sums of random numbers grow
/// with the square root of their count.
double max_relative_error(const Shape& shape);

}  // namespace eckart::bench
