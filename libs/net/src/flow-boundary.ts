import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';

/**
 * The boundary of a flow: an exception in an event of a socket, session, request, datagram or timer ends what the event
 * belonged to, and nothing else. Each is reported on a diagnostics channel; `FlowFailures` logs and counts them. Such a
 * failure is always a defect of this program: bad input from a peer has its own error paths.
 */

/** What a boundary can end. */
export interface Endable {
  destroy(error?: Error): unknown;
}

/** An exception that ended a flow. */
export interface FlowFailure {
  /** Where it was thrown: a class and its event, such as `Socket data`, or the name of a callback. */
  where: string;
  error: Error;
}

const failures = channel('gatehouse:flow-failure');

/** Calls `listener` for each failure of a flow in this process. Returns a function that stops that. */
export function onFlowFailure(listener: (failure: FlowFailure) => void): () => void {
  const receive = (message: unknown): void => listener(message as FlowFailure);
  failures.subscribe(receive);
  return () => {
    failures.unsubscribe(receive);
  };
}

/** Ends `flow` because one of its callbacks threw, and reports it. Never throws. */
export function failFlow(flow: Endable | null, where: string, thrown: unknown): void {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  failures.publish({ where, error } satisfies FlowFailure);
  // Without a listener for errors, the error of the flow would be the next failure.
  const hasListener = !(flow instanceof EventEmitter) || flow.listenerCount('error') > 0;
  try {
    flow?.destroy(hasListener ? error : undefined);
  } catch (second) {
    failures.publish({ where: `${where}, ending it`, error: second as Error } satisfies FlowFailure);
  }
}

/** Wraps `callback` in the boundary of `flow`, for timers and callbacks of libraries. Null: there is nothing to end. */
export function guarded<A extends unknown[]>(
  flow: Endable | null,
  callback: (...values: A) => unknown,
): (...values: A) => void {
  return (...values) => {
    try {
      const result = callback(...values);
      if (result instanceof Promise) guardPromise(flow, result);
    } catch (error) {
      failFlow(flow, callback.name || 'callback', error);
    }
  };
}

/** For work of a flow that is not awaited: a rejection ends the flow. */
export function guardPromise(flow: Endable | null, work: Promise<unknown>): void {
  work.catch((error: unknown) => failFlow(flow, 'promise', error));
}

/** `setTimeout` within the boundary of `flow`. */
export function setFlowTimeout(flow: Endable | null, callback: () => unknown, ms: number): NodeJS.Timeout {
  return setTimeout(guarded(flow, callback), ms);
}

/** `setInterval` within the boundary of `flow`: an exception ends the timer, too. */
export function setFlowInterval(flow: Endable | null, callback: () => unknown, ms: number): NodeJS.Timeout {
  const destroy = (error?: Error): void => {
    clearInterval(timer);
    flow?.destroy(error);
  };
  const timer = setInterval(guarded({ destroy }, callback), ms);
  return timer;
}

type Emit = EventEmitter['emit'];
type Flow = EventEmitter & Endable;

// oxlint-disable-next-line unbound-method -- always applied to its emitter
const { emit } = EventEmitter.prototype;

/** The `emit` of classes whose instances are flows: `Class.prototype.emit = flowEmit`. Node's own classes take `guardFlow`. */
export const flowEmit: Emit = function (this: EventEmitter, ...values: Parameters<Emit>): boolean {
  try {
    return emit.apply(this, values);
  } catch (error) {
    // An `error` listener that throws would otherwise be called with its own exception.
    const flow = this as Flow;
    failFlow(values[0] === 'error' ? { destroy: () => flow.destroy() } : flow, nameOf(this, values[0]), error);
    return true;
  }
};

/** For a session: ends the flow that an event carries, or else the session. */
const sessionEmit: Emit = function (this: EventEmitter, ...values: Parameters<Emit>): boolean {
  const flows = flowsIn(values);
  try {
    return emit.apply(this, values);
  } catch (error) {
    fail(flows.length > 0 ? flows : [this as Flow], nameOf(this, values[0]), error);
    return true;
  }
};

/** For an exchange: it and everything that its events carry are one flow. */
const exchangeEmit: Emit = function (this: EventEmitter, ...values: Parameters<Emit>): boolean {
  const flows = flowsIn(values);
  try {
    return emit.apply(this, values);
  } catch (error) {
    fail([...flows, this as Flow], nameOf(this, values[0]), error);
    return true;
  }
};

/** For a server: ends the flow that an event carries. Failures in its own events (`error`, `close`) are those of the process. */
const serverEmit: Emit = function (this: EventEmitter, ...values: Parameters<Emit>): boolean {
  const flows = flowsIn(values);
  try {
    return emit.apply(this, values);
  } catch (error) {
    if (flows.length === 0) throw error;
    fail(flows, nameOf(this, values[0]), error);
    return true;
  }
};

/** For a UDP socket: drops a datagram that cannot be handled. Other events end the socket. */
const datagramEmit: Emit = function (this: EventEmitter, ...values: Parameters<Emit>): boolean {
  try {
    return emit.apply(this, values);
  } catch (error) {
    const socket = this as EventEmitter & { close(): unknown };
    failFlow(values[0] === 'message' ? null : { destroy: () => socket.close() }, nameOf(this, values[0]), error);
    return true;
  }
};

/** Guards a stream or socket of Node or a library: an exception in one of its events destroys it. */
export function guardFlow<T extends Flow>(flow: T): T {
  return setEmit(flow, flowEmit);
}

/** Guards a client's HTTP request: it and its response are one flow. */
export function guardExchange<T extends Flow>(request: T): T {
  return setEmit(request, exchangeEmit);
}

/** Guards an HTTP/2 session: each of its streams, from either side, is a separate flow. */
export function guardSession<T extends Flow & { request?(...values: never[]): Flow }>(session: T): T {
  const request = session.request?.bind(session);
  if (request) session.request = (...values) => guardFlow(request(...values));
  return setEmit(session, sessionEmit);
}

/** Guards a TCP, TLS, HTTP/1 or HTTP/2 server: each connection, request and stream of its events is a separate flow. */
export function guardServer<T extends EventEmitter>(server: T): T {
  return setEmit(server, serverEmit);
}

/** Guards a UDP socket: each datagram is a separate flow. */
export function guardDatagrams<T extends EventEmitter & { close(): unknown }>(socket: T): T {
  return setEmit(socket, datagramEmit);
}

/** Our own classes already have a guarded `emit`. */
function setEmit<T extends EventEmitter>(emitter: T, guardedEmit: Emit): T {
  if (emitter.emit === emit) Object.defineProperty(emitter, 'emit', { value: guardedEmit });
  return emitter;
}

/** Guards the flows that an event carries, and returns them. */
function flowsIn(values: readonly unknown[]): Flow[] {
  const flows: Flow[] = [];
  for (let index = 1; index < values.length; index += 1) {
    const value = values[index];
    if (value instanceof EventEmitter && 'destroy' in value) flows.push(guardFlow(value as Flow));
  }
  return flows;
}

function fail(flows: readonly Flow[], where: string, error: unknown): void {
  for (const [index, flow] of flows.entries()) {
    if (index === 0) failFlow(flow, where, error);
    else flow.destroy();
  }
}

function nameOf(emitter: EventEmitter, event: string | symbol): string {
  return `${emitter.constructor.name} ${String(event)}`;
}
