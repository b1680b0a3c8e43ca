#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "core/error.hpp"
#include "flow/budget.hpp"
#include "flow/stage_clock.hpp"
#include "io/source.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/load.hpp"
#include "pipeline/tally.hpp"
#include "pipeline/work_item.hpp"
#include "pipeline/write.hpp"
#include "telemetry/run_report.hpp"

namespace eckart {

struct PipelineOptions {
  int load_threads = 1;
  int write_threads = 1;
  std::size_t budget_bytes = std::size_t(2048) << 20;
  int pad = 32;  ///< rows and columns are padded up to a multiple of this
  std::chrono::milliseconds linger{20};
  int publish_group = 32;       ///< files published together, or more if an item has more
  bool wait_for_space = false;  ///< instead of ending where an output finds no space left
  std::chrono::milliseconds space_poll{1000};  ///< between attempts
  std::size_t found_capacity = 256;            ///< files that wait to be loaded
  int load_tries = 10;  ///< to open a file where the process has no descriptors left
};

struct PipelineParts {
  io::Source& source;
  /// Called once, on the thread of run(), while loading has begun already: making a backend takes
  /// its time.
  std::function<Backend&()> backend;
  ClaimOutputs claim;
  LoadItem load;
  WriteItem write;
  PublishItems publish;
  /// Told of each image at its end, on the threads that write; may be empty.
  std::function<void(const WorkItem&)> report = {};
  /// Told what was computed when the device was lost; may be empty.
  InFlight::OnLost on_lost = {};
};

/// The way of an image: source -> load -> batch -> compute -> write, and the one place that starts
/// and ends the threads of it.
class Pipeline {
 public:
  Pipeline(PipelineParts parts, const PipelineOptions& options);

  /// Runs until the source has no more and everything is written, or until request_stop() and what
  /// was in flight is written, or until an EnvironmentError, by which the report is stopped_by.
  /// Throws what else made the run abort: FatalError, or another exception (a bug).
  telemetry::RunReport run();

  /// Takes nothing new in, gives up what is only decoded, and lets come out what is computed or
  /// further. From any thread, any number of times.
  void request_stop();

  telemetry::ProgressState progress() const { return tally_.progress(); }

 private:
  void run_source();
  void run_load(int index);
  void run_batch(Backend& backend);
  bool nobody_to_wait_for() const;
  void run_compute(Backend& backend, int index);
  void run_write(int index);

  void load(WorkItem& item, const Reserve& reserve, flow::StageClock::Worker& clock);
  bool pause(flow::StageClock::Worker& clock) const;
  bool waits_out(const EnvironmentError& error) const;
  void write_once(WorkItem& item);
  void write(WorkItem& item, flow::StageClock::Worker& clock);
  void publish(std::vector<ItemPtr>& group, flow::StageClock::Worker& clock);
  /// Of one writer, between an output that found no space and the same one written.
  struct SpaceWait {
    bool begun = false;
  };
  void wait_for_space(SpaceWait& wait, const EnvironmentError& error,
                      flow::StageClock::Worker& clock);
  void end(const SpaceWait& wait);
  void abort(std::exception_ptr error);
  std::string stopped_by() const;
  void on_lost(const InFlight::Items& items) const;
  void add_stages(telemetry::RunReport& report, double wall_s) const;

  const PipelineParts parts_;
  const PipelineOptions options_;
  Tally tally_;
  flow::Budget budget_;
  ItemChannel found_, loaded_, finished_;
  BatchChannel batches_;
  std::atomic<int> coming_{0};  // files between the source and the batcher
  InFlight in_flight_;
  flow::StageClock source_clock_, load_clock_, batch_clock_, write_clock_;
  std::optional<flow::StageClock> compute_clock_;  // made with the backend, which says how many
  std::stop_source stop_;
  std::atomic<int> waiting_for_space_{0};  // writers
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace eckart
