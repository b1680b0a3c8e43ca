#include "app/cpu_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "app/input_sources.hpp"
#include "app/pipeline_options.hpp"
#include "codec/codec.hpp"
#include "compute/cpu/time_model.hpp"
#include "core/error.hpp"
#include "io/input_file.hpp"
#include "io/line_reader.hpp"
#include "io/list_images.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// The cost model knows the decomposition on a lane alone. With all lanes busy, and with codecs,
/// each further image takes 1.1 to 3.0 times as long: docs/explanation/performance.md.
constexpr double kBusyFactor = 2.5;

/// Predicts the time of an image from its header.
class ImageTimeModel {
 public:
  ImageTimeModel(const RunRequest& request, const compute::BackendOptions& options)
      : settings_(request.settings),
        wants_spectra_(request.measurements != nullptr && !request.without_spectra),
        planes_(options) {}

  int lanes() const { return planes_.lanes(); }

  /// 0 if the file will not be decomposed: it is no image, or it has factors.
  double seconds(const fs::path& file) const try {
    const io::InputFile input(file);
    const codec::Codec& codec =
        codec::detect_codec(input.bytes_on_demand(), settings_.input.decoder);
    const codec::Header header = codec::admit(codec, input.bytes_on_demand(), settings_.limits);
    return header.factor_bytes > 0 ? 0 : seconds(header.shape);
  } catch (const ItemError&) {
    return 0;
  }

 private:
  double seconds(const ImageShape& image) const {
    const ImageShape prepared = prepared_shape(image, settings_.preparation());
    const ImageShape matrices = matrices_shape(prepared, settings_.color);
    const ImageShape stored = stored_matrices_shape(prepared, settings_.color);
    bool is_complete = wants_spectra_ || settings_.output.factors != FactorType::none;
    bool is_reduced = false;  // an output of full rank is the image
    int rank = 1;
    std::vector<RankPolicy> policies = settings_.ranks;
    if (settings_.chroma_rank) policies.push_back(*settings_.chroma_rank);
    for (const RankPolicy& policy : policies) {
      const int policy_rank = max_rank(resolve(policy, stored), matrices.rows, matrices.cols);
      is_complete = is_complete || !depends_on_shape_only(policy);
      is_reduced = is_reduced || policy_rank < std::min(matrices.rows, matrices.cols);
      rank = std::max(rank, policy_rank);
    }
    if (!is_complete && !is_reduced) return 0;
    return kBusyFactor * matrices.channels *
           planes_.plane_seconds(compute::padded_shape(matrices, 1), rank, is_complete);
  }

  const settings::Settings& settings_;
  const bool wants_spectra_;
  const compute::cpu::TimeModel planes_;
};

/// Returns the inputs and those of the list; nullopt if there are too many, or the list cannot be
/// read twice.
std::optional<std::vector<fs::path>> inputs_of(const RunRequest& request) {
  if (request.shard) {
    std::vector<fs::path> files;
    const auto shard = make_sources({.inputs = {}, .files_from = {}, .shard = request.shard}, {});
    while (auto item = shard->next({})) {
      if (files.size() == kMaxPredictedInputs) return std::nullopt;
      files.push_back(std::move(item->file));
    }
    return files;
  }
  std::vector<fs::path> inputs = request.inputs;
  if (request.files_from.empty()) return inputs;
  std::error_code none;
  if (!fs::is_regular_file(request.files_from, none)) return std::nullopt;
  io::LineReader lines(request.files_from, request.files_from_separator);
  while (const std::optional<std::string> line = lines.next({})) {
    if (inputs.size() == kMaxPredictedInputs) return std::nullopt;
    if (!line->empty()) inputs.emplace_back(*line);
  }
  return inputs;
}

}  // namespace

std::optional<CpuPrediction> predict_cpu_time(const RunRequest& request,
                                              const Calibration& calibration,
                                              double max_seconds) try {
  const std::optional<std::vector<fs::path>> inputs = inputs_of(request);
  if (!inputs) return std::nullopt;
  const auto files = io::list_images(*inputs, kMaxPredictedInputs);
  if (!files) return std::nullopt;
  compute::BackendOptions options = backend_options(request.settings, calibration);
  options.lanes = request.settings.cpu.lanes;
  const ImageTimeModel model(request, options);
  const CpuPrediction prediction =
      predict_cpu_time(*files, model.lanes(), max_seconds,
                       [&](const fs::path& file) { return model.seconds(file); });
  return std::isfinite(prediction.seconds) ? std::optional(prediction) : std::nullopt;
} catch (const std::exception&) {  // the pipeline meets the same error and reports it
  return std::nullopt;
}

CpuPrediction predict_cpu_time(std::span<const fs::path> files, int lanes, double max_seconds,
                               const std::function<double(const fs::path& file)>& image_seconds) {
  constexpr std::size_t kMaxHeaders = 256, kMinHeaders = 16;
  constexpr double kFarAbove = 4;
  const std::size_t headers = std::min(files.size(), kMaxHeaders);
  double sum = 0, longest = 0, predicted = 0;
  for (std::size_t i = 0; i < headers; ++i) {
    const double seconds = image_seconds(files[i * files.size() / headers]);  // evenly spaced
    sum += seconds;
    longest = std::max(longest, seconds);  // one lane computes an image
    predicted = std::max(sum / double(i + 1) * double(files.size()) / lanes, longest);
    if (i + 1 >= kMinHeaders && predicted > kFarAbove * max_seconds) break;
  }
  return {files.size(), predicted};
}

}  // namespace eckart::app
