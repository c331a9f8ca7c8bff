import { ApiProperty } from '@nestjs/swagger';
import { MAIL_KINDS, type MailKind } from '../mails/mail-outbox.js';
import type { StoredMail } from '../mail-delivery/mail-delivery.js';
import type { MailText } from '../mail-delivery/mail-text.js';

const STATES = ['kept', 'waiting', 'sent', 'failed'] as const;
export type MailState = (typeof STATES)[number];

/** A mail as administrators see it. */
export class MailView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: 'integer' })
  user_id: number;
  @ApiProperty({ type: String })
  username: string;
  @ApiProperty({ enum: MAIL_KINDS })
  kind: MailKind;
  @ApiProperty({ type: String })
  recipient: string;
  @ApiProperty({ enum: STATES, description: '`kept`: no mail server is configured' })
  state: MailState;
  @ApiProperty({ type: 'integer', minimum: 0 })
  attempts: number;
  @ApiProperty({ type: String, nullable: true, description: 'Why the last attempt failed, such as `EENVELOPE 550`' })
  problem: string | null;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  sent_at: string | null;
}

/** A mail that no server was there to send. */
export class KeptMailView extends MailView {
  @ApiProperty({ type: String })
  subject: string;
  @ApiProperty({ type: String, description: 'Plain text, with the link if there is one' })
  text: string;
}

export function stateOf({ sentAt, failedAt }: StoredMail, isConfigured: boolean): MailState {
  if (sentAt !== null) return 'sent';
  if (failedAt !== null) return 'failed';
  return isConfigured ? 'waiting' : 'kept';
}

export function toMailView(mail: StoredMail, isConfigured: boolean): MailView {
  return {
    id: mail.id,
    user_id: mail.userId,
    username: mail.username,
    kind: mail.kind,
    recipient: mail.recipient,
    state: stateOf(mail, isConfigured),
    attempts: mail.attempts,
    problem: mail.problem,
    created_at: mail.createdAt.toISOString(),
    sent_at: mail.sentAt?.toISOString() ?? null,
  };
}

export function toKeptMailView(mail: StoredMail, { subject, text }: MailText): KeptMailView {
  return Object.assign(toMailView(mail, false), { subject, text });
}
