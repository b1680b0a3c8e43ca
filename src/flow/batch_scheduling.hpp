#pragma once

namespace eckart::flow {

/// For threads of which only the throughput counts: this thread no longer preempts others when it
/// wakes up (Linux: SCHED_BATCH). If it does not have the default policy, or the system does not
/// permit it, nothing changes.
void use_batch_scheduling();

}  // namespace eckart::flow
