#include "app/pipeline_options.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "machine/usable_cores.hpp"

namespace eckart::app {
namespace {

/// Files that a write thread publishes together: each is open until then, and half of what the
/// process may open is for others.
int publish_group_files(int write_threads) {
  constexpr rlim_t kMaxFiles = 32;
  rlimit limit{kMaxFiles, kMaxFiles};
  static_cast<void>(getrlimit(RLIMIT_NOFILE, &limit));
  return int(std::clamp(limit.rlim_cur / 2 / rlim_t(write_threads), rlim_t(1), kMaxFiles));
}

}  // namespace

/// Writing costs more than loading (see docs/explanation/performance.md): one and a half times of
/// photographs, more of small images, so the writers get more threads; two at least, since one
/// waits for the disk now and then. Together they are more than the cores, so that either may have
/// most of these.
PipelineOptions pipeline_options(const settings::Settings& settings) {
  const auto accepts_auto = [](int threads, int default_threads) {
    return threads > 0 ? threads : default_threads;
  };
  const int write_threads =
      accepts_auto(settings.threads.write, std::max(2, usable_cores() * 3 / 4));
  return {.load_threads = accepts_auto(settings.threads.load, (usable_cores() + 1) / 2),
          .write_threads = write_threads,
          .budget_bytes = std::size_t(settings.budget_mb) << 20,
          .pad_multiple = settings.batch.pad,
          .linger = std::chrono::milliseconds(settings.batch.linger_ms),
          .publish_group_files = settings.durability == settings::Durability::group
                                     ? publish_group_files(write_threads)
                                     : 1,
          .wait_for_space = settings.wait_for_space,
          .limits = {.stall = std::chrono::seconds(settings.timeouts.stall_s),
                     .decode = std::chrono::seconds(settings.limits.decode_s)}};
}

BackendOptions backend_options(const settings::Settings& settings, const Calibration& calibration) {
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
