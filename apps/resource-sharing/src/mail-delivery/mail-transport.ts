import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { createTransport, type Transporter } from 'nodemailer';
import { ResourceSharingSettings } from '../settings.js';
import type { MailText } from './mail-text.js';

const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;

export interface OutgoingMail extends MailText {
  readonly id: number;
  readonly recipient: string;
}

/** Why a mail was not accepted, without anything that was in it. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  /** Trying again does not help, such as for an address that does not exist. */
  readonly isFinal: boolean;

  constructor(problem: string, isFinal: boolean) {
    super(problem);
    this.isFinal = isFinal;
  }
}

/** Sends mails to the server of SMTP_URL. */
@Injectable()
export class MailTransport implements OnModuleDestroy {
  private readonly transporter: Transporter | undefined;

  constructor(private readonly settings: ResourceSharingSettings) {
    const { smtpUrl: url } = settings;
    if (url === undefined) return;
    this.transporter = createTransport({
      url,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      // Texts of users must not be able to name files or addresses.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  /** False: mails are kept for the administrator. */
  get isConfigured(): boolean {
    return this.transporter !== undefined;
  }

  onModuleDestroy(): void {
    this.transporter?.close();
  }

  /** @throws MailRefused */
  async send({ id, recipient, subject, text }: OutgoingMail): Promise<void> {
    const from = this.settings.mailSender;
    // Stays the same if the mail is sent twice, so that mail programs show it once.
    const messageId = `<mail-${id}@${new URL(this.settings.publicUrl).hostname}>`;
    const headers = { 'Auto-Submitted': 'auto-generated' };
    try {
      await this.transporter?.sendMail({
        from,
        to: { name: '', address: recipient },
        subject,
        text,
        messageId,
        headers,
      });
    } catch (error) {
      throw refusalOf(error);
    }
  }
}

function refusalOf(error: unknown): MailRefused {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const name = typeof code === 'string' ? code : 'ERROR';
  const status = typeof responseCode === 'number' ? responseCode : undefined;
  // A wrong password of this service is not the recipient's fault.
  const isFinal = status !== undefined && status >= 500 && name !== 'EAUTH';
  return new MailRefused(status === undefined ? name : `${name} ${status}`, isFinal);
}
