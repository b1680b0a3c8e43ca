#include "cli/run_supervised.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "app/service_manager.hpp"
#include "app/supervisor.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/signal_handler.hpp"
#include "logging/log.hpp"

namespace eckart::cli {

void start_service(int verbosity) {
  raise_descriptor_limit();
  const char* journal_stream = std::getenv("JOURNAL_STREAM");
  logging::start_service_log(verbosity, journal_stream ? journal_stream : "");
}

void run_supervised(const settings::Configuration& configuration, ReadConfiguration read,
                    MakeService make) {
  spdlog::info("eckart " ECKART_VERSION ", process {}", ::getpid());
  app::SystemdServiceManager manager;
  app::Supervisor supervisor(
      configuration, {.read_configuration = std::move(read),
                      .make_service = std::move(make),
                      .print_status = [](const std::string& lines) { logging::log_always(lines); },
                      .manager = manager});
  const SignalHandler signals({.on_stop = [&](int) { supervisor.stop(); },
                               .on_status_request = [&] { supervisor.request_status(); },
                               .on_reload = [&] { supervisor.reload(); },
                               .shutdown_timeout = [&] { return supervisor.shutdown_timeout(); },
                               .pending_work = [&] { return supervisor.pending_work(); }});
  supervisor.run();
}

}  // namespace eckart::cli
