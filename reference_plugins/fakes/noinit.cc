// libnoinit.so: a shared object that loads, and is no plugin.

extern "C" __attribute__((visibility("default"))) int TF_InitPlugins() { return 0; }
