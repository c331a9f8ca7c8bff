import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Requests of a connection that may wait for earlier ones to be answered. */
const MAX_WAITING = 64;

/** A request that waits for its turn on its connection. */
export interface RequestTurn {
  /** Called when all earlier requests have been answered. */
  start(): void;
  /** Called when the connection closed before `done`, whether the request had started or not. */
  gone(): void;
}

export interface RequestTurnsOptions {
  /** How many requests may wait; 64 by default. One more closes the connection. */
  maxWaiting?: number | undefined;
  /** Called when all requests have been answered. */
  onIdle?(socket: Duplex): void;
}

/**
 * Serves the requests of an HTTP/1 connection one at a time, in order. RFC 9112 9.3.2 allows a server to process safe ones
 * in parallel, but then a limit on connections would not limit the work that one client can cause.
 */
export class RequestTurns {
  private readonly socket: Duplex;
  private readonly options: RequestTurnsOptions;
  private readonly turns: RequestTurn[] = [];
  /** The newest request whose head was read. */
  private newest: IncomingMessage | null = null;
  /** Refuses the unreadable bytes that followed complete requests. */
  private refuse: (() => void) | null = null;

  constructor(socket: Duplex, options: RequestTurnsOptions = {}) {
    this.socket = socket;
    this.options = options;
    // Responses that wait for their turn have no socket yet that would close them.
    socket.on('close', () => {
      for (const turn of this.turns.splice(0)) turn.gone();
    });
  }

  /** Whether a request is still unanswered. Anything written now would be read as part of its answer. */
  get isBusy(): boolean {
    return this.turns.length > 0;
  }

  /** Starts the request now or when its turn comes. */
  take(request: IncomingMessage, turn: RequestTurn): void {
    this.newest = request;
    const before = this.turns.push(turn) - 1;
    if (before === 0) turn.start();
    else if (before > (this.options.maxWaiting ?? MAX_WAITING)) this.socket.destroy();
  }

  /** The request is answered: nothing more will be written for it. */
  done(turn: RequestTurn): void {
    if (this.turns[0] !== turn) return;
    this.turns.shift();
    const [next] = this.turns;
    const { refuse } = this;
    // A connection that ends with this answer serves no other requests; its `close` event drops them.
    if (next) {
      if (this.socket.writable) next.start();
    } else if (refuse) {
      this.refuse = null;
      refuse();
    } else this.options.onIdle?.(this.socket);
  }

  /**
   * For `clientError`: the parser could not read what was sent. `refuse` may answer it; it is called when all earlier
   * requests are answered. If one of those is incomplete, the connection is closed.
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
  /** Absent: an upgrade is served like any other request. */
  upgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** Called for unreadable input. It must close the connection. */
  clientError(error: NodeJS.ErrnoException, socket: Socket): void;
}

/**
 * Makes a server of `node:http` serve the requests of each connection one at a time, in order. A turn ends when its
 * response emits `close`, which every response does once its turn has come. A CONNECT or an upgrade keeps its turn until the
 * connection ends.
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
      // Node has removed its own listeners.
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
