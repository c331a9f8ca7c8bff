import { FlowFailures, formatCidr, specialPurposeRanges, writePrivately } from '@gatehouse/net';
import { DestinationRules, TunnelAgent, type AgentStatus, type HostAndPort } from '@gatehouse/tunnel-kernel';
import { exitCodeOf } from './exit-codes.js';
import { nameOfProxy } from './proxy-address.js';
import { proxiedDialer } from './proxy-dialer.js';
import type { Reporter } from './reporter.js';
import type { AgentSettings } from './settings.js';
import { nameOf } from './way-settings.js';

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

/** Starts an agent with these settings. `onOnline`: called whenever it has connected. */
export function runAgent(
  settings: AgentSettings,
  reporter: Reporter,
  software: string,
  onOnline?: () => void,
): RunningAgent {
  const { server, transport, websocket, key, graceMs } = settings;
  const name = nameOf(settings);
  const proxy = settings.proxyFor(server);
  if (proxy) reporter.proxied(nameOfProxy(proxy));
  const ended = Promise.withResolvers<number>();
  // An unexpected failure ends only the connection that caused it.
  const failures = new FlowFailures((message, fields) => reporter.error(message, fields));
  const onStatus = (status: AgentStatus): void => {
    reporter.status(status, name);
    if (status.state === 'online') onOnline?.();
    if (status.state !== 'stopped') return;
    clearInterval(carried);
    failures.stop();
    reporter.carried(agent.takeDeltas());
    ended.resolve(exitCodeOf(status.reason.code));
  };
  const agent = new TunnelAgent({
    server,
    transport,
    ...(websocket && { websocket }),
    key,
    now: Date.now,
    software,
    logger: reporter,
    dialer: proxiedDialer(settings.proxyFor),
    // UDP and direct paths would go around the proxy.
    ...(proxy && { datagrams: { packets: false } }),
    allows: targetAccess(settings),
    fileRoots: settings.fileRoots,
    p2p: settings.p2p && !proxy,
    requireEncryption: settings.requireEncryption,
    replica: settings.replica,
    events: {
      status: onStatus,
      configured: ({ tunnels, hosts }) => reporter.resources(tunnels, hosts),
      keyChanged: (changed) => void keepKey(changed, settings.keyFile, reporter),
    },
  });
  const carried = setInterval(() => reporter.carried(agent.takeDeltas()), CARRIED_EVERY_MS);
  let stopping = false;
  const stop = (): void => {
    void agent.stop(stopping ? 0 : graceMs);
    stopping = true;
  };
  agent.start();
  return { agent, ended: ended.promise, stop };
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
