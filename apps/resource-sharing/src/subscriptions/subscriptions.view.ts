import { ApiProperty } from '@nestjs/swagger';
import { openText } from '../messages/open-api.js';
import { MediaView } from '../shares/share.view.js';
import type { Message, MessageEvent } from './inbox.service.js';
import type { Subscription } from './subscriptions.service.js';

export class SubscriptionView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ enum: ['media_resource'] })
  target_type: 'media_resource';
  @ApiProperty({ type: 'integer', description: '`media.id`' })
  target_id: number;
  @ApiProperty({ type: String, description: 'Type and id of the title, such as `tv:7`' })
  target_key: string;
  @ApiProperty({ enum: ['active'] })
  status: 'active';
  @ApiProperty({ type: MediaView })
  media: MediaView;
  @ApiProperty({ type: String, description: 'YYYY-MM-DD HH:mm:ss' })
  created_at: string;
}

export class MessageView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ enum: ['subscription'] })
  type: 'subscription';
  @ApiProperty({ enum: ['share.created', 'share.updated'], description: 'Updated: its sharer asks to look again' })
  event_type: MessageEvent;
  @ApiProperty({ type: String })
  title: string;
  @ApiProperty({ type: String, description: 'The share; 32 hex digits' })
  slug: string;
  @ApiProperty({ type: MediaView })
  media: MediaView;
  @ApiProperty({ type: Boolean })
  is_read: boolean;
  @ApiProperty({ type: String, description: 'YYYY-MM-DD HH:mm:ss' })
  created_at: string;
}

export class UnreadMessagesView {
  @ApiProperty({ type: 'integer', minimum: 0 })
  unread_count: number;
}

export function toSubscriptionView(subscription: Subscription): SubscriptionView {
  const { id, title_id, media_type, tmdb_id, title, created_at } = subscription;
  return {
    id,
    target_type: 'media_resource',
    target_id: title_id,
    target_key: `${media_type}:${title_id}`,
    status: 'active',
    media: { id: title_id, type: media_type, tmdb_id, title },
    created_at,
  };
}

export function toMessageView(message: Message): MessageView {
  const { id, event_type, slug, media_id, media_type, tmdb_id, media_title, is_read, created_at } = message;
  const title = media_title ?? message.share_title ?? `TMDB ${tmdb_id}`;
  return {
    id,
    type: 'subscription',
    event_type,
    title: openText(event_type === 'share.created' ? 'open.newShare' : 'open.changedShare', { title }),
    slug,
    media: { id: media_id, type: media_type, tmdb_id, title: media_title },
    is_read,
    created_at,
  };
}
