import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { ByteStreamDuplex, type ByteStream } from '@gatehouse/net';
import type { Flow } from '../../interfaces/index.js';

/** Requests of one client that may wait for the same origin. */
const MAX_IDLE_ORIGINS = 16;

export interface ForwardRequestArgs extends ClientRequestArgs {
  flow: Flow;
  /** Of the flow's route: connections are shared by requests of one generation and outbound only. */
  routeKey: string;
}

/** Upstream connections of one client, kept alive for its next requests, never shared with another client. */
export class ForwardAgent extends Agent {
  constructor() {
    super({ keepAlive: true, maxFreeSockets: MAX_IDLE_ORIGINS, scheduling: 'lifo' });
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
    void connectFor(flow, callback);
  }
}

async function connectFor(flow: Flow, callback: (error: Error | null, stream: Duplex) => void): Promise<void> {
  let stream: ByteStream;
  try {
    stream = await flow.connect();
  } catch (error) {
    // The agent hands the error to the request, which answers the client with it.
    callback(error as Error, undefined as unknown as Duplex);
    return;
  }
  callback(null, new ByteStreamDuplex(stream, flow.counter));
}
