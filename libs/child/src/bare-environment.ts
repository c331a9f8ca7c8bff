import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The environment of a child process that inherits nothing from this one, except where Node keeps what it has compiled
 * (NODE_COMPILE_CACHE), if this process uses that: compiling a bundle is half of the start of a small program.
 */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  // Node adds a folder for its version to the one that it is given.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
