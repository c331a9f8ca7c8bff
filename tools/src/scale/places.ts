import { freePort } from '@gatehouse/net';
import type { Place } from './visits.js';
import { freePortRange } from '../staging/rehearsal.js';

/** What there are several copies of, and the name under which all of them are found. */
export const ROLES = {
  'proxy-gateway': 'proxy-gateway',
  'resource-sharing': 'resource-sharing',
  'tunnel-gateway': 'tunnel-gateway',
  kernel: 'proxy-kernel',
  edge: 'tunnel-edge',
  'proxy-gateway worker': 'proxy-gateway-worker',
  'resource-sharing worker': 'resource-sharing-worker',
  'tunnel-gateway worker': 'tunnel-gateway-worker',
} as const;
export type Role = keyof typeof ROLES;
export const ALL_ROLES = Object.keys(ROLES) as Role[];

export const SERVICES = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'] as const;
export type Service = (typeof SERVICES)[number];
export const isService = (role: Role): role is Service => (SERVICES as readonly Role[]).includes(role);
export type WorkerRole = `${Service} worker`;
export const isWorker = (role: Role): role is WorkerRole => role.endsWith(' worker');

/** How many copies there are of each. */
export type Shape = Readonly<Record<Role, number>>;

/** The last byte of an address counts copies; the one before it says of what. */
const AGENT_WAYS = 100;

const PORTS = [
  'proxyGateway',
  'resourceSharing',
  'tunnelGateway',
  'kernel',
  'kernelChannel',
  'kernelHealth',
  'agents',
  'agentWays',
  'http',
  'https',
  'edgeChannel',
  'edgeHealth',
  'peers',
] as const;
type PortName = (typeof PORTS)[number];

/**
 * Loopback addresses and ports: each copy has an address of its own, and all copies of a role the same ports, as machines
 * would.
 */
export class Places {
  private constructor(
    private readonly network: number,
    readonly ports: Readonly<Record<PortName, number>>,
    /** `first-last`: of tunnels. */
    readonly portRange: string,
    /** Workers say on the loopback address how they are. */
    private readonly workers: ReadonlyMap<string, number>,
  ) {}

  static async choose(shape: Shape): Promise<Places> {
    const ports = {} as Record<PortName, number>;
    for (const name of PORTS) ports[name] = await freePort();
    const workers = new Map<string, number>();
    for (const role of ALL_ROLES.filter(isWorker)) {
      for (let index = 1; index <= shape[role]; index += 1) workers.set(`${role} ${index}`, await freePort());
    }
    // Several rehearsals at once do not meet.
    const network = 10 + (process.pid % 240);
    return new Places(network, ports, await freePortRange(), workers);
  }

  /** Of the load balancer and the name server. */
  get front(): string {
    return `127.${this.network}.0.1`;
  }

  address(role: Role, index: number): string {
    return `127.${this.network}.${1 + ALL_ROLES.indexOf(role)}.${index}`;
  }

  /** Where agents reach an edge: on a line that can be cut. */
  agentWay(index: number): string {
    return `127.${this.network}.${AGENT_WAYS}.${index}`;
  }

  /** Where clients come to a copy; to a worker nobody does but who asks how it is. */
  placeOf(role: Role, index: number): Place {
    if (isWorker(role)) return { host: '127.0.0.1', port: this.workerHealth(role, index) };
    const { ports } = this;
    const port = isService(role) ? this.portOf(role) : { kernel: ports.kernel, edge: ports.http }[role];
    return { host: this.address(role, index), port };
  }

  /** Answers 200 while the copy is ready. */
  healthUrlOf(role: Role, index: number): string {
    const { host, port } = this.placeOf(role, index);
    if (role === 'kernel') return `http://${host}:${this.ports.kernelHealth}/readyz`;
    // Without the database an edge serves on.
    if (role === 'edge') return `http://${host}:${this.ports.edgeHealth}/healthz`;
    return `http://${host}:${port}/readyz`;
  }

  workerHealth(role: WorkerRole, index: number): number {
    return this.workers.get(`${role} ${index}`) ?? 0;
  }

  addresses(role: Role, shape: Shape): string[] {
    return Array.from({ length: shape[role] }, (_, at) => this.address(role, at + 1));
  }

  portOf(service: Service): number {
    const { proxyGateway, resourceSharing, tunnelGateway } = this.ports;
    return { 'proxy-gateway': proxyGateway, 'resource-sharing': resourceSharing, 'tunnel-gateway': tunnelGateway }[
      service
    ];
  }

  /** Where people reach a service: at the load balancer. */
  url(service: Service): string {
    return `http://${this.front}:${this.portOf(service)}`;
  }
}
