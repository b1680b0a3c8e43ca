#include "app/pipeline_options.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "core/default_budget.hpp"
#include "core/default_threads.hpp"
#include "core/mebibytes.hpp"
#include "machine/usable_cores.hpp"
#include "machine/usable_memory.hpp"

namespace eckart::app {
namespace {

/// A batch that waits longer than this has images of a rare shape: more time does not fill it.
constexpr int kExtraLingers = 50;

/// Returns the number of files that a write thread publishes together. The ledger records a group
/// at once: groups of 64 instead of 32 make small images 10 % faster, and groups of 128 no faster.
/// Each file is open until then. Half of the process's file descriptors are reserved for other
/// uses.
int publish_group_files(int write_threads) {
  constexpr rlim_t kMaxFiles = 64;
  rlimit limit{kMaxFiles, kMaxFiles};
  static_cast<void>(getrlimit(RLIMIT_NOFILE, &limit));
  return int(std::clamp(limit.rlim_cur / 2 / rlim_t(write_threads), rlim_t(1), kMaxFiles));
}

}  // namespace

pipeline::PipelineOptions pipeline_options(const settings::Settings& settings) {
  const int cores = machine::usable_cores();
  const auto initial = [](int threads, int default_threads) {
    return threads > 0 ? threads : default_threads;
  };
  const auto max = [cores](int threads) { return threads > 0 ? 0 : max_auto_threads(cores); };
  const int write_threads = initial(settings.threads.write, default_write_threads(cores));
  const int max_write_threads = max(settings.threads.write);
  const std::int64_t budget_mb = settings.budget_mb == settings::kAuto
                                     ? default_budget_mb(machine::usable_memory_bytes() / kMiB)
                                     : settings.budget_mb;
  const std::chrono::milliseconds linger(settings.batch.linger_ms);
  return {
      .load_threads = initial(settings.threads.load, default_load_threads(cores)),
      .write_threads = write_threads,
      .max_load_threads = max(settings.threads.load),
      .max_write_threads = max_write_threads,
      .cores = cores,
      .budget_bytes = std::size_t(budget_mb * kMiB),
      .pad_multiple = settings.batch.pad,
      .linger = linger,
      .extra_linger = kExtraLingers * linger,
      .publish_group_files = settings.durability == settings::Durability::file
                                 ? 1
                                 : publish_group_files(std::max(write_threads, max_write_threads)),
      .wait_for_space = settings.wait_for_space,
      .limits = {.stall = std::chrono::seconds(settings.timeouts.stall_s),
                 .decode = std::chrono::seconds(settings.limits.decode_s)}};
}

compute::BackendOptions backend_options(const settings::Settings& settings,
                                        const Calibration& calibration) {
  return {.solver = settings.solver,
          .certificate = settings.certificate,
          .deterministic = settings.deterministic,
          .lanes = settings.cuda.lanes,
          .batch_planes = settings.batch.planes,
          .devices = settings.cuda.devices,
          .memory_fraction = settings.cuda.memory_fraction,
          .calibration = calibration};
}

}  // namespace eckart::app
