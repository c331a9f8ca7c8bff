import { connect, type Socket } from 'node:net';

/** What lies between agents and their server; agents connect to `port`. */
export class AgentLine {
  port = 0;
  /** Connections that came. */
  accepted = 0;
  /** Those of them that are there still. */
  open = 0;
  /** Parts that came from the server on all connections but the first. */
  received = 0;
  private readonly serverPort: () => number;
  private readonly sockets = new Set<Socket>();
  /** The server's end of the first connection. */
  private first: Socket | null = null;
  private dead = false;
  private paused = false;
  private forgotten = 0;

  constructor(serverPort: () => number) {
    this.serverPort = serverPort;
  }

  accept(near: Socket): void {
    const index = this.accepted++;
    this.open += 1;
    near.on('close', () => (this.open -= 1));
    const far = connect({ port: this.serverPort(), host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    if (index === 0) this.first = far;
    else far.on('data', () => (this.received += 1));
    const passes = (): boolean => !this.dead && (index === 0 || index >= this.forgotten);
    this.join(near, far, passes);
    this.join(far, near, passes);
  }

  /** Resets what is open. */
  cut(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  /** Lets nothing through while true; neither side notices. */
  die(value: boolean): void {
    this.dead = value;
  }

  /** Lets nothing through while true; everything arrives afterwards. */
  pause(value: boolean): void {
    this.paused = value;
    for (const socket of this.sockets) {
      if (value) socket.pause();
      else socket.resume();
    }
  }

  /** While true, what the server says on the first connection is late. */
  hold(value: boolean): void {
    if (value) this.first?.pause();
    else this.first?.resume();
  }

  /** Like a NAT that forgot its connections: nothing passes on the open connections, except on the first one. */
  forget(): void {
    this.forgotten = this.accepted;
  }

  private join(from: Socket, to: Socket, passes: () => boolean): void {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.on('data', (part) => passes() && to.write(part));
    from.on('end', () => passes() && to.end());
    if (this.paused) from.pause();
    this.sockets.add(from.on('close', () => this.sockets.delete(from)));
  }
}
