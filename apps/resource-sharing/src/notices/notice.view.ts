import { ApiProperty } from '@nestjs/swagger';
import type { Translator } from '@gatehouse/i18n';
import type { SiteMessages } from '../messages/index.js';
import { noticeText } from './notice-text.js';
import type { Notice } from './notices.service.js';

export class SiteNoticeView {
  @ApiProperty({ type: 'integer', description: 'Id of the event that it is about' })
  id: number;
  @ApiProperty({ type: String, description: 'Type of the event' })
  type: string;
  @ApiProperty({ type: String, description: 'In the language of Accept-Language' })
  text: string;
  @ApiProperty({ type: String, description: 'Page of the site that is about it' })
  path: string;
  @ApiProperty({ type: Boolean, description: 'A user who did not cause it should change the password' })
  security: boolean;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When what it says ends' })
  until: string | null;
  @ApiProperty({ type: Boolean })
  read: boolean;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
}

export class UnreadNoticesView {
  @ApiProperty({ type: 'integer', minimum: 0, description: '100 stands for 100 and more' })
  unread: number;
}

export function toSiteNoticeView(notice: Notice, words: Translator<SiteMessages>): SiteNoticeView {
  const { text, path, isSecurity, until } = noticeText(notice, words);
  return {
    id: notice.id,
    type: notice.type,
    text,
    path,
    security: isSecurity,
    until: until?.toISOString() ?? null,
    read: notice.readAt !== null,
    created_at: notice.at.toISOString(),
  };
}
