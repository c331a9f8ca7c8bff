import type { Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import type { HostAndPort } from '../environment.js';
import { TargetError } from '../errors.js';
import { dialFailure } from '../base/dial-failure.js';
import type { TargetPicker } from '../agent/target-picker.js';
import type { DialFailure, TargetAddress } from '../wire/messages.js';
import { closeUdp, createUdpSocket, hasRoom } from '../base/udp-socket.js';

/** Datagrams that wait for the target's name to be resolved; more are dropped. */
const MAX_WAITING = 32;
/** Pause after no target could be reached. */
const REST_MS = 1000;
/** Socket buffer for one visitor; a busy server has thousands. */
const BUFFER_BYTES = 1024 * 1024;

export interface OutletOptions {
  now: () => number;
  /** Whether a datagram for `target` may go to the address that its name resolves to. */
  allows: (target: HostAndPort, address: string) => boolean;
  /** `source`: the address that answered; null for the tunnel's own target. */
  onDatagram: (payload: Buffer, source: HostAndPort | null) => void;
  onFailure: (reason: DialFailure, target: HostAndPort) => void;
}

/** Where the agent sends the datagrams of a session. */
export interface Outlet {
  send(payload: Buffer, destination: HostAndPort | null): void;
  /** Applies new targets and rules. False: its current destination is no longer allowed. */
  reconfigured(targets: readonly TargetAddress[]): boolean;
  close(): void;
}

/** A connected socket to one of the tunnel's targets; switches to another when ICMP reports a closed port. */
export class TargetOutlet implements Outlet {
  private readonly picker: TargetPicker;
  private readonly options: OutletOptions;
  private target: TargetAddress | null = null;
  private socket: Socket | null = null;
  private connected = false;
  private waiting: Buffer[] = [];
  private restUntil = 0;
  private closed = false;

  constructor(picker: TargetPicker, options: OutletOptions) {
    this.picker = picker;
    this.options = options;
  }

  send(payload: Buffer): void {
    if (this.closed) return;
    const { socket } = this;
    if (socket && this.connected) {
      if (hasRoom(socket)) socket.send(payload);
      return;
    }
    // Copied, because the payload is only valid during the call.
    if (this.waiting.length < MAX_WAITING) this.waiting.push(Buffer.from(payload));
    if (!this.target) this.reach();
  }

  reconfigured(targets: readonly TargetAddress[]): boolean {
    const { target } = this;
    return target === null || targets.some(({ host, port }) => host === target.host && port === target.port);
  }

  close(): void {
    this.closed = true;
    this.letGo();
  }

  private reach(): void {
    const { now, onFailure } = this.options;
    if (now() < this.restUntil) return void (this.waiting = []);
    const [target] = this.picker.order();
    if (!target) return;
    this.target = target;
    this.connect(target).catch((error: unknown) => {
      const failure = error instanceof TargetError ? error.reason : dialFailure(error);
      if (failure !== 'forbidden') this.picker.failed(target);
      this.restUntil = now() + REST_MS;
      this.letGo();
      if (!this.closed) onFailure(failure, target);
    });
  }

  /** @throws TargetError, or an Error of the resolver or the socket. */
  private async connect(target: TargetAddress): Promise<void> {
    const address = await resolveAllowed(target, this.options.allows);
    if (this.closed) return;
    const socket = createUdpSocket({ address, bufferBytes: BUFFER_BYTES });
    this.socket = socket;
    socket.on('error', (error) => this.failed(socket, target, error));
    socket.on('message', (payload) => this.options.onDatagram(payload, null));
    socket.connect(target.port, address, () => {
      if (this.socket !== socket) return;
      this.connected = true;
      for (const payload of this.waiting) socket.send(payload);
      this.waiting = [];
    });
  }

  /** ICMP: the port is closed, or the route is blocked. */
  private failed(socket: Socket, target: TargetAddress, error: NodeJS.ErrnoException): void {
    if (this.socket !== socket) return;
    // The datagram is too long for the path, such as one of 65,507 bytes behind a PROXY v2 header: lost, as in any
    // network.
    if (error.code === 'EMSGSIZE') return;
    this.picker.failed(target);
    // The next datagram goes to the next target, or to this one again from a new port.
    this.letGo();
    this.options.onFailure(dialFailure(error), target);
  }

  private letGo(): void {
    if (this.socket) closeUdp(this.socket);
    this.socket = null;
    this.target = null;
    this.connected = false;
    this.waiting = [];
  }
}

/** The first address of a host that is allowed. @throws TargetError `forbidden`, or an Error of the resolver. */
export async function resolveAllowed(target: HostAndPort, allows: OutletOptions['allows']): Promise<string> {
  const found = await lookup(target.host, { all: true });
  const allowed = found.find(({ address }) => allows(target, address));
  if (!allowed) throw new TargetError('forbidden');
  return allowed.address;
}
