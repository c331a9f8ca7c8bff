import { parseControlEndpoint } from '@gatehouse/net';
import { createSecretBox, findSecretKeys } from '@gatehouse/persistence';
import { createLogger, StartError, type LogRecord, type RunningProcess } from '@gatehouse/platform';
import { createProxyKernel, createSystemResolver, type KernelLogger } from '@gatehouse/proxy-kernel';
import { KernelGeo } from '../kernel-geo.js';
import { kernelChannelKey } from '../../common/kernel-channel.js';
import type { KernelLogEntry } from '../../common/kernel-ipc.js';
import { KernelStore } from './kernel-store.js';
import { SeparateKernel } from './separate-kernel.js';
import type { SeparateKernelSettings } from './settings.js';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** @throws StartError without a secret key or an address for the control channel, and if a port is taken. */
export async function startSeparateKernel(settings: Readonly<SeparateKernelSettings>): Promise<RunningProcess> {
  const { home, kernelChannel = '', kernelHealthPort, shutdownTimeoutMs } = settings;
  const secretKeys = findSecretKeys({ home, envValue: settings.secretKey });
  if (!secretKeys)
    throw new StartError('GATEHOUSE_SECRET_KEY is not set: the kernel needs the one that proxy-gateway has');
  const endpoint = parseControlEndpoint(kernelChannel);
  if (!endpoint) throw new StartError('PROXY_KERNEL_CHANNEL is not set: where the kernel listens for proxy-gateway');
  const log = createLogger({ name: 'proxy-gateway kernel', settings });
  const logger = loggerOver(log);
  const geo = new KernelGeo(logger);
  const environment = { now: () => Date.now(), logger, resolver: createSystemResolver() };
  const kernel = createProxyKernel({ ...environment, country: geo.country, asn: geo.asn });
  const store = new KernelStore(home, createSecretBox(secretKeys));
  const spool = store.openSpool((message) => logger.warn(message));
  const separate = new SeparateKernel({ kernel, store, geo, spool, logger, keys: secretKeys.map(kernelChannelKey) });
  // The service decides by its own setting which lines it keeps, as for a kernel that it started.
  log.setContextLevel(CONTEXT, 'debug');
  log.tap((record) => separate.log(toLogEntry(record)));
  const health = await openHealthPort(kernelHealthPort, () => separate.ready).catch((error: unknown) => {
    throw new StartError(`PROXY_KERNEL_HEALTH_PORT: port ${kernelHealthPort} is not available`, { cause: error });
  });
  const bound = await separate.start(endpoint, [health.port]).catch((error: unknown) => {
    throw new StartError(`PROXY_KERNEL_CHANNEL: ${kernelChannel} cannot be listened on`, { cause: error });
  });
  const stop = async (): Promise<void> => {
    health.server.close();
    await separate.stop(Math.min(shutdownTimeoutMs, MAX_GRACE_MS));
  };
  return { logger: log, stop, ready: { channel: bound, healthPort: health.port } };
}

const CONTEXT = 'Kernel';

/** Less than the time after which a stopping process is killed. */
const MAX_GRACE_MS = 20_000;

function loggerOver(log: RunningProcess['logger']): KernelLogger {
  return {
    debug: (message, fields) => log.debug(message, fields ?? {}, CONTEXT),
    info: (message, fields) => log.log(message, fields ?? {}, CONTEXT),
    warn: (message, fields) => log.warn(message, fields ?? {}, CONTEXT),
    error: (message, fields) => log.error(message, fields ?? {}, CONTEXT),
  };
}

/** The record has already been redacted. */
function toLogEntry({ time, level, message, fields }: LogRecord): KernelLogEntry {
  return { at: Date.parse(time), level: level === 'fatal' ? 'error' : level, message, fields };
}

/** Serves `/healthz` and `/readyz` on the loopback, for monitoring. Resolves to the server and its port. */
function openHealthPort(port: number, isReady: () => boolean): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    const ready = isReady();
    const known = request.url === '/healthz' || request.url === '/readyz';
    const ok = request.url === '/healthz' || ready;
    response.writeHead(known ? (ok ? 200 : 503) : 404, { 'Content-Type': 'application/json', Connection: 'close' });
    response.end(`${JSON.stringify({ status: ok ? 'ok' : 'waiting for a configuration' })}\n`);
  });
  server.headersTimeout = server.requestTimeout = 5_000;
  server.maxConnections = 32;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject).on('error', () => undefined);
      resolve({ server, port: (server.address() as AddressInfo).port });
    });
  });
}
