import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Requests of one connection that wait for the answer to one before them. */
const MAX_WAITING = 64;

/** A request on its connection. */
export interface RequestTurn {
  /** All that came before it have been answered. */
  start(): void;
  /** Its connection closed before `done`, whether it had started or not. */
  gone(): void;
}

export interface RequestTurnsOptions {
  /** Requests that may wait; absent: 64. Where more come, the connection is closed. */
  maxWaiting?: number | undefined;
  /** All requests that came have been answered. */
  onIdle?(socket: Duplex): void;
}

/**
 * The requests of an HTTP/1 connection, one at a time and in their order. RFC 9112 9.3.2 allows safe ones side by side;
 * then one connection, which is all that a limit of connections counts, could ask for any number of things at once.
 */
export class RequestTurns {
  private readonly socket: Duplex;
  private readonly options: RequestTurnsOptions;
  private readonly turns: RequestTurn[] = [];
  /** The last request that began to come. */
  private newest: IncomingMessage | null = null;
  /** Says that something came after whole requests that cannot be read. */
  private refuse: (() => void) | null = null;

  constructor(socket: Duplex, options: RequestTurnsOptions = {}) {
    this.socket = socket;
    this.options = options;
    // Answers that wait for their turn have no socket that would close them.
    socket.on('close', () => {
      for (const turn of this.turns.splice(0)) turn.gone();
    });
  }

  /** Some request has not been answered. What does not wait for it would be read as a part of its answer. */
  get isBusy(): boolean {
    return this.turns.length > 0;
  }

  /** Starts it now or in its turn. */
  take(request: IncomingMessage, turn: RequestTurn): void {
    this.newest = request;
    const before = this.turns.push(turn) - 1;
    if (before === 0) turn.start();
    else if (before > (this.options.maxWaiting ?? MAX_WAITING)) this.socket.destroy();
  }

  /** Nothing more is written for this one. */
  done(turn: RequestTurn): void {
    if (this.turns[0] !== turn) return;
    this.turns.shift();
    const [next] = this.turns;
    const { refuse } = this;
    // A connection that ends with this answer serves no others; they go when it has closed.
    if (next) {
      if (this.socket.writable) next.start();
    } else if (refuse) {
      this.refuse = null;
      refuse();
    } else this.options.onIdle?.(this.socket);
  }

  /**
   * For `clientError`: the parser did not understand what came. `refuse` may answer it, which happens when the requests
   * before it are answered; where one of those is not whole, the connection is closed.
   */
  unreadable(error: NodeJS.ErrnoException, refuse: () => void): void {
    if (!this.isBusy) return refuse();
    if (error.code === 'ECONNRESET' || !this.newest?.complete) return void this.socket.destroy();
    this.refuse ??= refuse;
  }
}

/** Listeners of a server of `node:http`, by the names of its events. */
export interface TurnHandlers {
  request(request: IncomingMessage, response: ServerResponse): void;
  /** Absent: Node asks for the body itself. */
  checkContinue?(request: IncomingMessage, response: ServerResponse): void;
  /** Absent: Node closes the connection. */
  connect?: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** Absent: it is a request like others. */
  upgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** What cannot be read; the connection is to be closed. */
  clientError(error: NodeJS.ErrnoException, socket: Socket): void;
}

/**
 * Lets a server of `node:http` serve the requests of each connection one at a time and in their order. A turn ends when
 * its response emits `close`, which the response of a request whose turn has come always does. What CONNECT and upgrades
 * lead to lasts as long as the connection.
 */
export function serveInTurn(server: Server, handlers: TurnHandlers, options?: RequestTurnsOptions): void {
  const connections = new WeakMap<Duplex, RequestTurns>();
  const turnsOf = (socket: Duplex): RequestTurns => {
    const turns = connections.get(socket) ?? new RequestTurns(socket, options);
    connections.set(socket, turns);
    return turns;
  };
  const answered = (serve: TurnHandlers['request']) => (request: IncomingMessage, response: ServerResponse) => {
    const turns = turnsOf(request.socket);
    const turn = { start: () => serve(request, response), gone: () => void response.destroy() };
    response.on('close', () => turns.done(turn));
    turns.take(request, turn);
  };
  const turned =
    (serve: NonNullable<TurnHandlers['connect']>) => (request: IncomingMessage, to: Duplex, head: Buffer) => {
      const socket = to as Socket;
      // Node has taken its own listeners off.
      socket.on('error', () => undefined);
      turnsOf(socket).take(request, { start: () => serve(request, socket, head), gone: () => undefined });
    };
  server.on(
    'request',
    answered((request, response) => handlers.request(request, response)),
  );
  if (handlers.checkContinue) {
    server.on(
      'checkContinue',
      answered((request, response) => handlers.checkContinue?.(request, response)),
    );
  }
  const { connect, upgrade } = handlers;
  if (connect) server.on('connect', turned(connect));
  if (upgrade) server.on('upgrade', turned(upgrade));
  server.on('clientError', (error: NodeJS.ErrnoException, to: Duplex) => {
    const socket = to as Socket;
    const refuse = (): void => handlers.clientError(error, socket);
    const turns = connections.get(socket);
    if (turns) turns.unreadable(error, refuse);
    else refuse();
  });
}
