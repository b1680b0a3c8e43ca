#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/job.hpp"
#include "app/make_backend.hpp"
#include "bench/rate.hpp"
#include "core/outcome.hpp"
#include "flow/budget.hpp"
#include "flow/stage_clock.hpp"
#include "flow/workers.hpp"
#include "io/source.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/in_flight_batches.hpp"
#include "pipeline/input_decoding.hpp"
#include "pipeline/job_steps.hpp"
#include "pipeline/meters.hpp"
#include "pipeline/pipeline_options.hpp"
#include "pipeline/tally.hpp"
#include "settings/settings.hpp"

namespace eckart::bench {

/// The rate of each stage alone.
using StageRates = std::array<Rate, kStageCount>;  // by Stage

/// A run whose stages work one after the other instead of at the same time: some images pass each
/// stage, with all its threads, while the other stages rest. The steps, the threads and the
/// settings are those of `eckart run`.
class StagedRun : private pipeline::JobSteps {
 public:
  /// Makes the backend, whose lanes wait for batches until the destructor. `output` is a new
  /// folder. Throws FatalError and EnvironmentError, as eckart run.
  StagedRun(const settings::Settings& settings, const std::filesystem::path& input,
            const std::filesystem::path& output, bool leaves_inputs_to_backend,
            const std::stop_token& stop);
  ~StagedRun() override;
  StagedRun(const StagedRun&) = delete;
  StagedRun& operator=(const StagedRun&) = delete;

  /// Passes the next images of the input through all stages. Returns their rates; the counts are 0
  /// at the end of the input. After a stop request it returns early, with rates that mean nothing.
  /// Throws FatalError and EnvironmentError, as eckart run.
  StageRates pass(std::size_t images);

  /// Passes the next images through the stages before write, and encodes their outputs in memory.
  struct Encoding {
    Rate rate;                              ///< of images
    std::vector<std::size_t> file_sizes{};  ///< of all outputs, in bytes
  };
  Encoding encode_next(std::size_t images);

  /// The memory of one image between load and write, in bytes; 0 before pass().
  std::size_t bytes_per_image() const { return bytes_per_image_; }
  const pipeline::PipelineOptions& options() const { return options_; }

 private:
  class LoadContext;
  using Items = std::vector<pipeline::ItemPtr>;

  /// The work of all stages before write. Returns computed and failed items.
  Items compute_next(std::size_t images, StageRates& rates);
  Items find(std::size_t images);
  void load(Items& items, Rate& rate);
  std::vector<pipeline::Batch> make_batches(Items& items);
  Items compute(std::vector<pipeline::Batch> batches, Rate& rate);
  Rate write(Items items);
  void run_lane(int index);
  void rethrow_error();

  compute::Backend& create_backend() override { return *backend_.backend; }
  void assign_outputs(pipeline::WorkItem& item) override { job_.assign_outputs(item); }
  void load(pipeline::WorkItem& item, pipeline::LoadContext& context) override {
    job_.load(item, context);
  }
  void write(pipeline::WorkItem& item) override { job_.write(item); }
  void publish(std::span<pipeline::ItemPtr> group) override { job_.publish(group); }
  void finish(const pipeline::WorkItem& /*item*/) override {}
  void on_device_lost(const pipeline::InFlightBatches::Items& /*items*/) override {}

  const pipeline::PipelineOptions options_;
  const bool leaves_inputs_to_backend_;
  const std::stop_token stop_;
  app::Job job_;
  const std::unique_ptr<io::Source> source_;
  const app::ChosenBackend backend_;
  std::size_t bytes_per_image_ = 0;
  flow::Budget budget_;  // without a limit: it counts the bytes
  pipeline::Meters meters_;
  pipeline::Tally tally_{meters_};
  pipeline::Activity activity_;
  pipeline::InFlightBatches in_flight_batches_;
  pipeline::InputDecoding input_decoding_;  // only counts
  pipeline::BatchChannel batches_;
  pipeline::ItemChannel computed_;
  std::mutex error_mutex_;
  std::exception_ptr error_;  // of a lane
  std::atomic<bool> has_failed_{false};
  flow::StageClock compute_clock_;
  std::optional<flow::Workers> lanes_;
};

}  // namespace eckart::bench
