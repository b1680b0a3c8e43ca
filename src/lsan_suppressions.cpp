// Memory that libraries keep until the process ends; goes into every program built with
// AddressSanitizer, and into no other. DCMTK: its list of codecs.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:DcmCodecList::registerCodec\n";
}
