import type { ClientRecord, ClientStore } from '@gatehouse/tunnel-kernel';
import type { ClientRow, ConfigRows } from '../common/config-rows.js';

/** A client that was looked up, and the revision of the configuration at that moment. */
export interface FoundClient {
  row: ClientRow;
  revision: number;
}

export interface ClientDirectoryOptions {
  now: () => number;
  /** Looks a key up that the configuration does not have. */
  find(keyHash: string): Promise<FoundClient | null>;
}

/** What an agent came in with. */
interface Admitted {
  keyHash: string;
  encrypt: boolean;
  revision: number;
}

/** Whose key an agent shows: the configuration knows, for a client that was just made the database. */
export class ClientDirectory implements ClientStore {
  private readonly options: ClientDirectoryOptions;
  private revision = 0;
  private byKey = new Map<string, ClientRow>();
  private byId = new Map<number, ClientRow>();
  /** When the next previous key ends. */
  private nextKeyEnd = Infinity;
  private formerOwners = new Map<number, number>();
  private readonly admitted = new Map<number, Admitted>();

  constructor(options: ClientDirectoryOptions) {
    this.options = options;
  }

  apply({ clients, revision }: ConfigRows): void {
    const owners = [...this.byId.values()].map(({ id, userId }) => [id, userId] as const);
    this.revision = revision;
    this.byKey = new Map(
      clients.flatMap((client) => (client.previousKeyHash ? [[client.previousKeyHash, client]] : [])),
    );
    for (const client of clients) this.byKey.set(client.keyHash, client);
    this.byId = new Map(clients.map((client) => [client.id, client]));
    this.formerOwners = new Map(owners.filter(([id]) => !this.byId.has(id)));
    for (const id of this.formerOwners.keys()) this.admitted.delete(id);
    this.planKeyEnd();
  }

  /** A failure of the database is the agent's to retry. */
  async findByKeyHash(keyHash: string): Promise<ClientRecord | null> {
    const found = this.known(keyHash) ?? (await this.options.find(keyHash));
    if (!found || !this.lets(found.row, keyHash)) return null;
    const { id, enabled, expiresAt, encrypt } = found.row;
    const served = enabled && (expiresAt === null || expiresAt > this.options.now());
    if (served) this.admitted.set(id, { keyHash, encrypt, revision: found.revision });
    return { id, keyHash, enabled: served, encrypt };
  }

  /** Whether a previous key came to its end since this was asked before: agents that came in with it are outdated. */
  previousKeyEnded(): boolean {
    if (this.options.now() < this.nextKeyEnd) return false;
    this.planKeyEnd();
    return true;
  }

  /** Whether the client's agent came in with the key before the present one. */
  usesPreviousKey(clientId: number): boolean {
    const [row, admitted] = [this.byId.get(clientId), this.admitted.get(clientId)];
    return admitted !== undefined && row?.previousKeyHash === admitted.keyHash;
  }

  /** Whether the key that the client's agent came in with is over, or its channels are to be sealed, or not, now. */
  isOutdated(clientId: number): boolean {
    const [row, admitted] = [this.byId.get(clientId), this.admitted.get(clientId)];
    // A configuration that is older than the agent's arrival says nothing about it.
    if (!row || !admitted || admitted.revision > this.revision) return false;
    return !this.lets(row, admitted.keyHash) || row.encrypt !== admitted.encrypt;
  }

  /** Whose the client is, or was when it was there last; 0: nobody knows. */
  ownerOf(clientId: number): number {
    return this.byId.get(clientId)?.userId ?? this.formerOwners.get(clientId) ?? 0;
  }

  /** A previous key does until its end. */
  private lets({ keyHash, previousKeyHash, previousKeyUntil }: ClientRow, shown: string): boolean {
    return shown === keyHash || (shown === previousKeyHash && (previousKeyUntil ?? 0) > this.options.now());
  }

  private planKeyEnd(): void {
    const now = this.options.now();
    this.nextKeyEnd = Infinity;
    for (const { previousKeyUntil } of this.byId.values()) {
      if (previousKeyUntil && previousKeyUntil > now) this.nextKeyEnd = Math.min(this.nextKeyEnd, previousKeyUntil);
    }
  }

  private known(keyHash: string): FoundClient | undefined {
    const row = this.byKey.get(keyHash);
    return row && { row, revision: this.revision };
  }
}
