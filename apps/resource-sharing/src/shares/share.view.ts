import { SHARE_LINK_KINDS, type ShareLinkKind } from '@gatehouse/share-links';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { openText } from '../messages/open-api.js';
import { MEDIA_TYPES, type MediaType } from '../titles/titles.js';
import type { ShareRow } from './share-rows.js';

export class SharerView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  nickname: string;
  @ApiProperty({ type: String, nullable: true })
  avatar_url: string | null;
}

export class MediaView {
  @ApiProperty({ type: 'integer', description: 'Id of the title here: `movie_id`, `tv_id` or `collection_id`' })
  id: number;
  @ApiProperty({ enum: MEDIA_TYPES })
  type: MediaType;
  @ApiProperty({ type: String })
  tmdb_id: string;
  @ApiProperty({ type: String, nullable: true })
  title: string | null;
}

/** A share in lists: with neither link nor access code. */
export class ResourceItemView {
  @ApiProperty({ type: String, description: '32 hex digits' })
  slug: string;
  @ApiProperty({ type: String, nullable: true })
  title: string | null;
  @ApiProperty({ enum: SHARE_LINK_KINDS })
  pan_type: ShareLinkKind;
  @ApiProperty({ type: String, nullable: true })
  share_size: string | null;
  @ApiProperty({ type: [String] })
  video_resolution: string[];
  @ApiProperty({ type: [String] })
  source: string[];
  @ApiProperty({ type: [String] })
  subtitle_language: string[];
  @ApiProperty({ type: [String] })
  subtitle_type: string[];
  @ApiProperty({ type: String, nullable: true })
  remark: string | null;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Null: free' })
  unlock_points: number | null;
  @ApiProperty({ type: Boolean, description: 'True if the caller has unlocked the share or owns it' })
  is_unlocked: boolean;
  @ApiProperty({ type: 'integer' })
  unlocked_users_count: number;
  @ApiProperty({ type: String, nullable: true })
  validate_status: string | null;
  @ApiProperty({ type: String, nullable: true })
  validate_message: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'YYYY-MM-DD HH:mm:ss' })
  last_validated_at: string | null;
  @ApiProperty({ type: Boolean })
  is_official: boolean;
  @ApiProperty({ type: SharerView, nullable: true, description: 'Null if the sharer is anonymous' })
  user: SharerView | null;
  @ApiProperty({ type: String, description: 'YYYY-MM-DD HH:mm:ss' })
  created_at: string;
}

/** A share in a list of its sharer. */
export class ShareItemView extends ResourceItemView {
  @ApiProperty({ type: MediaView })
  media: MediaView;
  @ApiPropertyOptional({ type: String, description: 'Only with `include=link`' })
  url?: string;
  @ApiPropertyOptional({ type: String, description: 'Only with `include=link`' })
  access_code?: string;
}

export class ShareDetailView extends ResourceItemView {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Points that the caller would pay to unlock it' })
  actual_unlock_points: number;
  @ApiProperty({ type: Boolean })
  is_free_for_user: boolean;
  @ApiProperty({ type: String })
  unlock_message: string;
  @ApiProperty({ type: 'integer' })
  click_count: number;
  @ApiProperty({ type: MediaView })
  media: MediaView;
}

/** A view as a plain object. */
type Plain<View> = Pick<View, keyof View>;

export function toResourceItem(row: ShareRow): Plain<ResourceItemView> {
  return {
    slug: row.slug,
    title: row.title,
    pan_type: row.kind,
    share_size: row.share_size,
    video_resolution: row.video_resolution,
    source: row.source,
    subtitle_language: row.subtitle_language,
    subtitle_type: row.subtitle_type,
    remark: row.remark,
    unlock_points: row.unlock_points,
    is_unlocked: row.is_own || row.has_unlocked,
    unlocked_users_count: row.unlocked_users_count,
    validate_status: row.validate_status,
    validate_message: row.validate_message,
    last_validated_at: row.last_validated_at,
    is_official: row.is_official,
    user: row.is_anonymous ? null : { id: row.owner_id, nickname: row.nickname, avatar_url: row.avatar_url },
    created_at: row.created_at,
  };
}

export function toShareItem(row: ShareRow, { withLink = false } = {}): ShareItemView {
  const item = { ...toResourceItem(row), media: toMedia(row) };
  return withLink ? { ...item, url: row.url, access_code: row.access_code } : item;
}

/** `price`: the price for the viewer. */
export function toShareDetail(row: ShareRow, price: number): ShareDetailView {
  return {
    ...toResourceItem(row),
    actual_unlock_points: price,
    is_free_for_user: price === 0,
    unlock_message: unlockMessage(row, price),
    click_count: row.click_count,
    media: toMedia(row),
  };
}

/** Clients compare these texts: a free share is free to everyone, which is checked first. */
function unlockMessage(row: ShareRow, price: number): string {
  if (row.unlock_points === null) return openText('open.free');
  if (row.is_own) return openText('open.ownShare');
  return row.has_unlocked ? openText('open.isUnlocked') : openText('open.needsPoints', { price });
}

function toMedia({ media_id, media_type, tmdb_id, media_title }: ShareRow): MediaView {
  return { id: media_id, type: media_type, tmdb_id, title: media_title };
}
