import { FlowFailures, formatCidr, specialPurposeRanges, writePrivately } from '@gatehouse/net';
import {
  DestinationRules,
  TunnelAgent,
  type AgentStatus,
  type HostAndPort,
  type TunnelAgentEnvironment,
} from '@gatehouse/tunnel-kernel';
import { StatusRecorder } from './status/status-recorder.js';
import { exitCodeOf } from './exit-codes.js';
import { nameOfProxy } from './proxy/proxy-address.js';
import { proxiedDialer } from './proxy/proxy-dialer.js';
import type { Reporter } from './reporter.js';
import type { AgentSettings } from './options/settings.js';
import type { StatusPlace } from './status/status-place.js';
import { StatusServer } from './status/status-server.js';
import { nameOf } from './options/way-settings.js';

const CARRIED_EVERY_MS = 60_000;
/** Clouds serve a machine's credentials there. */
const NEVER_BY_DEFAULT = specialPurposeRanges('link-local', 'metadata').map(formatCidr);

export interface RunningAgent {
  agent: TunnelAgent;
  /** Resolves to the exit code. */
  ended: Promise<number>;
  /** Lets running connections continue for the configured grace period, then ends. A second call ends at once. */
  stop: () => void;
}

export interface AgentContext {
  reporter: Reporter;
  /** Of the program. */
  version: string;
  /** Where `gatehouse-agent status` finds the agent. */
  statusPlace: StatusPlace;
  /** Called whenever the agent has connected. */
  onOnline?: () => void;
}

/** Starts an agent with these settings. */
export function runAgent(settings: AgentSettings, context: AgentContext): RunningAgent {
  const { reporter, onOnline } = context;
  const { graceMs } = settings;
  const name = nameOf(settings);
  const recorder = boardOf(settings, context);
  const ended = Promise.withResolvers<number>();
  // An unexpected failure ends only the connection that caused it.
  const failures = new FlowFailures((message, fields) => reporter.error(message, fields));
  const onStatus = (status: AgentStatus): void => {
    recorder.changed(status);
    reporter.status(status, name);
    if (status.state === 'online') onOnline?.();
    if (status.state !== 'stopped') return;
    clearInterval(carried);
    failures.stop();
    statusServer.close();
    reportCarried();
    ended.resolve(exitCodeOf(status.reason.code));
  };
  const agent = new TunnelAgent({
    ...environmentOf(settings, context),
    events: {
      status: onStatus,
      configured: ({ tunnels, hosts }) => {
        recorder.configured(tunnels, hosts);
        reporter.resources(tunnels, hosts);
      },
      keyChanged: (changed) => void keepKey(changed, settings.keyFile, reporter),
    },
  });
  const reportCarried = (): void => {
    recorder.count(agent);
    reporter.carried(recorder.takeUnreported());
  };
  const carried = setInterval(reportCarried, CARRIED_EVERY_MS);
  const statusServer = serveStatus(recorder, agent, context);
  let stopping = false;
  const stop = (): void => {
    void agent.stop(stopping ? 0 : graceMs);
    stopping = true;
  };
  agent.start();
  return { agent, ended: ended.promise, stop };
}

function boardOf(settings: AgentSettings, { reporter, version }: AgentContext): StatusRecorder {
  const found = settings.proxyFor(settings.server);
  const proxy = found && nameOfProxy(found);
  if (proxy !== null) reporter.proxied(proxy);
  return new StatusRecorder({ version, gateway: nameOf(settings), proxy, pid: process.pid, now: Date.now });
}

function serveStatus(
  recorder: StatusRecorder,
  agent: TunnelAgent,
  { statusPlace, reporter }: AgentContext,
): StatusServer {
  const server = new StatusServer(() => {
    recorder.count(agent);
    return recorder.report(agent.flows);
  });
  server.open(statusPlace).catch((error: Error) => {
    reporter.warn('gatehouse-agent status cannot ask this agent', { reason: error.message });
  });
  return server;
}

function environmentOf(settings: AgentSettings, { reporter, version }: AgentContext): TunnelAgentEnvironment {
  const { server, transport, websocket, key, fileRoots, requireEncryption, replica, proxyFor } = settings;
  const isProxied = proxyFor(server) !== null;
  return {
    server,
    transport,
    ...(websocket && { websocket }),
    key,
    now: Date.now,
    software: `gatehouse-agent/${version}`,
    logger: reporter,
    dialer: proxiedDialer(proxyFor),
    allows: targetAccess(settings),
    fileRoots,
    // UDP and direct paths would go around the proxy.
    ...(isProxied && { datagrams: { packets: false } }),
    p2p: settings.p2p && !isProxied,
    requireEncryption,
    replica,
  };
}

/** For the next start: the gateway is replacing its key. The running agent knows the new one already. */
export async function keepKey(
  key: string,
  file: string | undefined,
  reporter: Pick<Reporter, 'info' | 'warn'>,
): Promise<void> {
  try {
    if (file === undefined) throw new Error('the key is not in a file of its own');
    await writePrivately(file, `${key}\n`);
    reporter.info('the gateway exchanges its key, and the file of the key has what is needed after that', { file });
  } catch (error) {
    reporter.warn('the gateway exchanges its key: before this agent is started again, give it a new key string', {
      reason: (error as Error).message,
      from: 'the client in the console, or --key-file with a file that this agent may write',
    });
  }
}

/** Which targets visitors may reach through this machine. */
function targetAccess({ allow, deny }: Pick<AgentSettings, 'allow' | 'deny'>) {
  const always = new DestinationRules(NEVER_BY_DEFAULT);
  return (target: HostAndPort, address: string): boolean => {
    if (deny.match(target, address)) return false;
    return allow.empty ? !always.match(target, address) : allow.match(target, address);
  };
}
