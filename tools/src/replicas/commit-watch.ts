import { leadingStrings, type PostgresMessage } from './postgres-messages.js';

/** A place where a transaction becomes permanent. */
export interface CommitPoint {
  /** What the transaction wrote last, for people: `INSERT INTO unlocks`. */
  wrote: string;
}

const COMMIT = /^\s*(COMMIT|END)\b/i;
const WRITES = /^\s*(INSERT|UPDATE|DELETE|MERGE|WITH)\b/i;
/** A call of one of our functions: all have an underscore in their names, and none begins with pg_. */
const CALLS = /^\s*SELECT\b.*\b(?!pg_|jsonb_|json_|array_|to_|date_|current_|string_)[a-z]+_[a-z_]+\s*\(/is;
const MAX_LABEL = 60;

/** Follows one connection and says which message of the client commits. */
export class CommitWatch {
  private readonly statements = new Map<string, string>();
  private readonly portals = new Map<string, string>();
  private inTransaction = false;
  private wrote = '';

  /** Whether this connection waits for notifications. */
  listens = false;

  /** A commit, where this message is the one without which it would not happen. */
  fromClient(message: PostgresMessage): CommitPoint | undefined {
    switch (message.type) {
      case 'Q':
        return this.run(leadingStrings(message, 1)[0] ?? '');
      case 'P': {
        const [name = '', text = ''] = leadingStrings(message, 2);
        this.statements.set(name, text);
        return undefined;
      }
      case 'B': {
        const [portal = '', statement = ''] = leadingStrings(message, 2);
        this.portals.set(portal, this.statements.get(statement) ?? '');
        return undefined;
      }
      case 'E':
        return this.run(this.portals.get(leadingStrings(message, 1)[0] ?? '') ?? '');
      default:
        return undefined;
    }
  }

  fromServer({ type, bytes }: PostgresMessage): void {
    if (type !== 'Z') return;
    this.inTransaction = bytes[5] !== 'I'.charCodeAt(0);
  }

  private run(text: string): CommitPoint | undefined {
    if (/^\s*LISTEN\b/i.test(text)) this.listens = true;
    if (this.inTransaction && COMMIT.test(text)) {
      const { wrote } = this;
      this.wrote = '';
      // A transaction that only read has nothing to lose.
      return wrote === '' ? undefined : { wrote };
    }
    if (!WRITES.test(text) && !CALLS.test(text)) return undefined;
    const label = labelOf(text);
    if (this.inTransaction) this.wrote = label;
    return this.inTransaction ? undefined : { wrote: label };
  }
}

function labelOf(text: string): string {
  const written = /\b(INSERT INTO|UPDATE|DELETE FROM)\s+(?:ONLY\s+)?("?[\w.]+"?(?:\."?\w+"?)?)/i.exec(text);
  if (written !== null) return `${(written[1] ?? '').toUpperCase()} ${(written[2] ?? '').replaceAll('"', '')}`;
  return text.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_LABEL);
}
