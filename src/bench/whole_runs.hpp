#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/measured_run.hpp"
#include "bench/pipeline_result.hpp"
#include "bench/repeated_inputs.hpp"
#include "settings/choices.hpp"

namespace eckart::bench {

/// Whole runs over inputs into a new folder, with a new ledger in it.
class WholeRuns {
 public:
  struct Options {
    std::filesystem::path scratch;         ///< an empty folder for outputs and logs
    std::vector<std::string> run_options;  ///< of `eckart run`
    settings::BackendChoice backend;
    bool has_ledger = true;
    double seconds = 5;  ///< target of a run, without its start
    std::vector<int> cpus;
    std::function<void(const std::string&)> print_line;
  };
  /// `inputs` and `child` must outlive this object.
  WholeRuns(RepeatedInputs& inputs, ChildProcess& child, const std::stop_token& stop,
            Options options);

  /// Makes as many inputs as a run processes in its time, but not more than have room for their
  /// outputs. The disk cache is warm afterwards. Throws FatalError as run().
  void warm_up(settings::Durability durability);
  /// A run over all inputs. Returns nothing if it was stopped. Throws FatalError if the run fails,
  /// or no image can be processed.
  std::optional<WholeRun> run(settings::Durability durability);

  /// Of the last run.
  const ImageMeans& means() const { return means_; }

 private:
  std::size_t max_images() const;
  std::vector<std::string> arguments(settings::Durability durability) const;

  RepeatedInputs& inputs_;
  const std::stop_token stop_;
  const Options options_;
  MeasuredRun run_;
  ImageMeans means_;
};

}  // namespace eckart::bench
