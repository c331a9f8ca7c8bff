import { formatHostPort, parseControlEndpoint } from '@gatehouse/net';
import type { PeerAddress, PeerOptions, TunnelLogger, TunnelServer } from '@gatehouse/tunnel-kernel';
import { openChannelKey } from '../../common/channel-key.js';
import type { EdgeOptions, EdgePorts, PeerAnswers, PeerQuestion } from '../../common/edge-ipc.js';
import type { KnownLease } from '../../common/edge-leases.js';

/** Shorter than the time limit of who asks this process. */
const ANSWER_MS = 1_500;

type PeerPlace = Pick<EdgeOptions, 'place' | 'worker'>;

/** Where a server accepts links of others; undefined: it does not. */
export function peerOptionsOf(
  { place: { peers }, worker }: PeerPlace,
  id: string,
  answer: (question: PeerQuestion) => Promise<unknown>,
): PeerOptions | undefined {
  if (!peers) return undefined;
  const { host, port } = peers.listen;
  return {
    id,
    keys: peers.keys.map(openChannelKey),
    listen: { host, port: port === 0 ? 0 : port + (worker?.index ?? 0) },
    answer: (method, params) => answer({ method, params } as PeerQuestion),
  };
}

/** The links of this process to those of other edges. */
export class EdgePeers {
  private readonly options: PeerPlace;
  private readonly server: Pick<TunnelServer, 'peers' | 'announceEdges'>;
  private readonly logger: TunnelLogger;
  /** Null: not read yet. */
  private others: readonly KnownLease[] | null = null;
  private own: string | null = null;

  constructor(options: PeerPlace, server: Pick<TunnelServer, 'peers' | 'announceEdges'>, logger: TunnelLogger) {
    this.options = options;
    this.server = server;
    this.logger = logger;
  }

  /** Accepts links; returns where others reach them, and the port for agents. Null: they do not. */
  async open({ agents }: EdgePorts): Promise<Record<'peerAddress' | 'agentsAddress', string> | null> {
    const { peers } = this.options.place;
    const port = peers && (await this.listen());
    if (!peers || !port) return null;
    return { peerAddress: formatHostPort(peers.host, port), agentsAddress: formatHostPort(peers.host, agents) };
  }

  /** The other processes, null where they are not known yet, and the public address of this edge for agents; null: agents are not to come here. */
  apply(others: readonly KnownLease[] | null, own: string | null): void {
    this.others = others;
    this.own = own;
    if (others) this.server.peers?.apply(this.ofOtherEdges().flatMap(peerAddressOf));
    this.announce();
  }

  /** Asks all processes of other edges. */
  async ask({ method, params }: PeerQuestion): Promise<PeerAnswers> {
    const { peers } = this.server;
    const answers: PeerAnswers['answers'] = [];
    const silent = new Set<string>();
    await Promise.all(
      this.ofOtherEdges().map(async ({ id, name }) => {
        try {
          if (!peers) throw new Error('this edge has no links');
          answers.push({ name, result: await peers.ask(id, method, params, ANSWER_MS) });
        } catch {
          silent.add(name);
        }
      }),
    );
    return { own: this.options.place.name, answers, silent: [...silent] };
  }

  private ofOtherEdges(): KnownLease[] {
    return (this.others ?? []).filter(({ edge, state }) => edge !== this.options.place.edge && state !== 'starting');
  }

  /** Agents hear of edges that have public addresses. */
  private announce(): void {
    const { edge } = this.options.place;
    const serving = (this.others ?? []).filter(({ state }) => state === 'serving');
    const addresses = new Map(serving.map(({ edge: id, publicAgents }) => [id, publicAgents]));
    if (this.own !== null) addresses.set(edge, this.own);
    const edges = [...addresses].flatMap(([id, address]) => {
      const at = address === null ? null : parseControlEndpoint(address);
      return at && 'host' in at ? [{ id, ...at }] : [];
    });
    if (edges.length > 0) this.server.announceEdges({ own: edge, edges });
  }

  /** The process that this one replaces may still have the port, if it is of an older version. Null: there is no port. */
  private async listen(): Promise<number | null> {
    const { peers } = this.server;
    if (!peers) return null;
    try {
      return (await peers.listen()).port;
    } catch (error) {
      const { listen } = this.options.place.peers ?? {};
      if (!listen || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return this.fail(error);
      return peers.listen({ host: listen.host, port: 0 }).then(
        ({ port }) => port,
        (again: unknown) => this.fail(again),
      );
    }
  }

  private fail(error: unknown): null {
    this.logger.error('other edges cannot connect to this one', { error: String(error) });
    return null;
  }
}

function peerAddressOf({ id, peerAddress, agentsAddress }: KnownLease): PeerAddress[] {
  const [mesh, agents] = [peerAddress, agentsAddress].map((text) =>
    text === null ? null : parseControlEndpoint(text),
  );
  return mesh && agents && 'host' in mesh && 'host' in agents ? [{ id, mesh, agents }] : [];
}
