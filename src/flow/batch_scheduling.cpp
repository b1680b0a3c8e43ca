#include "flow/batch_scheduling.hpp"

#include <sched.h>

namespace eckart::flow {

void use_batch_scheduling() {
  const sched_param no_priority{};
  if (::sched_getscheduler(0) == SCHED_OTHER) ::sched_setscheduler(0, SCHED_BATCH, &no_priority);
}

}  // namespace eckart::flow
