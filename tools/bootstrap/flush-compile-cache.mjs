// Preloaded into the services. The first start compiles everything, and writing the compile cache is slow; left to the
// end of the process it would make the first Ctrl-C take seconds. Later starts have nothing new to write.
import { flushCompileCache } from 'node:module';

// Most of it once while the service loads, the rest when it has settled.
for (const afterMs of [2_000, 6_000]) setTimeout(flushCompileCache, afterMs).unref();
