import type { CreateKernel } from '../kernel-program.js';
import { MihomoKernel } from './mihomo-kernel.js';
import { MihomoProgram } from './mihomo-program.js';

/** Lines of mihomo's own log, with their level. */
const LINE = /level=(\w+) msg="?(.*?)"?$/;

/** Creates a kernel over a mihomo process. When mihomo ends, so does this process. */
export function createMihomoKernel(executable: string): CreateKernel {
  return async (environment, fail) => {
    const { logger } = environment;
    const program = new MihomoProgram({
      executable,
      onExit: (reason) => fail(`mihomo: ${reason}`),
      onOutput: (line) => {
        const [, level, message] = LINE.exec(line) ?? [];
        const fields = { text: (message ?? line).slice(0, 1_000) };
        if (level === 'error' || level === 'fatal') logger.error('mihomo says', fields);
        else logger.warn('mihomo says', fields);
      },
    });
    const { version } = await program.start();
    logger.info('mihomo runs', { version });
    return new MihomoKernel(program, environment, version);
  };
}
