// Goes into every program built with AddressSanitizer, and into no other.

/// Undefined behavior is an illegal instruction: -fsanitize-trap.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "handle_sigill=1"; }

/// Memory that libraries keep until the process ends. DCMTK: its list of codecs.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:DcmCodecList::registerCodec\n";
}
