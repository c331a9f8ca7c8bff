import type { CreateKernel } from '../kernel-program.js';
import { MihomoKernel } from './mihomo-kernel.js';
import { MihomoProgram } from './mihomo-program.js';

/** Creates a kernel over a mihomo process. When mihomo ends, so does this process. */
export function createMihomoKernel(executable: string): CreateKernel {
  return async (environment, fail, geo) => {
    const program = new MihomoProgram({ executable, onExit: (reason) => fail(`mihomo: ${reason}`) });
    const { version } = await program.start();
    environment.logger.info('mihomo runs', { version });
    const kernel = new MihomoKernel(program, { ...environment, prefixes: geo.prefixes }, version);
    geo.onChange(() => kernel.databasesChanged());
    return kernel;
  };
}
