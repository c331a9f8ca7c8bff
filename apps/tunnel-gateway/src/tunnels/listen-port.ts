import { bindOnce, formatIp, listenOnce, parseIp } from '@gatehouse/net';
import { AppError } from '@gatehouse/platform';
import type { TunnelMode } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Edges } from '../edge-host/edges.service.js';
import { TunnelGatewaySettings } from '../settings.js';
import { fieldError } from '../wire/field-error.js';

/** The requested port of a tunnel. */
export interface WantedPort {
  mode: TunnelMode;
  /** In canonical form. */
  listenIp: string;
  /** 0: any in the range. */
  listenPort: number;
  /** The tunnel itself, whose current port is no conflict; null: a new one. */
  tunnelId: number | null;
}

const WITHOUT_PORT: ReadonlySet<TunnelMode> = new Set(['secret', 'p2p']);
const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const WELL_KNOWN = [80, 443];
/** How many ports are tried on this machine before a range counts as used up by other programs. */
const TRIES = 50;

/** One change of ports at a time, so that a free port stays free until it is stored. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.ports'))`;

/** Ports of other tunnels that would conflict. */
const TAKEN = `
  SELECT DISTINCT listen_port AS port FROM tunnel_gateway.tunnels
  WHERE listen_port BETWEEN $1 AND $2 AND (mode = 'udp') = $3 AND id <> $4 AND mode NOT IN ('secret', 'p2p')
    AND ($5 OR coalesce(listen_ip, '0.0.0.0') IN ('0.0.0.0', '::', $6))`;

/** The public ports of tunnels: which are available, and to whom. */
@Injectable()
export class ListenPorts {
  constructor(
    private readonly settings: TunnelGatewaySettings,
    private readonly edges: Edges,
  ) {}

  static needsPort(mode: TunnelMode): boolean {
    return !WITHOUT_PORT.has(mode);
  }

  /**
   * Returns the address in canonical form. @throws AppError VALIDATION_FAILED if this machine cannot listen there. An edge
   * of another machine reports that itself, as the tunnel's run status.
   */
  async readAddress(text: string): Promise<string> {
    const address = text.includes('%') ? null : parseIp(text);
    if (address === null) throw fieldError('listen_ip', 'must be an address such as 0.0.0.0');
    const canonical = formatIp(address);
    if (EVERYWHERE.has(canonical) || this.settings.edge === 'separate') return canonical;
    try {
      await listenOnce(0, canonical);
      return canonical;
    } catch {
      throw fieldError('listen_ip', `the gateway cannot listen on ${canonical}; 0.0.0.0 means all its addresses`);
    }
  }

  /**
   * Reserves a port for the tunnel until the transaction ends, and returns it. @throws AppError PORT_RESERVED,
   * PORT_IN_USE, FORBIDDEN
   */
  async claim(wanted: WantedPort, mayHaveAnyPort: boolean, tx: EntityManager): Promise<number> {
    if (!ListenPorts.needsPort(wanted.mode)) return 0;
    await tx.query(LOCK);
    if (wanted.listenPort === 0) return this.allocate(wanted, tx);
    const { listenPort: port } = wanted;
    if (this.reserved().has(port)) throw new AppError('PORT_RESERVED', `listen_port: the gateway itself uses ${port}`);
    const { first, last } = this.settings.portRange;
    if ((port < first || port > last || port < 1024) && !mayHaveAnyPort) {
      throw new AppError('FORBIDDEN', `listen_port: only administrators can use ports outside ${first} to ${last}`);
    }
    const taken = await this.taken(wanted, port, port, tx);
    if (taken.has(port)) throw new AppError('PORT_IN_USE', `listen_port: another tunnel has ${port}`);
    return port;
  }

  private async allocate(wanted: WantedPort, tx: EntityManager): Promise<number> {
    const { first, last } = this.settings.portRange;
    const taken = await this.taken(wanted, first, last, tx);
    const reserved = this.reserved();
    const free = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter(
      (port) => !taken.has(port) && !reserved.has(port),
    );
    const port = await this.openable(free, wanted);
    if (port === undefined) throw new AppError('PORT_IN_USE', `listen_port: no port from ${first} to ${last} is free`);
    return port;
  }

  /** One of these ports that no other program of this machine uses. An edge of another machine is not asked. */
  private async openable(ports: number[], { mode, listenIp }: WantedPort): Promise<number | undefined> {
    for (let tries = 0; ports.length > 0 && tries < TRIES; tries += 1) {
      // Random and not the lowest, so that visitors of a tunnel that was just removed do not reach the next one.
      const [port = 0] = ports.splice(Math.floor(Math.random() * ports.length), 1);
      if (this.settings.edge === 'separate') return port;
      try {
        return await (mode === 'udp' ? bindOnce(port, listenIp) : listenOnce(port, listenIp));
      } catch {
        continue; // in use, or this process may not open it
      }
    }
    return undefined;
  }

  private async taken(
    { mode, listenIp, tunnelId }: WantedPort,
    first: number,
    last: number,
    tx: EntityManager,
  ): Promise<Set<number>> {
    const parameters = [first, last, mode === 'udp', tunnelId ?? 0, EVERYWHERE.has(listenIp), listenIp];
    const rows = (await tx.query(TAKEN, parameters)) as { port: number }[];
    return new Set(rows.map(({ port }) => port));
  }

  private reserved(): Set<number> {
    const { port, agentPort, httpPort, httpsPort } = this.settings;
    const { agents, http, https } = this.edges.ports;
    return new Set(
      [...WELL_KNOWN, port, agentPort, httpPort, httpsPort, agents, http, https].filter((each) => each !== 0),
    );
  }
}
