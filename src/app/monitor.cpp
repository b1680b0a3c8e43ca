#include "app/monitor.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "flow/pause.hpp"
#include "telemetry/snapshot_text.hpp"

namespace eckart::app {
namespace {

using telemetry::Snapshot;

constexpr double kPeriod_s = 1;
constexpr double kSample_s = 0.9 * kPeriod_s;  // of the history, at least
constexpr std::size_t kRecent = 5;             // looks; a rate of fewer seconds is restless

/// Fowler, Noll and Vo's FNV-1a, 64 bits: for telling apart, not for keeping secret.
std::uint64_t hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ std::uint8_t(byte)) * 0x100000001b3;
  return hash;
}

telemetry::RunIdentity identity_of(const settings::Settings& settings, const std::string& command) {
  telemetry::RunIdentity identity = telemetry::identify_run(command, ECKART_VERSION);
  identity.settings = settings::changed(settings);
  identity.settings_hash = fmt::format("{:016x}", hash(settings::to_yaml(settings)));
  return identity;
}

}  // namespace

Monitor::Monitor(const settings::Settings& settings, const std::string& command, Subject subject)
    : settings_(settings.telemetry),
      identity_(identity_of(settings, command)),
      subject_(std::move(subject)),
      cpu_s_before_(telemetry::process_use().cpu_s) {}

void Monitor::begin(bool must_listen) {
  look();  // so that whoever asks at once is told of every stage
  try {
    if (!settings_.listen.empty()) listen();
  } catch (const FatalError& error) {
    if (must_listen) throw;
    spdlog::warn("no status page: {}", printable_message(error.what()));
  }
  thread_.emplace(
      "monitor", 1, [this](int) { run(); }, [this](auto error) { fail(error); });
}

Monitor::~Monitor() { end(); }

void Monitor::run() {
  const std::stop_token stop = stop_.get_token();
  const auto period =
      std::chrono::milliseconds(int(1000 * std::min(kPeriod_s, settings_.interval_s)));
  while (flow::pause(period, stop)) {
    look();
    const bool due = now_.elapsed_s - log_tried_s_ >= settings_.interval_s;
    if (due && now_.startup_s) log_interval();
  }
}

/// What is shown from here on is old.
void Monitor::fail(const std::exception_ptr& error) {
  has_failed_ = true;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& failure) {
    spdlog::error("nothing is measured any more: {}", printable_message(failure.what()));
  } catch (...) {
    spdlog::error("nothing is measured any more");
  }
}

void Monitor::end() {
  server_.reset();
  if (!thread_) return;
  stop_.request_stop();
  thread_.reset();
  try {
    look();
    log_interval();
    write(total_line(identity_, now_));
  } catch (...) {
    fail(std::current_exception());
  }
}

void Monitor::look() {
  Snapshot snapshot = subject_.pipeline();
  telemetry::GpuIdentity found;
  if (!snapshot.gpu_ids.empty() && !gpus_) {
    gpus_.emplace(snapshot.gpu_ids);
    found = {gpus_->driver(), gpus_->facts()};
  }
  if (gpus_) gpus_->look(snapshot.elapsed_s - now_.elapsed_s);
  snapshot.machine = {.cores = identity_.machine.cores,
                      .process = process_use(),
                      .gpus = gpus_ ? gpus_->uses() : std::vector<telemetry::GpuUse>{}};
  const std::lock_guard lock(mutex_);
  before_.push_back(std::exchange(now_, std::move(snapshot)));
  if (before_.size() > kRecent) before_.pop_front();
  if (!found.driver.empty()) gpu_identity_ = std::move(found);
  if (now_.elapsed_s - sampled_.elapsed_s < kSample_s) return;
  history_.add(telemetry::unix_now(), now_.since(sampled_));
  sampled_ = now_;
}

telemetry::ProcessUse Monitor::process_use() const {
  telemetry::ProcessUse use = telemetry::process_use();
  use.cpu_s -= cpu_s_before_;
  return use;
}

void Monitor::listen() {
  const auto lines = [](const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& line : all) text += (text.empty() ? "" : "\n") + line;
    return text;
  };
  server_.emplace(settings_.listen,
                  telemetry::StatusPages{
                      .json =
                          [this](double since_unix_s) {
                            const telemetry::Status now = status();
                            const std::lock_guard lock(mutex_);
                            return status_json(now, history_, since_unix_s);
                          },
                      .metrics = [this] { return metrics_text(status()); },
                      .text = [this] { return status_text(status()); },
                      .why_not_ready = [this, lines] { return lines(state().not_ready); },
                      .why_not_healthy = [this, lines] { return lines(state().unhealthy); }});
  spdlog::info("status page and metrics: {}", settings_.listen.starts_with('/')
                                                  ? settings_.listen
                                                  : "http://" + settings_.listen + "/");
}

telemetry::ServiceState Monitor::state() const {
  telemetry::ServiceState state = subject_.service();
  if (has_failed_) state.unhealthy.emplace_back("nothing is measured any more: the log says why");
  return state;
}

telemetry::Status Monitor::status() const {
  const View now = view();
  telemetry::ServiceState there = state();
  const std::lock_guard lock(mutex_);
  return {identity_, gpu_identity_, now.all, now.recent, std::move(there)};
}

/// What could not be written is in the next line.
void Monitor::log_interval() {
  if (settings_.throughput_log.empty()) return;
  log_tried_s_ = now_.elapsed_s;
  if (write(interval_line(identity_, now_.since(logged_)))) logged_ = now_;
}

/// What the first line tells is known when there is a backend, or at the end.
bool Monitor::write(const std::string& line) {
  if (settings_.throughput_log.empty()) return true;
  if (!log_)
    log_.emplace(settings_.throughput_log,
                 telemetry::Rotation{std::int64_t(settings_.max_mb) << 20, settings_.keep},
                 run_line(identity_, gpu_identity_, now_));
  return log_->write(line);
}

std::string text_of(const Monitor::View& view) {
  return telemetry::snapshot_text(view.all, view.recent);
}

std::string status_text(const telemetry::Status& status) {
  const telemetry::RunIdentity& identity = status.identity;
  std::string text = "eckart    " + identity.command + ", version " + identity.version + ", on " +
                     printable(identity.machine.host);
  if (!status.all.backend.empty())
    text += ", " + status.all.backend + ": " + printable(status.all.device);
  text += '\n';
  for (const std::string& why : status.state.not_ready) text += "NOT READY " + why + '\n';
  for (const telemetry::WatchRow& watch : status.state.watches)
    text +=
        "watch     " + printable(watch.input) + ": " + std::to_string(watch.waiting) + " waiting\n";
  return text + telemetry::snapshot_text(status.all, status.recent);
}

Monitor::View Monitor::view_now() const {
  Snapshot all = subject_.pipeline();
  const telemetry::ProcessUse process = process_use();
  const std::lock_guard lock(mutex_);
  all.machine = now_.machine;
  all.machine.process = process;
  return {all, before_.empty() ? all : all.since(before_.front())};
}

Monitor::View Monitor::view() const {
  const std::lock_guard lock(mutex_);
  return {now_, before_.empty() ? now_ : now_.since(before_.front())};
}

}  // namespace eckart::app
