// Preloaded into the services. The first start compiles everything, and writing the compile cache is slow; left to the
// end of the process it would make the first Ctrl-C take seconds. Later starts have nothing new to write.
import { flushCompileCache } from 'node:module';

const SOME_TIME_AFTER_THE_START_MS = 4_000;

setTimeout(flushCompileCache, SOME_TIME_AFTER_THE_START_MS).unref();
