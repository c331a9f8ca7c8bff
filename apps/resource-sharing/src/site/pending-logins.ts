import { hash } from 'node:crypto';
import { SECRET_BOX, SecretBoxError, type SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { SiteAccount } from './site-account.entity.js';
import { SiteAccounts } from './site-accounts.service.js';

const PLACE = 'resource-sharing: login that waits for a code';
const LASTS_MS = 10 * 60_000;

interface Ticket {
  readonly id: number;
  readonly username: string;
  /** Changes with the password. */
  readonly password: string;
  readonly endsAt: number;
}

/** A login whose password was right. */
export interface PendingLogin {
  readonly username: string;
  /** The account, if it still has that password. */
  readonly find: () => Promise<SiteAccount | null>;
}

/** Logins between the page for the password and the page for the code: a sealed ticket, which is nothing without a code. */
@Injectable()
export class PendingLogins {
  constructor(
    private readonly accounts: SiteAccounts,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  ticket({ id, username, passwordHash }: SiteAccount): string {
    const ticket: Ticket = { id, username, password: fingerprint(passwordHash), endsAt: Date.now() + LASTS_MS };
    return this.box.seal(JSON.stringify(ticket), PLACE);
  }

  /** Undefined for a ticket that has ended or was not made here. */
  open(sealed: string): PendingLogin | undefined {
    const ticket = this.read(sealed);
    if (ticket === undefined || ticket.endsAt <= Date.now()) return undefined;
    const { id, username, password } = ticket;
    const find = async (): Promise<SiteAccount | null> => {
      const account = await this.accounts.findActive(id);
      return account !== null && fingerprint(account.passwordHash) === password ? account : null;
    };
    return { username, find };
  }

  private read(sealed: string): Ticket | undefined {
    try {
      return JSON.parse(this.box.open(sealed, PLACE)) as Ticket;
    } catch (error) {
      if (error instanceof SecretBoxError) return undefined;
      throw error;
    }
  }
}

function fingerprint(passwordHash: string): string {
  return hash('sha256', passwordHash, 'base64url');
}
