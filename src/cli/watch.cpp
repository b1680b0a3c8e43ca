#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/service.hpp"
#include "app/service_manager.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/exit_deadline.hpp"
#include "cli/service_health.hpp"
#include "cli/signal_handler.hpp"
#include "logging/log.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct WatchArgs {
  ConfigArgs config;
  bool check_configuration = false;
  int verbose = 0, quiet = 0;
};

void log_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
}

void log_reload_failure(const std::exception& error) {
  spdlog::error("reload failed; the previous configuration is kept: {}",
                printable_message(error.what()));
}

/// One service after the other: each reload begins another.
class ServiceRunner {
  static constexpr std::chrono::seconds kMinReplaceTimeout{60};  // of one service by another

 public:
  explicit ServiceRunner(const WatchArgs& args)
      : args_(args), configuration_(read_configuration(args.config)) {}

  const settings::Configuration& configuration() const { return configuration_; }

  void run() {
    const SignalHandler signals(
        {.on_stop = [this](int) { stop(); },
         .on_status_request = [this] { request_status(); },
         .on_reload = [this] { reload(); },
         .shutdown_timeout = [this] { return std::chrono::seconds(shutdown_s_); },
         .pending_work = [this] { return pending_work(); }});
    // While the signals still have their deadline: one of the service's threads may hang.
    const std::shared_ptr<void> shutdown_guard(nullptr, [this](void*) {
      health_.reset();
      const std::unique_ptr<app::Service> last = take_service();
    });
    make_service();
    while (execute()) {
    }
  }

 private:
  /// Whether another service is there to go on with.
  bool execute() {
    std::atomic<bool> ready = false;
    bool falls_back = false;
    try {
      const telemetry::RunReport report = service_->execute([&] {
        ready = true;
        app::notify_ready();
        spdlog::info("ready: {} watch{}", service_->watches(),
                     service_->watches() == 1 ? "" : "es");
      });
      check_report(report);
    } catch (const DeviceLostError&) {
      throw;
    } catch (const FatalError& error) {
      if (ready || !previous_) throw;
      log_reload_failure(error);
      const std::lock_guard lock(mutex_);
      configuration_ = *std::exchange(previous_, std::nullopt);
      falls_back = !next_;
      if (falls_back) next_ = configuration_;
    }
    health_.reset();
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    if (!next_) return false;
    switch_configuration(std::move(*std::exchange(next_, std::nullopt)));
    if (falls_back) previous_.reset();  // there is nothing to fall back to from that
    return true;
  }

  /// Throws what of the machine has ended it.
  static void check_report(const telemetry::RunReport& report) {
    spdlog::info("stopped: {} done, {} failed", report.done, report.failed);
    if (!report.stopped_by.empty()) throw EnvironmentError(report.stopped_by);
  }

  void make_service() {
    const std::lock_guard lock(mutex_);
    replace_service(configuration_);
    if (status_requested_) print_status();
  }

  void replace_service(const settings::Configuration& configuration) {
    const std::chrono::seconds stall(configuration.settings.timeouts.stall_s);
    const ExitDeadline deadline(
        std::max<std::chrono::seconds>(stall, kMinReplaceTimeout), ExitCode::temporary, [] {
          spdlog::error("the configured folders do not respond; exiting with 75 to be restarted");
        });
    if (service_) last_done_unix_s_ = service_->last_done_unix_s();
    service_.reset();  // which gives its folders back
    service_ = std::make_unique<app::Service>(configuration, last_done_unix_s_);
    shutdown_s_ = configuration.settings.timeouts.shutdown_s;
    health_.emplace(*service_, std::chrono::seconds(shutdown_s_), stall_deadline_);
    if (stopped_) service_->request_stop();
  }

  /// What was checked may be impossible by now.
  void switch_configuration(settings::Configuration configuration) {
    try {
      replace_service(configuration);
      previous_ = std::exchange(configuration_, std::move(configuration));
    } catch (const std::exception& error) {
      log_reload_failure(error);
      previous_.reset();
      replace_service(configuration_);
    }
  }

  std::unique_ptr<app::Service> take_service() {
    const std::lock_guard lock(mutex_);
    return std::move(service_);
  }

  std::string pending_work() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock && service_ ? service_->describe_activity() : std::string();
  }

  void stop() {
    spdlog::warn(
        "stopping: writing computed images for at most {} s; a second signal exits at once",
        int(shutdown_s_));
    app::notify_stopping();
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    next_.reset();
    if (service_) service_->request_stop();
  }

  void request_status() {
    const std::lock_guard lock(mutex_);
    status_requested_ = true;
    if (service_) print_status();
  }

  void print_status() {
    status_requested_ = false;
    logging::tell(service_->status_line() + '\n' + view_text(service_->current_view()));
  }

  void reload() {
    app::notify_reloading();
    try {
      settings::Configuration configuration = read_configuration(args_.config);
      log_warnings(app::check_configuration(configuration));
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      if (!service_) {
        configuration_ = std::move(configuration);
        return;
      }
      next_ = std::move(configuration);
      service_->request_stop();
    } catch (const std::exception& error) {
      log_reload_failure(error);
      app::notify_ready();
    }
  }

  const WatchArgs args_;
  settings::Configuration configuration_;
  std::mutex mutex_;
  bool stopped_ = false;
  bool status_requested_ = false;  // for its state, before there was a service
  std::optional<settings::Configuration> next_, previous_;
  double last_done_unix_s_ = 0;  // of the services before
  std::atomic<int> shutdown_s_{configuration_.settings.timeouts.shutdown_s};
  std::optional<ExitDeadline>
      stall_deadline_;  // before the service, whose threads may hang at its end
  std::unique_ptr<app::Service> service_;
  std::optional<ServiceHealth> health_;
};

ExitCode watch(const WatchArgs& args) {
  raise_descriptor_limit();
  const char* journal_stream = std::getenv("JOURNAL_STREAM");
  logging::start_service_log(args.verbose - args.quiet, journal_stream ? journal_stream : "");
  ServiceRunner runner(args);
  if (args.config.print) {
    std::fputs(settings::to_yaml(runner.configuration()).c_str(), stdout);
    return ExitCode::ok;
  }
  log_warnings(app::check_configuration(runner.configuration()));
  if (!args.check_configuration) runner.run();
  return ExitCode::ok;
}

}  // namespace

void add_watch(CLI::App& app, Action& action) {
  auto args = std::make_shared<WatchArgs>();
  CLI::App* command =
      app.add_subcommand("watch", "Reconstruct every image that arrives in the configured folders");
  add_config_options(*command, args->config);
  command->add_flag("--check", args->check_configuration, "Only check the configuration");
  command->add_flag("-v,--verbose", args->verbose,
                    "Log each finished image; given twice, each batch too");
  command->add_flag("-q,--quiet", args->quiet, "Log only warnings; given twice, only errors");
  command->callback([args, &action] { action = [args] { return watch(*args); }; });
}

}  // namespace eckart::cli
