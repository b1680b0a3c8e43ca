#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bench/file_rates.hpp"
#include "bench/rate.hpp"
#include "bench/repeated_inputs.hpp"
#include "pipeline/pipeline_options.hpp"
#include "settings/settings.hpp"

namespace eckart::bench {

/// Measures parts of stages, and the file system without other work, with files like the inputs and
/// the outputs of a run and as many threads. All rates are of images. Each function throws as those
/// of file_rates.hpp.
class PipelineParts {
 public:
  struct Options {
    std::filesystem::path folder;  ///< for files; is made and removed
    settings::Settings settings;
    pipeline::PipelineOptions threads;
    std::vector<std::size_t> output_sizes;  ///< bytes of outputs of the run
    double outputs_per_image = 1;
    double seconds = 0.5;  ///< target of a measurement
    std::stop_token stop{};
  };
  /// `inputs` must outlive this object.
  explicit PipelineParts(const RepeatedInputs& inputs) : inputs_(inputs) {}
  /// Call it before the first measurement.
  void set_options(Options options) { options_ = std::move(options); }

  Rate read();
  /// From memory.
  Rate decode();
  Rate publish(settings::Durability durability);
  Rate record(settings::Durability durability, bool random_order);
  Rate list();
  Rate write_plainly(settings::Durability durability);
  /// Reads inputs and writes outputs at the same time.
  Rate read_and_write(settings::Durability durability);

 private:
  using Measure = std::function<Rate(std::size_t images)>;
  using MeasureOutputs = std::function<Rate(const FileLoad& load)>;
  Rate repeat(const std::string& name, const Measure& measure);
  Rate repeat_outputs(const std::string& name, settings::Durability durability,
                      const MeasureOutputs& measure);
  int publish_group_files(settings::Durability durability) const;
  std::span<const std::filesystem::path> first_inputs(std::size_t images) const;

  const RepeatedInputs& inputs_;
  Options options_{};
  std::map<std::string, std::size_t> images_;  // of each measurement
};

}  // namespace eckart::bench
