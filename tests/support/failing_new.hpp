#pragma once

namespace eckart::test {

/// Makes the `number`-th allocation of this thread with operator new fail, counted from this call.
/// Link failing_new.cpp, which replaces operator new, to use it.
void fail_allocation(long number);

/// Lets all later allocations succeed. Returns whether the allocation has failed.
bool stop_failing_allocations();

}  // namespace eckart::test
