/** The kernel's process: holds no database and no secret of the service's, and no file but that for its records. Its arguments say which kernel. */
import { SPOOL_ARGUMENT } from '../common/spool-files.js';
import { runKernelProgram } from './kernel-program.js';
import type { CreateKernel } from './kernel-program.js';

const [mode, executable = '', spool] = process.argv.slice(2);

/** Loaded when wanted: the embedded kernel's process stays small. */
async function kernelOf(wanted: string | undefined): Promise<CreateKernel> {
  if (wanted === 'mihomo') return (await import('./mihomo/create-mihomo-kernel.js')).createMihomoKernel(executable);
  const { createProxyKernel } = await import('@gatehouse/proxy-kernel');
  return (environment) => Promise.resolve(createProxyKernel(environment));
}

await runKernelProgram(await kernelOf(mode), spool === SPOOL_ARGUMENT ? [4, 5] : null);
