import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  EMPTY_CONFIG,
  formatAgentKey,
  TunnelAgent,
  TunnelServer,
  type TunnelConfig,
  type TunnelServerConfig,
  type TunnelServerEnvironment,
} from '@gatehouse/tunnel-kernel';
import { waitFor } from '@gatehouse/testing';

const quiet = (): void => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const CLIENT = { id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 };

/** A tunnel server and the agent of its one client, on loopback. */
export class Tunnel {
  readonly server: TunnelServer;
  readonly #secret = createAgentSecret();
  readonly #identity = createServerIdentity();
  #agent: TunnelAgent | undefined;
  #revision = 0;

  private constructor(options: Partial<TunnelServerEnvironment>) {
    const record = { id: CLIENT.id, keyHash: agentKeyHash(this.#secret), enabled: true, encrypt: false };
    this.server = new TunnelServer({
      now: Date.now,
      logger,
      identity: this.#identity,
      clients: { findByKeyHash: async (hash) => (hash === record.keyHash ? record : null) },
      ...options,
    });
  }

  static async start(options: Partial<TunnelServerEnvironment> = {}): Promise<Tunnel> {
    const tunnel = new Tunnel(options);
    const port = await tunnel.server.listen({ host: '127.0.0.1', port: 0 });
    const key = formatAgentKey({ secret: tunnel.#secret, fingerprint: tunnel.#identity.fingerprint });
    const server = { host: '127.0.0.1', port };
    tunnel.#agent = new TunnelAgent({ server, key, now: Date.now, random: Math.random, logger });
    tunnel.#agent.start();
    await waitFor(() => tunnel.server.agents().length === 1);
    return tunnel;
  }

  /** The public port of a tunnel to `target`, alone in the configuration. */
  async open(target: number, tunnel: Partial<TunnelConfig>, more: Partial<TunnelServerConfig> = {}): Promise<number> {
    const targets = [{ host: '127.0.0.1', port: target, weight: 1 }];
    const listen = { host: '127.0.0.1', port: 0 };
    const tunnels = [{ id: 7, clientId: CLIENT.id, mode: 'tcp' as const, listen, targets, ...tunnel }];
    const revision = (this.#revision += 1);
    const [state] = await this.server.apply({ ...EMPTY_CONFIG, revision, clients: [CLIENT], tunnels, ...more });
    return state?.port ?? 0;
  }

  async close(): Promise<void> {
    await this.#agent?.stop();
    await this.server.stop();
  }
}
