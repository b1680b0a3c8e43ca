#include "cli/service_health.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "compute/out_of_memory.hpp"
#include "compute/probe.hpp"
#include "core/error.hpp"
#include "flow/pause.hpp"
#include "telemetry/service_manager.hpp"

namespace eckart::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kBetweenLooks{1000}, kBetweenProbes{30000};
constexpr seconds kMaxProbe{120};  // as long as the unit's watchdog waits
constexpr seconds kMaxEnd{30};

milliseconds between_signs() {
  const milliseconds interval = telemetry::watchdog_interval();
  return interval.count() > 0 ? std::min(interval, kBetweenProbes) : kBetweenProbes;
}

}  // namespace

ServiceHealth::ServiceHealth(app::Service& service, seconds max_end,
                             std::optional<ExitDeadline>& deadline)
    : service_(service),
      max_end_(std::min(max_end, kMaxEnd)),
      deadline_(deadline),
      between_signs_(between_signs()),
      probe_(
          "probe", 1, [this](int) { probe_gpus(); },
          [this](auto error) { service_.end_by(error); }),
      folders_(
          "folders", 1, [this](int) { look_after_folders(); },
          [this](auto error) { service_.end_by(error); }),
      stalls_(
          [this] { return service_.find_stall(); },
          {[this](const Activity::Stall& stall) { on_stall(stall); }, {}, [this] { on_well(); }}) {}

ServiceHealth::~ServiceHealth() { stop_.request_stop(); }

/// No sign of life is given from here on.
void ServiceHealth::on_stall(const Activity::Stall& stall) {
  const std::string why = to_string(stall);
  if (deadline_) return;  // it ends already
  deadline_.emplace(max_end_, ExitCode::temporary,
                    [] { spdlog::error("ends now, without the thread that has stalled"); });
  spdlog::error("{}: the service ends with 75, to be started again; nothing is lost", why);
  telemetry::notify_status("stalled: " + why);
  recorder_.emplace(
      "recorder", 1, [this, stall](int) { service_.record_stall(stall); },
      [](const std::exception_ptr&) {
        spdlog::error("which file it has stalled with could not be recorded");
      });
  service_.end_by(std::make_exception_ptr(FatalError(ExitCode::temporary, why)));
}

void ServiceHealth::on_well() {
  telemetry::notify_status(service_.status_line());
  const auto now = std::chrono::steady_clock::now();
  if (now < sign_due_) return;
  telemetry::notify_alive();
  sign_due_ = now + between_signs_;
}

/// Only while no work moves, which shows as much.
void ServiceHealth::probe_gpus() {
  std::optional<Probe> probe;
  std::int64_t done_before = -1;
  do {
    const std::int64_t done = service_.progress().done;
    Backend* const backend = service_.backend();
    if (std::exchange(done_before, done) == done && backend) {
      try {
        const Activity::Scope step(service_.activity(), {"a GPU's answer", kMaxProbe});
        if (!probe) probe.emplace(*backend);
        probe->run();
      } catch (const OutOfMemory&) {  // other work has it, and moves
        continue;
      }
    }
    if (backend) service_.note_life();
  } while (flow::pause(kBetweenProbes, stop_.get_token()));
}

void ServiceHealth::look_after_folders() {
  const std::stop_token stop = stop_.get_token();
  while (flow::pause(kBetweenLooks, stop)) service_.look_after_folders(stop);
}

}  // namespace eckart::cli
