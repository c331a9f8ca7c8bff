/**
 * The data plane as a program of its own, for a separate container: it needs neither a parent nor the service. The
 * service finds it with TUNNEL_EDGE=separate. It reads the same settings as the service.
 */
import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSecretBox, loadSecretKeys } from '@gatehouse/persistence';
import {
  createLogger,
  localMetrics,
  MetricsRegistry,
  runProcess,
  serveMetrics,
  StartError,
  stopLimitOf,
  type JsonLogger,
  type RenderMetrics,
  type RunningProcess,
} from '@gatehouse/platform';
import type { EdgeStatus } from './common/edge-ipc.js';
import { EdgeDatabase } from './common/edge-database.js';
import { separateChannelKey, textOfChannelKey } from './common/channel-key.js';
import { SupervisorProgram } from './edge-supervisor/supervisor-program.js';
import { forkEdge } from './edge-supervisor/fork-edge.js';
import { serveHealth, type EdgeHealth } from './common/health-port.js';
import { showEdge } from './common/show-edge.js';
import { loadServerIdentity, type KnownIdentity } from './edge-host/server-identity.js';
import { channelEndpointOf, edgeFolder, edgeOptions, logAll, portError } from './edge-host/start-edge.js';
import { readSettings, type TunnelGatewaySettings } from './settings.js';

const NAME = 'tunnel-gateway edge';
const RETRY_MS = 1_000;

await runProcess(NAME, async (): Promise<RunningProcess> => {
  const settings = readSettings();
  const logger = createLogger({ name: NAME, settings });
  const keys = loadSecretKeys({ home: settings.home, envValue: settings.secretKey });
  const identity = await identityOf(settings, keys, logger);
  const supervisor = new SupervisorProgram({
    start: {
      edge: edgeOptions(settings, identity, keys),
      optionsId: null,
      channelKeys: keys.map((key) => textOfChannelKey(separateChannelKey(key))),
      channel: channelEndpointOf(settings),
      watch: null,
    },
    launch: forkEdge,
    onLogs: (entries) => logAll(logger, entries),
    onEnd: (code) => process.exit(code),
  });
  const first = await supervisor.start().catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code ?? cause.message;
    throw new StartError(
      `TUNNEL_EDGE_CHANNEL: cannot be listened on (${reason})`,
      `TUNNEL_EDGE_CHANNEL: 无法监听（${reason}）`,
      { cause },
    );
  });
  if (first.outcome === 'port') throw portError(first, settings);
  const health = { stopping: false };
  const watchers = await watchersOf(settings, supervisor, health);
  if (process.platform !== 'win32') process.on('SIGUSR2', () => void supervisor.renew());
  const ports = first.outcome === 'ready' ? first.ports : {};
  logger.log('the edge serves', { ...ports }, 'Edge');
  return {
    logger,
    ready: { ...ports },
    stopLimitMs: stopLimitOf(settings),
    stop: async () => {
      health.stopping = true;
      await delay(settings.shutdownDelayMs);
      await supervisor.end(settings.shutdownTimeoutMs);
      for (const { server } of watchers) server.close();
    },
  };
});

/** Reads it from the database, else from the file of the last start; otherwise waits for one of them. */
async function identityOf(
  settings: Readonly<TunnelGatewaySettings>,
  keys: readonly Buffer[],
  logger: JsonLogger,
): Promise<KnownIdentity> {
  const queries = new EdgeDatabase(settings.databaseUrl);
  const sources = { queries, box: createSecretBox(keys), file: join(edgeFolder(settings.home), 'identity.json') };
  try {
    for (let attempts = 0; ; attempts += 1) {
      try {
        return await loadServerIdentity(sources);
      } catch (error) {
        if (error instanceof Error && error.name === 'SecretBoxError') throw error;
        if (attempts === 0) logger.warn('waiting for the database', { error }, 'Edge');
        await delay(RETRY_MS);
      }
    }
  } finally {
    await queries.close();
  }
}

interface Watcher {
  readonly server: Server;
  readonly port: number;
}

/** Health checks, and metrics: on a port of their own, or for programs of this machine beside the health checks. */
async function watchersOf(
  settings: Readonly<TunnelGatewaySettings>,
  supervisor: SupervisorProgram,
  health: { readonly stopping: boolean },
): Promise<Watcher[]> {
  const { edgeHealthPort, edgeHealthAddress, edgeMetricsPort, metricsAddress: address } = settings;
  const status = (): Promise<EdgeStatus> => supervisor.status();
  const metrics = new MetricsRegistry();
  showEdge(metrics, status);
  const render: RenderMetrics = () => metrics.render();
  const at = { port: edgeHealthPort, address: edgeHealthAddress };
  const state: EdgeHealth = { status, isStopping: () => health.stopping };
  if (edgeMetricsPort === undefined) {
    const routes = localMetrics(render);
    return [await listening('TUNNEL_EDGE_HEALTH_PORT', edgeHealthPort, serveHealth(at, state, routes))];
  }
  const own = serveMetrics({ port: edgeMetricsPort, address }, render);
  return [
    await listening('TUNNEL_EDGE_METRICS_PORT', edgeMetricsPort, own),
    await listening('TUNNEL_EDGE_HEALTH_PORT', edgeHealthPort, serveHealth(at, state)),
  ];
}

/** @throws StartError that names the variable of the port. */
async function listening(variable: string, asked: number, server: Promise<Server>): Promise<Watcher> {
  try {
    const bound = await server;
    return { server: bound, port: (bound.address() as AddressInfo).port };
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    throw new StartError(
      `${variable}: port ${asked} cannot be listened on (${code})`,
      `${variable}: 无法监听端口 ${asked}（${code}）`,
      { cause },
    );
  }
}
