import type { AgentTunnel, MappedPorts, TargetAddress } from '../wire/messages.js';
import { TargetPicker } from './target-picker.js';

const MAX_PORT = 65_535;

/** The targets of a tunnel. In a range of mapped ports, each public port has targets of its own, which fail on their own. */
export class PortTargets {
  private readonly targets: readonly TargetAddress[];
  private readonly ports: MappedPorts | undefined;
  private readonly now: () => number;
  /** By the distance from the first port, so as many as ports at most. */
  private readonly pickers = new Map<number, TargetPicker>();

  constructor({ targets, ports }: Pick<AgentTunnel, 'targets' | 'ports'>, now: () => number) {
    this.targets = targets;
    this.ports = ports;
    this.now = now;
  }

  /** Whether visitors of a public port, in decimal, lead to a target; without a range all do. */
  lead(port: string): boolean {
    return this.distance(port) !== null;
  }

  /** Null: the port is not one of the range. */
  at(port: string): TargetPicker | null {
    const distance = this.distance(port);
    if (distance === null) return null;
    const known = this.pickers.get(distance);
    if (known) return known;
    const picker = new TargetPicker(this.shifted(distance), this.now);
    this.pickers.set(distance, picker);
    return picker;
  }

  /** The targets of a public port, in decimal. */
  of(port: string): TargetAddress[] {
    const distance = this.distance(port);
    return distance === null ? [] : this.shifted(distance);
  }

  private shifted(distance: number): TargetAddress[] {
    const moved = this.targets.map((target) => ({ ...target, port: target.port + distance }));
    return moved.filter(({ port }) => port <= MAX_PORT);
  }

  private distance(port: string): number | null {
    if (!this.ports) return 0;
    const distance = /^\d{1,5}$/.test(port) ? Number(port) - this.ports.first : -1;
    return distance >= 0 && distance < this.ports.count ? distance : null;
  }
}
