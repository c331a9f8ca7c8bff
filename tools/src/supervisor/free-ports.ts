import { setTimeout as delay } from 'node:timers/promises';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { probePort } from '../ports.js';
import type { PlatformSettings } from './platform-settings.js';
import { KERNEL_PORT } from './service-list.js';

const RETRY_MS = 250;

function problemOf(variable: string, port: number, host: string, code: string): string {
  const addressVariable = variable === KERNEL_PORT.variable ? 'PROXY_KERNEL_ADDRESS' : 'BIND_ADDRESS';
  if (code === 'EADDRINUSE') return `port ${port} is taken: set ${variable} to a free one.`;
  if (code === 'EACCES') return `port ${port} is not for this user: set ${variable} to one above 1023.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EINVAL')
    return `this machine has no address ${host}: set ${addressVariable} to one it has.`;
  return `port ${port} (${variable}) cannot be used: ${code}.`;
}

/** Makes sure, before anything is started, that every port can be had. */
export async function requireFreePorts({ ports, bindAddress, kernelAddress }: PlatformSettings): Promise<void> {
  const problems = await Promise.all(
    Object.entries(ports).map(async ([variable, port]) => {
      if (port === 0) return undefined;
      const host = variable === KERNEL_PORT.variable ? kernelAddress : bindAddress;
      let code = await probePort(port, host);
      if (code === 'EADDRINUSE') {
        await delay(RETRY_MS); // a listener that is just closing
        code = await probePort(port, host);
      }
      return code === undefined ? undefined : problemOf(variable, port, host, code);
    }),
  );
  const found = problems.filter((problem) => problem !== undefined);
  const [first, ...others] = found;
  if (first !== undefined) throw new PlainFailure(first, { advice: others });
}
