#include "compute/cpu/float32_reconstruction.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdint>

#include "compute/cpu/matrix_size.hpp"

namespace eckart::compute::cpu {
namespace {

// Samples of a band: its values and the originals as float32 are 256 KiB.
constexpr int kBandSamples = 1 << 15;
// Wide bands may leave the cache: few rows would make the products slow.
constexpr int kMinBandRows = 32;

/// The plane as it is in the image, which may be the transposed of a tall matrix.
template <class T>
MatrixView<T> in_image_order(MatrixView<T> view) {
  return view.col_stride > view.row_stride ? view.transposed() : view;
}

template <class T>
MatrixView<T> rows_of(const MatrixView<T>& view, int first, int count) {
  return {&view(first, 0), count, view.cols, view.row_stride, view.col_stride};
}

}  // namespace

template <class T>
std::vector<SquaredErrors> Float32Reconstruction::store(
    const SubspaceIteration::LowRankFactors& factors, const PlaneTask<T>& plane,
    std::span<const typename PlaneTask<T>::Output* const> outputs) {
  std::vector<SquaredErrors> errors(outputs.size());
  if (outputs.empty()) return errors;
  const MatrixView<const T> input = in_image_order(plane.a_mn);
  const bool is_transposed = input.row_stride != plane.a_mn.row_stride;
  const float* const row_factors = (is_transposed ? factors.v_nk : factors.u_mk).data();
  const float* const col_factors = (is_transposed ? factors.u_mk : factors.v_nk).data();
  const int rows = input.rows, cols = input.cols;
  const int band_rows = std::min(std::max(kBandSamples / cols, kMinBandRows), rows);
  const std::size_t count = size(band_rows, cols);
  for (auto* floats : {&values_, &originals_}) floats->resize(count);
  for (auto* bytes : {&samples_, &stored_}) bytes->resize(count * sizeof(T));
  T* const samples = reinterpret_cast<T*>(samples_.data());
  T* const stored = reinterpret_cast<T*>(stored_.data());
  for (int row = 0; row < rows; row += band_rows) {
    const int height = std::min(band_rows, rows - row);
    const std::span<const T> originals(samples, size(height, cols));
    gather(rows_of(input, row, height), samples);
    to_float(originals, originals_.data(), plane.scale);
    int rank = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& output = *outputs[i];
      cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, cols, height, output.rank - rank, 1,
                  col_factors + size(cols, rank), cols, row_factors + size(rows, rank) + row, rows,
                  rank == 0 ? 0.F : 1.F, values_.data(), cols);
      rank = output.rank;
      errors[i] += round_and_compare(values_.data(), originals_.data(), originals, plane.peak,
                                     stored, plane.scale);
      scatter(stored, rows_of(in_image_order(output.samples_mn), row, height));
    }
  }
  return errors;
}

template std::vector<SquaredErrors> Float32Reconstruction::store(
    const SubspaceIteration::LowRankFactors&, const PlaneTask<std::uint8_t>&,
    std::span<const PlaneTask<std::uint8_t>::Output* const>);
template std::vector<SquaredErrors> Float32Reconstruction::store(
    const SubspaceIteration::LowRankFactors&, const PlaneTask<std::uint16_t>&,
    std::span<const PlaneTask<std::uint16_t>::Output* const>);
template std::vector<SquaredErrors> Float32Reconstruction::store(
    const SubspaceIteration::LowRankFactors&, const PlaneTask<float>&,
    std::span<const PlaneTask<float>::Output* const>);

}  // namespace eckart::compute::cpu
