import { Agent, type AgentOptions, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { ByteStreamDuplex, guarded, guardPromise, setFlowTimeout, type ByteStream } from '@gatehouse/net';
import type { Flow } from '../../interfaces/index.js';

/** The most idle connections of one client; the one that was idle longest is closed first. */
const MAX_IDLE = 16;
/** Most servers close idle connections after 60 to 75 s. */
const MAX_IDLE_MS = 60_000;

export interface ForwardRequestArgs extends ClientRequestArgs {
  flow: Flow;
  /** The key of the flow's route: requests share connections only within one generation and outbound. */
  routeKey: string;
}

/** A method of `Agent` that Node's documentation leaves out. */
interface Adder {
  addRequest(request: ClientRequest, options: ForwardRequestArgs): void;
}

interface IdleLimits {
  most: number;
  ms: number;
}

/** Connections of one client to origins, kept for its next requests and never shared with other clients. */
export class ForwardAgent extends Agent {
  private readonly limits: IdleLimits;
  /** The one that was idle longest is first. */
  private readonly idle = new Map<Duplex, NodeJS.Timeout>();

  constructor(limits: IdleLimits = { most: MAX_IDLE, ms: MAX_IDLE_MS }) {
    super({ keepAlive: true, maxFreeSockets: limits.most, scheduling: 'lifo' });
    this.limits = limits;
  }

  /**
   * The origin may have closed an idle connection, and the system may already know. The request waits for that event,
   * because one that cannot be repeated would be lost.
   */
  addRequest(request: ClientRequest, options: ForwardRequestArgs): void {
    const send = (): void => {
      if (!request.destroyed) (Agent.prototype as unknown as Adder).addRequest.call(this, request, options);
    };
    if (!this.freeSockets[this.getName(options as AgentOptions)]) return send();
    // A whole turn, since the events of the present one may have been collected before the close arrived.
    setImmediate(guarded(request, () => setImmediate(guarded(request, send))));
  }

  override keepSocketAlive(stream: Duplex): boolean {
    if (!(stream instanceof ByteStreamDuplex) || !stream.hold()) return false;
    const timer = setFlowTimeout(stream, () => stream.destroy(), this.limits.ms);
    this.idle.set(stream, timer.unref());
    const [oldest] = this.idle.keys();
    if (this.idle.size > this.limits.most) oldest?.destroy();
    return true;
  }

  override reuseSocket(stream: Duplex, request: ClientRequest): void {
    this.forget(stream);
    if (stream instanceof ByteStreamDuplex) stream.use();
    super.reuseSocket(stream, request);
  }

  override getName(options?: AgentOptions & Partial<ForwardRequestArgs>): string {
    return `${options?.routeKey ?? ''}/${options?.host ?? ''}:${options?.port ?? ''}`;
  }

  override createConnection(
    options: ClientRequestArgs & Partial<ForwardRequestArgs>,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { flow } = options;
    if (!flow || !callback) throw new TypeError('a request of a flow is needed');
    const given = (error: Error | null, stream: Duplex): void => {
      if (!error) stream.once('close', () => this.forget(stream));
      callback(error, stream);
    };
    guardPromise(null, connectFor(flow, given));
  }

  private forget(stream: Duplex): void {
    clearTimeout(this.idle.get(stream));
    this.idle.delete(stream);
  }
}

async function connectFor(flow: Flow, callback: (error: Error | null, stream: Duplex) => void): Promise<void> {
  let stream: ByteStream;
  try {
    stream = await flow.connect();
  } catch (error) {
    // The agent passes the error to the request, which answers the client.
    callback(error as Error, undefined as unknown as Duplex);
    return;
  }
  const duplex = new ByteStreamDuplex(stream, flow.counter);
  duplex.pacer = () => flow.throttle;
  callback(null, duplex);
}
