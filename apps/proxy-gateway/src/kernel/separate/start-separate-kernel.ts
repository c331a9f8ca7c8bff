import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { parseControlEndpoint, type ControlEndpoint } from '@gatehouse/net';
import { createSecretBox, findSecretKeys } from '@gatehouse/persistence';
import { createLogger, StartError, type LogRecord, type RunningProcess } from '@gatehouse/platform';
import { createProxyKernel, createSystemResolver, type KernelLogger } from '@gatehouse/proxy-kernel';
import { KernelGeo } from '../kernel-geo.js';
import { kernelChannelKey } from '../../common/kernel-channel.js';
import type { KernelIdentity } from '../../common/kernel-figures.js';
import type { KernelLogEntry } from '../../common/kernel-ipc.js';
import { SERVICE_VERSION } from '../../service-version.js';
import { KernelStore } from './kernel-store.js';
import { SeparateKernel } from './separate-kernel.js';
import type { SeparateKernelSettings } from './settings.js';
import { openWatchers } from './kernel-watchers.js';

/** @throws StartError without a secret key or an address for the control channel, and if a port is taken. */
export async function startSeparateKernel(settings: Readonly<SeparateKernelSettings>): Promise<RunningProcess> {
  const { home, kernelChannel = [], shutdownTimeoutMs } = settings;
  const secretKeys = findSecretKeys({ home, envValue: settings.secretKey });
  if (!secretKeys) {
    throw new StartError(
      'GATEHOUSE_SECRET_KEY is not set: the kernel needs the one that proxy-gateway has',
      '未设置 GATEHOUSE_SECRET_KEY：内核需要与 proxy-gateway 相同的密钥',
    );
  }
  const { channel, endpoint } = channelOf(kernelChannel);
  const log = createLogger({ name: 'proxy-gateway kernel', settings });
  const logger = loggerOver(log);
  const geo = new KernelGeo(logger);
  const environment = { now: () => Date.now(), logger, resolver: createSystemResolver() };
  const kernel = createProxyKernel({ ...environment, country: geo.country, asn: geo.asn });
  const store = new KernelStore(home, createSecretBox(secretKeys));
  const spool = store.openSpool((message) => logger.warn(message));
  const separate = new SeparateKernel({
    kernel,
    store,
    geo,
    spool,
    logger,
    keys: secretKeys.map(kernelChannelKey),
    identity: identityOf(settings, store, logger),
    listenAddress: settings.kernelListenAddress ?? null,
    drainDelayMs: settings.kernelDrainDelayMs,
  });
  // The service decides by its own setting which lines it keeps, as for a kernel that it started.
  log.setContextLevel(CONTEXT, 'debug');
  log.tap((record) => separate.log(toLogEntry(record)));
  const watchers = await openWatchers(settings, kernel, () => stateOf(separate));
  const bound = await separate
    .start(
      endpoint,
      watchers.map(({ port }) => port),
    )
    .catch((error: unknown) => {
      throw new StartError(
        `PROXY_KERNEL_CHANNEL: ${channel} cannot be listened on`,
        `PROXY_KERNEL_CHANNEL: 无法监听 ${channel}`,
        { cause: error },
      );
    });
  const stop = async (): Promise<void> => {
    await separate.stop(Math.min(shutdownTimeoutMs, MAX_GRACE_MS));
    for (const { server } of watchers) server.close();
  };
  return { logger: log, stop, ready: { channel: bound, healthPort: watchers[0].port, metricsPort: watchers[1]?.port } };
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

function identityOf(
  { kernelName, kernelPublicHost }: Readonly<SeparateKernelSettings>,
  store: KernelStore,
  logger: KernelLogger,
): KernelIdentity {
  const about = {
    name: kernelName ?? hostname(),
    version: SERVICE_VERSION,
    publicHost: kernelPublicHost ?? null,
    startedAt: Date.now(),
  };
  try {
    return { id: store.id(), ...about };
  } catch (error) {
    logger.warn('The id of this kernel cannot be kept; services will see another kernel after a restart', {
      error: String(error),
    });
    return { id: randomUUID(), ...about };
  }
}

function stateOf(kernel: SeparateKernel): string {
  if (kernel.isDraining) return 'draining';
  return kernel.ready ? 'ok' : 'waiting for a configuration';
}

/** @throws StartError unless there is exactly one address. */
function channelOf([channel = '', ...others]: readonly string[]): { channel: string; endpoint: ControlEndpoint } {
  const endpoint = parseControlEndpoint(channel);
  if (!endpoint) {
    throw new StartError(
      'PROXY_KERNEL_CHANNEL is not set: where the kernel listens for proxy-gateway',
      '未设置 PROXY_KERNEL_CHANNEL，即内核供 proxy-gateway 连接的地址',
    );
  }
  if (others.length > 0) {
    throw new StartError(
      'PROXY_KERNEL_CHANNEL must be one address here: the list is for proxy-gateway',
      'PROXY_KERNEL_CHANNEL 在此处只能是一个地址：列表仅供 proxy-gateway 使用',
    );
  }
  return { channel, endpoint };
}
