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
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/exit_deadline.hpp"
#include "cli/service_health.hpp"
#include "cli/signals.hpp"
#include "core/printable.hpp"
#include "telemetry/log.hpp"
#include "telemetry/service_manager.hpp"

namespace eckart::cli {
namespace {

struct WatchArgs {
  ConfigArgs config;
  bool check = false;
  int verbose = 0, quiet = 0;
};

void warn_of(const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) spdlog::warn("{}", remark);
}

void tell_not_reloaded(const std::exception& error) {
  spdlog::error("not reloaded: {}: the configuration before it stays",
                printable_message(error.what()));
}

/// One service after the other: each reload begins another.
class Watching {
  static constexpr std::chrono::seconds kMinReplacement{60};  // of one service by another

 public:
  explicit Watching(const WatchArgs& args)
      : args_(args), configuration_(read_configuration(args.config)) {}

  const settings::Configuration& configuration() const { return configuration_; }

  void run() {
    const StopSignals signals({.on_stop = [this](int) { stop(); },
                               .on_ask = [this] { tell(); },
                               .on_reload = [this] { reload(); },
                               .max_shutdown = [this] { return std::chrono::seconds(shutdown_s_); },
                               .waits_for = [this] { return waits_for(); }});
    // While the signals still have their deadline: one of the service's threads may hang.
    const std::shared_ptr<void> end(nullptr, [this](void*) {
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
        telemetry::notify_ready();
        spdlog::info("ready: {} watch{}", service_->watches(),
                     service_->watches() == 1 ? "" : "es");
      });
      check_end(report);
    } catch (const DeviceLost&) {
      throw;
    } catch (const FatalError& error) {
      if (ready || !before_) throw;
      tell_not_reloaded(error);
      const std::lock_guard lock(mutex_);
      configuration_ = *std::exchange(before_, std::nullopt);
      falls_back = !next_;
      if (falls_back) next_ = configuration_;
    }
    health_.reset();
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    if (!next_) return false;
    begin_again(std::move(*std::exchange(next_, std::nullopt)));
    if (falls_back) before_.reset();  // there is nothing to fall back to from that
    return true;
  }

  /// Throws what of the machine has ended it.
  static void check_end(const telemetry::RunReport& report) {
    spdlog::info("stopped: {} done, {} failed", report.done, report.failed);
    if (!report.stopped_by.empty()) throw EnvironmentError(report.stopped_by);
  }

  void make_service() {
    const std::lock_guard lock(mutex_);
    replace_service(configuration_);
    if (asked_) answer();
  }

  void replace_service(const settings::Configuration& configuration) {
    const std::chrono::seconds stall(configuration.settings.timeouts.stall_s);
    const ExitDeadline hangs(std::max<std::chrono::seconds>(stall, kMinReplacement),
                             ExitCode::temporary, [] {
                               spdlog::error(
                                   "the folders of the configuration do not answer: the service "
                                   "ends with 75, to be started again");
                             });
    if (service_) last_done_unix_s_ = service_->last_done_unix_s();
    service_.reset();  // which gives its folders back
    service_ = std::make_unique<app::Service>(configuration, last_done_unix_s_);
    shutdown_s_ = configuration.settings.timeouts.shutdown_s;
    health_.emplace(*service_, std::chrono::seconds(shutdown_s_), stalled_);
    if (stopped_) service_->request_stop();
  }

  /// What was checked may be impossible by now.
  void begin_again(settings::Configuration configuration) {
    try {
      replace_service(configuration);
      before_ = std::exchange(configuration_, std::move(configuration));
    } catch (const std::exception& error) {
      tell_not_reloaded(error);
      before_.reset();
      replace_service(configuration_);
    }
  }

  std::unique_ptr<app::Service> take_service() {
    const std::lock_guard lock(mutex_);
    return std::move(service_);
  }

  std::string waits_for() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock && service_ ? service_->activity_text() : std::string();
  }

  void stop() {
    spdlog::warn(
        "stopping: what is computed is still written, for {} s at most; once more ends at once",
        int(shutdown_s_));
    telemetry::notify_stopping();
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    next_.reset();
    if (service_) service_->request_stop();
  }

  void tell() {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    if (service_) answer();
  }

  void answer() {
    asked_ = false;
    telemetry::tell(service_->status_line() + '\n' + text_of(service_->view()));
  }

  void reload() {
    telemetry::notify_reloading();
    try {
      settings::Configuration configuration = read_configuration(args_.config);
      warn_of(app::check(configuration));
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      if (!service_) {
        configuration_ = std::move(configuration);
        return;
      }
      next_ = std::move(configuration);
      service_->request_stop();
    } catch (const std::exception& error) {
      tell_not_reloaded(error);
      telemetry::notify_ready();
    }
  }

  const WatchArgs args_;
  settings::Configuration configuration_;
  std::mutex mutex_;
  bool stopped_ = false;
  bool asked_ = false;  // for its state, before there was a service
  std::optional<settings::Configuration> next_, before_;
  double last_done_unix_s_ = 0;  // of the services before
  std::atomic<int> shutdown_s_{configuration_.settings.timeouts.shutdown_s};
  std::optional<ExitDeadline> stalled_;  // before the service, whose threads may hang at its end
  std::unique_ptr<app::Service> service_;
  std::optional<ServiceHealth> health_;
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
  warn_of(app::check(watching.configuration()));
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
