// Preloaded into the services by the supervisor: housekeeping once a service has started.
import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// The first start compiles everything, and writing the compile cache is slow; left to the end of the process it would
// make the first Ctrl-C take seconds. Most of it is written while the service loads, the rest when it has settled.
const WHILE_LOADING_MS = 2_000;
const SETTLED_MS = 6_000;

/** Starting leaves tens of megabytes of garbage, and an idle service allocates too little to ever collect it. */
function collectGarbage() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type: 'major', flavor: 'last-resort' });
}

setTimeout(flushCompileCache, WHILE_LOADING_MS).unref();
setTimeout(() => {
  flushCompileCache();
  collectGarbage();
}, SETTLED_MS).unref();
