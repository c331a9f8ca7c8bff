import { bindOnce, formatIp, listenOnce, parseIp } from '@gatehouse/net';
import { AppError } from '@gatehouse/platform';
import { MAX_RANGE_PORTS, type TunnelMode } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Condition } from '../data/owned-table.js';
import { Edges } from '../edge-host/edges.service.js';
import { TunnelGatewaySettings } from '../settings.js';
import { fieldError } from '../wire/field-error.js';

/** The requested ports of a tunnel. */
export interface WantedPort {
  mode: TunnelMode;
  /** In canonical form. */
  listenIp: string;
  /** 0: any in the gateway's range. */
  listenPort: number;
  /** Ports in a row, from `listenPort` on. */
  portCount: number;
  /** The tunnel itself, whose current ports are no conflict; null: a new one. */
  tunnelId: number | null;
}

const WITHOUT_PORT: ReadonlySet<TunnelMode> = new Set(['secret', 'p2p']);
const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const WELL_KNOWN = [80, 443];
/** How many ports are tried on this machine before a range counts as used up by other programs. */
const TRIES = 50;

/** One change of ports at a time, so that a free port stays free until it is stored. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.ports'))`;

/** Ports of other tunnels that would conflict. The lower bound of `listen_port` is for its index. */
const TAKEN = `
  SELECT t.listen_port AS first, coalesce(o.port_count, 1) AS count
  FROM tunnel_gateway.tunnels t LEFT JOIN tunnel_gateway_ops.tunnel_options o ON o.tunnel_id = t.id
  WHERE t.listen_port BETWEEN $1::integer - ${MAX_RANGE_PORTS - 1} AND $2
    AND t.listen_port + coalesce(o.port_count, 1) > $1 AND (t.mode = 'udp') = $3 AND t.id <> $4
    AND t.mode NOT IN ('secret', 'p2p') AND ($5 OR coalesce(t.listen_ip, '0.0.0.0') IN ('0.0.0.0', '::', $6))`;

/** Selects tunnels that have the port, or a range with it; `row` is the tunnel. */
export function containsPort(port: number): Condition {
  const inRange = `SELECT FROM tunnel_gateway_ops.tunnel_options o
    WHERE o.tunnel_id = row.id AND row.listen_port < :port AND row.listen_port + o.port_count > :port`;
  return { sql: `row.listen_port = :port OR EXISTS (${inRange})`, parameters: { port } };
}

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
   * Reserves the ports for the tunnel until the transaction ends, and returns the first. @throws AppError PORT_RESERVED,
   * PORT_IN_USE, FORBIDDEN, VALIDATION_FAILED
   */
  async claim(wanted: WantedPort, mayHaveAnyPort: boolean, tx: EntityManager): Promise<number> {
    if (!ListenPorts.needsPort(wanted.mode)) return 0;
    await tx.query(LOCK);
    if (wanted.listenPort === 0) return this.allocate(wanted, tx);
    const { listenPort: port, portCount: count } = wanted;
    const end = port + count - 1;
    if (end > 65_535) throw fieldError('port_count', `the last port would be ${end}, and ports end at 65535`);
    const own = [...this.reserved()].sort((a, b) => a - b).find((each) => each >= port && each <= end);
    if (own !== undefined) throw new AppError('PORT_RESERVED', `listen_port: the gateway itself uses ${own}`);
    const { first, last } = this.settings.portRange;
    if ((port < first || end > last || port < 1024) && !mayHaveAnyPort) {
      throw new AppError('FORBIDDEN', `listen_port: only administrators can use ports outside ${first} to ${last}`);
    }
    const [taken] = [...(await this.taken(wanted, port, end, tx))].sort((a, b) => a - b);
    if (taken !== undefined) throw new AppError('PORT_IN_USE', `listen_port: another tunnel has ${taken}`);
    return port;
  }

  private async allocate(wanted: WantedPort, tx: EntityManager): Promise<number> {
    const { first, last } = this.settings.portRange;
    const taken = await this.taken(wanted, first, last, tx);
    const reserved = this.reserved();
    const { portCount: count } = wanted;
    const starts: number[] = [];
    for (let port = last, free = 0; port >= first; port -= 1) {
      free = taken.has(port) || reserved.has(port) ? 0 : free + 1;
      if (free >= count) starts.push(port);
    }
    const port = await this.openable(starts, wanted);
    if (port !== undefined) return port;
    if (count === 1) throw new AppError('PORT_IN_USE', `listen_port: no port from ${first} to ${last} is free`);
    throw new AppError('PORT_IN_USE', `listen_port: no ${count} ports in a row from ${first} to ${last} are free`);
  }

  /** One of these ports that no other program of this machine uses, like those after it. An edge of another machine is not asked. */
  private async openable(ports: number[], wanted: WantedPort): Promise<number | undefined> {
    for (let tries = 0; ports.length > 0 && tries < TRIES; tries += 1) {
      // Random and not the lowest, so that visitors of a tunnel that was just removed do not reach the next one.
      const [port = 0] = ports.splice(Math.floor(Math.random() * ports.length), 1);
      if (this.settings.edge === 'separate' || (await this.isOpenable(port, wanted))) return port;
    }
    return undefined;
  }

  private async isOpenable(first: number, { mode, listenIp, portCount }: WantedPort): Promise<boolean> {
    try {
      for (let port = first; port < first + portCount; port += 1) {
        await (mode === 'udp' ? bindOnce(port, listenIp) : listenOnce(port, listenIp));
      }
      return true;
    } catch {
      return false; // in use, or this process may not open it
    }
  }

  private async taken(
    { mode, listenIp, tunnelId }: WantedPort,
    first: number,
    last: number,
    tx: EntityManager,
  ): Promise<Set<number>> {
    const parameters = [first, last, mode === 'udp', tunnelId ?? 0, EVERYWHERE.has(listenIp), listenIp];
    const rows = (await tx.query(TAKEN, parameters)) as { first: number; count: number }[];
    const ports = rows.flatMap((row) => Array.from({ length: row.count }, (_, distance) => row.first + distance));
    return new Set(ports.filter((port) => port >= first && port <= last));
  }

  private reserved(): Set<number> {
    const { port, agentPort, httpPort, httpsPort } = this.settings;
    const { agents, http, https } = this.edges.ports;
    return new Set(
      [...WELL_KNOWN, port, agentPort, httpPort, httpsPort, agents, http, https].filter((each) => each !== 0),
    );
  }
}
