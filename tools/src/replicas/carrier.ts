import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** After this a server ends a session whose client it cannot reach; longer than the keep-alives that our services ask for. */
const SERVER_NOTICES_MS = 60_000;

/** Looks at what passes. Null: this connection ends here, and nothing more of it is carried. */
export interface Inspector {
  fromClient(chunk: Buffer): Buffer | null;
  fromServer(chunk: Buffer): Buffer | null;
}

const PLAIN: Inspector = { fromClient: (chunk) => chunk, fromServer: (chunk) => chunk };

/** One client's connection and ours to the server for it. */
export class CarriedLink<I extends Inspector = Inspector> {
  private frozen = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    readonly inspector: I,
  ) {
    client.on('data', (chunk: Buffer) => this.pass(inspector.fromClient(chunk), client, server));
    server.on('data', (chunk: Buffer) => this.pass(inspector.fromServer(chunk), server, client));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('end', () => other.end());
      // Reported by 'close'.
      socket.on('error', () => undefined);
      socket.on('close', (hadError) => this.ended(other, hadError));
      socket.setNoDelay(true);
    }
  }

  /** Neither side hears of the other from now on, not even that it ends. */
  freeze(): void {
    this.frozen = true;
    this.client.pause();
    this.server.pause();
  }

  thaw(): void {
    this.frozen = false;
    if (this.client.destroyed || this.server.destroyed) return this.cut();
    this.client.resume();
    this.server.resume();
  }

  /** Ends it for both sides. */
  cut(): void {
    this.client.destroy();
    this.server.destroy();
  }

  private pass(chunk: Buffer | null, from: Socket, to: Socket): void {
    if (chunk === null) return this.cut();
    if (to.write(chunk) || this.frozen) return;
    from.pause();
    to.once('drain', () => {
      if (!this.frozen) from.resume();
    });
  }

  /** What is on its way to the other one still arrives, unless the connection broke. */
  private ended(other: Socket, hadError: boolean): void {
    if (this.frozen) return;
    if (hadError) this.cut();
    else other.end();
  }
}

export interface Endpoint {
  host: string;
  port: number;
}

/** A port in front of a server, whose connections can be made to stand still, to end, or to lead elsewhere. */
export class Carrier<I extends Inspector = Inspector> implements AsyncDisposable {
  private readonly links = new Set<CarriedLink<I>>();
  private holdsNewcomers = false;

  private constructor(
    private readonly server: Server,
    private target: Endpoint,
    private readonly inspect: () => I,
  ) {}

  /** `at`: where it listens. */
  static start(target: Endpoint, inspect?: undefined, at?: Endpoint): Promise<Carrier>;
  static start<I extends Inspector>(target: Endpoint, inspect: () => I, at?: Endpoint): Promise<Carrier<I>>;
  static async start(
    target: Endpoint,
    inspect: () => Inspector = () => PLAIN,
    at: Endpoint = { host: '127.0.0.1', port: 0 },
  ): Promise<Carrier> {
    const server = createServer({ allowHalfOpen: true });
    const carrier = new Carrier(server, target, inspect);
    server.on('connection', (client) => carrier.accept(client));
    server.listen(at);
    await once(server, 'listening');
    return carrier;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Stops carrying, without a word to either side: connections that are there, and those to come. */
  freeze(): void {
    this.holdsNewcomers = true;
    for (const link of this.links) link.freeze();
  }

  /** Carries on where it stopped, as a network does that was away. */
  thaw(): void {
    this.holdsNewcomers = false;
    for (const link of this.links) link.thaw();
  }

  /**
   * Never carries these connections again, without a word to either side, as a firewall does that forgot them; new ones
   * are carried. What the server itself does about it, a minute later, is done for it: its keep-alives are answered by
   * the system on the way, not by the client. Returns how many.
   */
  forget(which: (inspector: I) => boolean = () => true): number {
    const chosen = [...this.links].filter(({ inspector }) => which(inspector));
    for (const link of chosen) {
      link.freeze();
      setTimeout(() => link.cut(), SERVER_NOTICES_MS).unref();
    }
    return chosen.length;
  }

  /** Ends all connections; those to come go to another server. */
  moveTo(target: Endpoint): void {
    this.target = target;
    for (const link of this.links) link.cut();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.links) link.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private accept(client: Socket): void {
    const server = connect({ ...this.target, allowHalfOpen: true });
    const link = new CarriedLink(client, server, this.inspect());
    this.links.add(link);
    client.once('close', () => server.destroyed && this.links.delete(link));
    server.once('close', () => client.destroyed && this.links.delete(link));
    if (this.holdsNewcomers) link.freeze();
  }
}
