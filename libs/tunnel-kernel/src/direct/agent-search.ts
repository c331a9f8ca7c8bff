import type { TLSSocket } from 'node:tls';
import { ByteReader, guardPromise, setFlowTimeout } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';
import { TunnelError } from '../errors.js';
import { PinnedServer } from '../session/pinned-tls.js';
import { DIRECT_PROOF_BYTES, DIRECT_PROTOCOL, directProof, sameProof, type PathMessage } from '../wire/rendezvous.js';
import { connectFrom } from './own-port.js';
import { mayKnock, mayMeetNearby } from './reachable.js';

/** Time limit for all attempts together. */
const SEARCH_MS = 6000;
/** A lost SYN is sent again after a second. */
const TRY_MS = 2500;
const PAUSE_MS = 250;

interface Attempt {
  address: string;
  port: number;
  /** Local port; 0: any. */
  ownPort: number;
  tries?: number;
}

/** The visitor's end of an attempt: tries the agent's addresses until one answers with the right key and the token. */
export class AgentSearch {
  private readonly path: PathMessage;
  private readonly own: HostAndPort;
  private readonly token: Buffer;
  private readonly pinned: PinnedServer;
  private readonly met = Promise.withResolvers<TLSSocket>();
  private closed = false;

  /** `own`: local end of the rendezvous connection, whose port a NAT maps. */
  constructor(path: PathMessage, own: HostAndPort) {
    this.path = path;
    this.own = own;
    this.token = Buffer.from(path.token, 'base64url');
    this.pinned = new PinnedServer(path.fingerprint);
  }

  /** The connection to the agent, paused. @throws TunnelError if the agent was not reached. */
  async find(): Promise<TLSSocket> {
    const timer = setFlowTimeout(
      null,
      () => this.fail(new TunnelError('timeout', 'the agent was not reached')),
      SEARCH_MS,
    );
    const { own } = this;
    const { agent, local } = this.path;
    // Through NATs: from the port that the server has seen.
    if (mayKnock(agent.address, own.host)) guardPromise(null, this.search({ ...agent, ownPort: own.port }));
    const isNear = local.address !== agent.address && mayMeetNearby(local.address, own.host);
    // Tried once, because only the agent vouches for this address.
    if (isNear) guardPromise(null, this.search({ ...local, ownPort: 0, tries: 1 }));
    try {
      return await this.met.promise;
    } finally {
      clearTimeout(timer);
      this.closed = true;
    }
  }

  /** Gives up the search. */
  fail(error: TunnelError): void {
    this.closed = true;
    this.met.reject(error);
  }

  private async search({ address: host, port, ownPort, tries = Number.POSITIVE_INFINITY }: Attempt): Promise<void> {
    for (let tried = 0; tried < tries && !this.closed; tried += 1) {
      try {
        const stream = await this.meet({ host, port }, ownPort);
        if (this.closed) return void stream.destroy();
        this.closed = true;
        return this.met.resolve(stream);
      } catch {
        // The agent is not there yet, or another machine answered: try again until the time is over.
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  private async meet(address: HostAndPort, localPort: number): Promise<TLSSocket> {
    const socket = await connectFrom(localPort, address, TRY_MS);
    const stream = await this.pinned.secure(socket, DIRECT_PROTOCOL, TRY_MS);
    const timer = setFlowTimeout(stream, () => stream.destroy(), TRY_MS);
    try {
      stream.write(directProof(this.token, 'visitor', stream));
      const reader = new ByteReader(stream, DIRECT_PROOF_BYTES);
      const proof = await reader.read(DIRECT_PROOF_BYTES);
      if (!sameProof(proof, directProof(this.token, 'agent', stream))) {
        throw new TunnelError('unauthorized', 'the agent does not know the token');
      }
      reader.restore();
      return stream;
    } catch (error) {
      stream.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
