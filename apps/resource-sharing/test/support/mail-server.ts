import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly messageId: string;
  readonly text: string;
}

/** What the server says to a recipient; undefined accepts the mail. */
export type RecipientCheck = (address: string) => { responseCode: number; message: string } | undefined;

/** A mail server that keeps what it gets. */
export class MailServer {
  readonly mails: ReceivedMail[] = [];
  check: RecipientCheck = () => undefined;
  private readonly server: SMTPServer;

  private constructor() {
    this.server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      onRcptTo: ({ address }, _session, callback) => {
        const refusal = this.check(address);
        callback(refusal && Object.assign(new Error(refusal.message), { responseCode: refusal.responseCode }));
      },
      onData: (stream, { envelope }, callback) => {
        let text = '';
        stream.setEncoding('latin1');
        stream.on('data', (part: string) => (text += part));
        stream.on('end', () => {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          for (const { address: to } of envelope.rcptTo) this.mails.push({ from, to, ...parse(text) });
          callback();
        });
      },
    });
  }

  static async start(): Promise<MailServer> {
    const mail = new MailServer();
    mail.server.listen(0, '127.0.0.1');
    await once(mail.server.server, 'listening');
    return mail;
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.server.server.address() as AddressInfo).port}`;
  }

  /** The next mail to this address whose subject or text contains `words`, once it has come. */
  async to(address: string, words: string): Promise<ReceivedMail> {
    const find = (): ReceivedMail | undefined =>
      this.mails.findLast(({ to, subject, text }) => to === address && `${subject}\n${text}`.includes(words));
    return waitFor(find);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

/** The path and query of the link in a mail. */
export function linkIn({ text }: Pick<ReceivedMail, 'text'>): string {
  const address = /^https?:\/\/\S+\?token=\S+$/m.exec(text)?.[0] ?? '';
  const { pathname, search } = new URL(address);
  return `${pathname}${search}`;
}

export function tokenIn(mail: Pick<ReceivedMail, 'text'>): string {
  return new URL(linkIn(mail), 'http://own.invalid').searchParams.get('token') ?? '';
}

/** RFC 5322 with one part in plain text (RFC 2045). */
function parse(source: string): Pick<ReceivedMail, 'subject' | 'messageId' | 'text'> {
  const at = source.indexOf('\r\n\r\n');
  const head = source.slice(0, at).replaceAll(/\r\n[ \t]/g, ' ');
  const header = (name: string): string => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1] ?? '';
  const body = source.slice(at + 4);
  const bytes =
    header('Content-Transfer-Encoding') === 'base64'
      ? Buffer.from(body, 'base64')
      : header('Content-Transfer-Encoding') === 'quoted-printable'
        ? fromQuotedPrintable(body)
        : Buffer.from(body, 'latin1');
  return {
    subject: decodeWords(header('Subject')),
    messageId: header('Message-ID'),
    text: bytes.toString().replaceAll('\r\n', '\n'),
  };
}

function fromQuotedPrintable(text: string): Buffer {
  const joined = text.replaceAll('=\r\n', '');
  return Buffer.from(
    joined.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

/** RFC 2047. */
function decodeWords(text: string): string {
  return text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, encoding: string, word: string) =>
      encoding.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : fromQuotedPrintable(word.replaceAll('_', ' ')).toString(),
    );
}
