import { Carrier, type Inspector } from './carrier.js';
import { CommitWatch, type CommitPoint } from './commit-watch.js';
import { MessageReader, type PostgresMessage } from './postgres-messages.js';

/** When a connection ends: before the server sees the COMMIT, or when it has committed and its answer is on the way. */
export type CutMoment = 'before' | 'after';

/** Asked at every commit of every connection; undefined lets it pass. */
export type CommitDecision = (point: CommitPoint) => CutMoment | undefined;

/** Reads both directions of a connection to PostgreSQL and ends it at a commit, where it is asked to. */
class CommitInspector implements Inspector {
  private readonly fromClients = new MessageReader(true);
  private readonly fromServers = new MessageReader(false);
  private readonly watch = new CommitWatch();
  /** Answers that wait until it is known whether the transaction was committed. */
  private held: Buffer[] | undefined;

  constructor(private readonly decide: CommitDecision) {}

  get listens(): boolean {
    return this.watch.listens;
  }

  fromClient(chunk: Buffer): Buffer | null {
    for (const message of this.fromClients.read(chunk)) {
      const point = this.watch.fromClient(message);
      const moment = point && this.decide(point);
      if (moment === 'before') return null;
      if (moment === 'after') this.held = [];
    }
    return chunk;
  }

  fromServer(chunk: Buffer): Buffer | null {
    const messages = this.fromServers.read(chunk);
    for (const message of messages) this.watch.fromServer(message);
    if (this.held === undefined) return chunk;
    this.held.push(chunk);
    if (messages.some(isFailure)) {
      // It was not committed: the answer goes on.
      const answer = Buffer.concat(this.held);
      this.held = undefined;
      return answer;
    }
    return messages.some(isReady) ? null : Buffer.alloc(0);
  }
}

const isReady = ({ type }: PostgresMessage): boolean => type === 'Z';
const isFailure = ({ type }: PostgresMessage): boolean => type === 'E';

/** A port in front of PostgreSQL that can end a connection exactly at a commit. */
export class PostgresCarrier implements AsyncDisposable {
  /** How each commit fares; replaced at will. */
  decide: CommitDecision = () => undefined;
  private carrier!: Carrier<CommitInspector>;

  private constructor(private readonly databaseUrl: URL) {}

  static async start(databaseUrl: string): Promise<PostgresCarrier> {
    const url = new URL(databaseUrl);
    const made = new PostgresCarrier(url);
    const target = { host: url.hostname, port: Number(url.port) };
    made.carrier = await Carrier.start(target, () => new CommitInspector((point) => made.decide(point)));
    return made;
  }

  /** The same database through this port. */
  get url(): string {
    const url = new URL(this.databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String(this.carrier.port);
    return url.href;
  }

  freeze(): void {
    this.carrier.freeze();
  }

  thaw(): void {
    this.carrier.thaw();
  }

  /** See {@link Carrier.forget}. */
  forgetAll(): number {
    return this.carrier.forget();
  }

  forgetListeners(): number {
    return this.carrier.forget(({ listens }) => listens);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.carrier[Symbol.asyncDispose]();
  }
}
