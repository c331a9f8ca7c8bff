import type { ClientRecord, ClientStore } from '@gatehouse/tunnel-kernel';
import type { ClientRow, ConfigRows } from '../common/config-rows.js';

/** A client that was looked up, and the revision of the configuration at that moment. */
export interface FoundClient {
  row: ClientRow;
  revision: number;
}

export interface ClientDirectoryOptions {
  now: () => number;
  /** Looks up a key that the configuration does not have. */
  find(keyHash: string): Promise<FoundClient | null>;
}

/** The key that an agent showed. */
interface Admitted {
  keyHash: string;
  encrypt: boolean;
  revision: number;
}

/** Finds the client of an agent's key: in the configuration or, for a new client, in the database. */
export class ClientDirectory implements ClientStore {
  private readonly options: ClientDirectoryOptions;
  private revision = 0;
  private byKey = new Map<string, ClientRow>();
  private byId = new Map<number, ClientRow>();
  /** The next time at which a former key expires. */
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

  /** If the database fails, the agent tries again. */
  async findByKeyHash(keyHash: string): Promise<ClientRecord | null> {
    const found = this.known(keyHash) ?? (await this.options.find(keyHash));
    if (!found || !this.lets(found.row, keyHash)) return null;
    const { id, enabled, expiresAt, encrypt } = found.row;
    const served = enabled && (expiresAt === null || expiresAt > this.options.now());
    if (served) this.admitted.set(id, { keyHash, encrypt, revision: found.revision });
    return { id, keyHash, enabled: served, encrypt };
  }

  /** Whether a former key expired since the last call: agents that used it are outdated. */
  previousKeyEnded(): boolean {
    if (this.options.now() < this.nextKeyEnd) return false;
    this.planKeyEnd();
    return true;
  }

  /** Whether the client's agent used the former key. */
  usesPreviousKey(clientId: number): boolean {
    const [row, admitted] = [this.byId.get(clientId), this.admitted.get(clientId)];
    return admitted !== undefined && row?.previousKeyHash === admitted.keyHash;
  }

  /**
   * Whether the key that the client's agent used has expired, or the encryption setting of its channels has changed.
   */
  isOutdated(clientId: number): boolean {
    const [row, admitted] = [this.byId.get(clientId), this.admitted.get(clientId)];
    // An older configuration than the agent's connection says nothing about it.
    if (!row || !admitted || admitted.revision > this.revision) return false;
    return !this.lets(row, admitted.keyHash) || row.encrypt !== admitted.encrypt;
  }

  /** The owner of the client, also of a removed one; 0: unknown. */
  ownerOf(clientId: number): number {
    return this.byId.get(clientId)?.userId ?? this.formerOwners.get(clientId) ?? 0;
  }

  /** A former key is valid until its expiry. */
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
