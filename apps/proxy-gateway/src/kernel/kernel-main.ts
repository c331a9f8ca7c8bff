/** The kernel's process: holds no file, no database and no secret of the service's. Its arguments say which kernel. */
import { runKernelProgram } from './kernel-program.js';
import type { CreateKernel } from './kernel-program.js';

const [mode, executable = ''] = process.argv.slice(2);

/** Loaded when wanted: the embedded kernel's process stays small. */
async function kernelOf(wanted: string | undefined): Promise<CreateKernel> {
  if (wanted === 'mihomo') return (await import('./mihomo/create-mihomo-kernel.js')).createMihomoKernel(executable);
  const { createProxyKernel } = await import('@gatehouse/proxy-kernel');
  return (environment) => Promise.resolve(createProxyKernel(environment));
}

await runKernelProgram(await kernelOf(mode));
