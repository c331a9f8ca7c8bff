/**
 * The kernel's process. It has no database, none of the service's secrets, and no files except those for its records.
 * Its arguments say which kernel to run.
 */
import { SHARED_PORTS_ARGUMENT, SPOOL_ARGUMENT } from '../common/spool-files.js';
import { runKernelProgram } from './kernel-program.js';
import type { CreateKernel } from './kernel-program.js';

const [mode, executable = '', ...flags] = process.argv.slice(2);

/** Imported on demand, so that the embedded kernel's process stays small. */
async function kernelOf(wanted: string | undefined): Promise<CreateKernel> {
  if (wanted === 'mihomo') return (await import('./mihomo/create-mihomo-kernel.js')).createMihomoKernel(executable);
  const { createProxyKernel } = await import('@gatehouse/proxy-kernel');
  return (environment) => Promise.resolve(createProxyKernel(environment));
}

await runKernelProgram(await kernelOf(mode), {
  spoolFiles: flags.includes(SPOOL_ARGUMENT) ? [4, 5] : null,
  sharesPorts: flags.includes(SHARED_PORTS_ARGUMENT),
});
