#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/pulse.hpp"
#include "app/service.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/signals.hpp"
#include "core/printable.hpp"
#include "flow/pause.hpp"
#include "flow/workers.hpp"
#include "telemetry/log.hpp"
#include "telemetry/service_manager.hpp"

namespace eckart::cli {
namespace {

struct WatchArgs {
  ConfigArgs config;
  bool check = false;
  int verbose = 0, quiet = 0;
};

/// What a service does besides its work, on a thread of its own: it tells the service manager that
/// it lives, and how it does, and looks for what was requeued.
class Caretaker {
 public:
  explicit Caretaker(app::Service& service)
      : service_(service),
        thread_(
            "caretaker", 1, [this](int) { run(); },
            [this](std::exception_ptr error) { service_.end_by(std::move(error)); }) {}
  ~Caretaker() { stop_.request_stop(); }
  Caretaker(const Caretaker&) = delete;
  Caretaker& operator=(const Caretaker&) = delete;

 private:
  void run() {
    constexpr std::chrono::milliseconds kPause{1000};
    const auto watchdog = telemetry::watchdog_interval();
    app::Pulse pulse(service_);
    auto due = std::chrono::steady_clock::now();
    while (flow::pause(watchdog.count() > 0 ? std::min(watchdog, kPause) : kPause,
                       stop_.get_token())) {
      service_.look_after_quarantines();
      telemetry::notify_status(service_.status_line());
      if (watchdog.count() == 0 || std::chrono::steady_clock::now() < due) continue;
      if (pulse.beats()) telemetry::notify_alive();
      due = std::chrono::steady_clock::now() + watchdog;
    }
  }

  app::Service& service_;
  std::stop_source stop_;
  flow::Workers thread_;  // the last member: it ends before the others go
};

/// One service after the other: each reload begins another.
class Watching {
 public:
  explicit Watching(const WatchArgs& args)
      : args_(args), configuration_(read_configuration(args.config)) {}

  const settings::Configuration& configuration() const { return configuration_; }

  void run() {
    const StopSignals signals([this](int) { stop(); }, [this] { reload(); });
    make_service();
    while (execute()) {
    }
  }

 private:
  /// Whether another service is there to go on with.
  bool execute() {
    std::atomic<bool> ready = false;
    try {
      service_->execute([&] {
        ready = true;
        telemetry::notify_ready();
        spdlog::info("ready: {} watches", service_->watches());
      });
    } catch (const DeviceLost&) {
      throw;
    } catch (const FatalError& error) {
      if (ready || !before_) throw;
      spdlog::error("{}: the configuration before it stays", printable(error.what()));
      const std::lock_guard lock(mutex_);
      if (!next_) next_ = std::exchange(before_, std::nullopt);
    }
    caretaker_.reset();
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    if (!next_) return false;
    begin_again(std::move(*std::exchange(next_, std::nullopt)));
    return true;
  }

  void make_service() {
    const std::lock_guard lock(mutex_);
    replace_service(configuration_);
  }

  void replace_service(const settings::Configuration& configuration) {
    service_.reset();  // which gives its folders back
    service_ = std::make_unique<app::Service>(configuration);
    caretaker_.emplace(*service_);
    if (stopped_) service_->request_stop();
  }

  /// What was checked may be impossible by now.
  void begin_again(settings::Configuration configuration) {
    try {
      replace_service(configuration);
      before_ = std::exchange(configuration_, std::move(configuration));
    } catch (const std::exception& error) {
      spdlog::error("{}: the configuration before it stays", printable(error.what()));
      replace_service(configuration_);
    }
  }

  void stop() {
    spdlog::warn("stopping: what is computed is still written; once more ends at once");
    telemetry::notify_stopping();
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    next_.reset();
    if (service_) service_->request_stop();
  }

  void reload() {
    telemetry::notify_reloading();
    try {
      settings::Configuration configuration = read_configuration(args_.config);
      app::check(configuration);
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      if (!service_) {
        configuration_ = std::move(configuration);
        return;
      }
      next_ = std::move(configuration);
      service_->request_stop();
    } catch (const std::exception& error) {
      spdlog::error("not reloaded: {}", printable(error.what()));
      telemetry::notify_ready();
    }
  }

  const WatchArgs args_;
  settings::Configuration configuration_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::optional<settings::Configuration> next_, before_;
  std::unique_ptr<app::Service> service_;
  std::optional<Caretaker> caretaker_;
};

ExitCode watch(const WatchArgs& args) {
  raise_descriptor_limit();
  const char* journal_stream = std::getenv("JOURNAL_STREAM");
  telemetry::start_service_log(args.verbose - args.quiet, journal_stream ? journal_stream : "");
  Watching watching(args);
  if (args.config.print) {
    std::fputs(settings::to_yaml(watching.configuration()).c_str(), stdout);
    return ExitCode::ok;
  }
  app::check(watching.configuration());
  if (!args.check) watching.run();
  return ExitCode::ok;
}

}  // namespace

void add_watch(CLI::App& app, Action& action) {
  auto args = std::make_shared<WatchArgs>();
  CLI::App* command = app.add_subcommand(
      "watch", "Reconstruct every image that arrives in the folders of a configuration");
  add_config_options(*command, args->config);
  command->add_flag("--check", args->check, "Only check the configuration");
  command->add_flag("-v,--verbose", args->verbose,
                    "Log each image done; twice: each batch as well");
  command->add_flag("-q,--quiet", args->quiet, "Only warnings; twice for errors alone");
  command->callback([args, &action] { action = [args] { return watch(*args); }; });
}

}  // namespace eckart::cli
