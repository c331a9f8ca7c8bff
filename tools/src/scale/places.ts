import { freePort } from '@gatehouse/net';
import { freePortRange } from '../staging/rehearsal.js';

/** What there are several copies of, and the name under which all of them are found. */
export const ROLES = {
  'proxy-gateway': 'proxy-gateway',
  'resource-sharing': 'resource-sharing',
  'tunnel-gateway': 'tunnel-gateway',
  kernel: 'proxy-kernel',
  edge: 'tunnel-edge',
} as const;
export type Role = keyof typeof ROLES;
export const ALL_ROLES = Object.keys(ROLES) as Role[];

/** How many copies there are of each. */
export type Shape = Readonly<Record<Role, number>>;

const PORTS = [
  'proxyGateway',
  'resourceSharing',
  'tunnelGateway',
  'kernel',
  'kernelChannel',
  'kernelHealth',
  'agents',
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
  ) {}

  static async choose(): Promise<Places> {
    const ports = {} as Record<PortName, number>;
    for (const name of PORTS) ports[name] = await freePort();
    // Several rehearsals at once do not meet.
    const network = 10 + (process.pid % 240);
    return new Places(network, ports, await freePortRange());
  }

  /** Of the load balancer and the name server. */
  get front(): string {
    return `127.${this.network}.0.1`;
  }

  address(role: Role, index: number): string {
    return `127.${this.network}.${1 + ALL_ROLES.indexOf(role)}.${index}`;
  }

  addresses(role: Role, shape: Shape): string[] {
    return Array.from({ length: shape[role] }, (_, at) => this.address(role, at + 1));
  }

  portOf(service: 'proxy-gateway' | 'resource-sharing' | 'tunnel-gateway'): number {
    const { proxyGateway, resourceSharing, tunnelGateway } = this.ports;
    return { 'proxy-gateway': proxyGateway, 'resource-sharing': resourceSharing, 'tunnel-gateway': tunnelGateway }[
      service
    ];
  }

  /** Where people reach a service: at the load balancer. */
  url(service: 'proxy-gateway' | 'resource-sharing' | 'tunnel-gateway'): string {
    return `http://${this.front}:${this.portOf(service)}`;
  }
}
