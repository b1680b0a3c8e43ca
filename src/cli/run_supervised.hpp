#pragma once

#include <functional>
#include <memory>

#include "app/supervised_service.hpp"
#include "settings/watches.hpp"

namespace eckart::cli {

/// Prepares the log and the limit of descriptors of a service. `verbosity`: as of start_log().
void start_service(int verbosity);

using ReadConfiguration = std::function<settings::Configuration()>;
using MakeService = std::function<std::unique_ptr<app::SupervisedService>(
    const settings::Configuration& configuration, double last_done_unix_s)>;

/// Runs a service until a signal stops it, or it ends by itself; SIGHUP reads the configuration
/// again. The arguments are those of app::Supervisor, whose errors it throws.
void run_supervised(const settings::Configuration& configuration, ReadConfiguration read,
                    MakeService make);

}  // namespace eckart::cli
