#pragma once

namespace eckart::cli {

/// Raises the soft limit of open files, which is often 1024. Many output files are open at a time
/// until they are synced.
void raise_descriptor_limit();

}  // namespace eckart::cli
