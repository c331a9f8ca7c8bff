import type { ShareLink, ShareLinkKind } from '@gatehouse/share-links';
import { readAccessCode, readLink } from '../links/read-link.js';
import type { UpdateShareBody } from './share.dto.js';

/** The current link of a share. */
export interface PresentLink {
  readonly kind: ShareLinkKind;
  readonly access_code: string;
  readonly link_key: string;
}

/** Columns and their new values; the names are constants, never a caller's. */
export type Changes = Record<string, unknown>;

/** The changes of a partial update; null clears. @throws INVALID_ARGUMENT */
export function changesOf(body: UpdateShareBody, present: PresentLink): Changes {
  const changes: Changes = {
    title: body.title,
    share_size: body.share_size,
    video_resolution: emptied(body.video_resolution),
    source: emptied(body.source),
    subtitle_language: emptied(body.subtitle_language),
    subtitle_type: emptied(body.subtitle_type),
    remark: body.remark,
    unlock_points: body.unlock_points === undefined ? undefined : priceOf(body.unlock_points),
    is_anonymous: body.is_anonymous,
    hide_link: body.hide_link,
    ...linkChanges(body, present),
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

/** Free is null, which is how clients recognize a free share. */
export function priceOf(points: number | null | undefined): number | null {
  return points === undefined || points === 0 ? null : points;
}

/** Columns of a link. */
export function linkColumns(link: ShareLink): Changes {
  return { kind: link.kind, link_key: link.key, url: link.url, access_code: link.accessCode };
}

function emptied(words: readonly string[] | null | undefined): readonly string[] | undefined {
  return words === null ? [] : words;
}

/** A link that is identified by its hash needs no code. */
const isContent = ({ kind }: PresentLink): boolean => kind === 'magnet' || kind === 'ed2k';

function linkChanges({ url, access_code: code }: UpdateShareBody, present: PresentLink): Changes {
  if (url === undefined) {
    return code === undefined ? {} : { access_code: isContent(present) ? '' : readAccessCode(code) };
  }
  const link = readLink(url, code);
  const columns = linkColumns(link);
  if (code === null) return { ...columns, access_code: '' };
  // The same link without its code keeps that code; another link does not.
  const keepsCode = code === undefined && link.accessCode === '' && link.key === present.link_key;
  return keepsCode ? { ...columns, access_code: present.access_code } : columns;
}
