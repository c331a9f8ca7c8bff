/** What is kept: a document as clients get it. */
export interface KeptDocument {
  body: Buffer;
}

/** Bytes of all documents together: those of 10,000 nodes have 2 to 6 million. */
const MAX_BYTES = 64 * 1024 * 1024;
/** A larger document is built each time. */
const MAX_DOCUMENT = 16 * 1024 * 1024;
const MAX_DOCUMENTS = 500;

interface Entry<D> {
  version: string;
  document: D;
}

/**
 * Documents by what was asked for, each with the version of everything that it was made from. The least recently used go
 * first. Clients that ask for the same document at the same time wait for one that is built for all of them.
 */
export class DocumentCache<D extends KeptDocument> {
  private readonly entries = new Map<string, Entry<D>>();
  private readonly building = new Map<string, Promise<D>>();
  private bytes = 0;

  /** @param version has to be read before `build` reads anything: the document may be newer than it, but not older. */
  async get(asked: string, version: string, build: () => Promise<D>): Promise<D> {
    const known = this.entries.get(asked);
    if (known?.version === version) {
      // The last place of the map is that of the last use.
      this.entries.delete(asked);
      this.entries.set(asked, known);
      return known.document;
    }
    const key = `${version} ${asked}`;
    const running = this.building.get(key);
    if (running) return running;
    const started = build().finally(() => this.building.delete(key));
    this.building.set(key, started);
    const document = await started;
    this.keep(asked, { version, document });
    return document;
  }

  private keep(asked: string, entry: Entry<D>): void {
    this.drop(asked);
    if (entry.document.body.length > MAX_DOCUMENT) return;
    this.entries.set(asked, entry);
    this.bytes += entry.document.body.length;
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= MAX_BYTES && this.entries.size <= MAX_DOCUMENTS) break;
      this.drop(oldest);
    }
  }

  private drop(asked: string): void {
    const entry = this.entries.get(asked);
    if (entry === undefined) return;
    this.entries.delete(asked);
    this.bytes -= entry.document.body.length;
  }
}
