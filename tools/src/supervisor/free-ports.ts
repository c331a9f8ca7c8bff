import { setTimeout as delay } from 'node:timers/promises';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { probePort } from '../ports.js';
import type { PlatformSettings } from './platform-settings.js';
import { addressVariable } from './service-list.js';
import { localized } from '../../bootstrap/language.mjs';

const RETRY_MS = 250;

function problemOf(variable: string, port: number, host: string, code: string): string {
  if (code === 'EADDRINUSE') {
    return localized(
      `port ${port} is taken: set ${variable} to a free one.`,
      `端口 ${port} 已被占用：请将 ${variable} 设为空闲端口。`,
    );
  }
  if (code === 'EACCES') {
    return localized(
      `port ${port} is not for this user: set ${variable} to one above 1023.`,
      `当前用户无权使用端口 ${port}：请将 ${variable} 设为 1023 以上的端口。`,
    );
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EINVAL')
    return localized(
      `this machine has no address ${host}: set ${addressVariable(variable)} to one it has.`,
      `本机没有地址 ${host}：请将 ${addressVariable(variable)} 设为本机地址。`,
    );
  return localized(
    `port ${port} (${variable}) cannot be used: ${code}.`,
    `无法使用端口 ${port}（${variable}）：${code}。`,
  );
}

/** Makes sure, before anything is started, that every port can be had. */
export async function requireFreePorts(settings: PlatformSettings): Promise<void> {
  const addresses = {
    BIND_ADDRESS: settings.bindAddress,
    PROXY_KERNEL_ADDRESS: settings.kernelAddress,
    METRICS_ADDRESS: settings.metricsAddress,
    TUNNEL_LISTEN_ADDRESS: settings.tunnelAddress,
  };
  const problems = await Promise.all(
    Object.entries(settings.ports).map(async ([variable, port]) => {
      if (port === 0) return undefined;
      const host = addresses[addressVariable(variable)];
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
