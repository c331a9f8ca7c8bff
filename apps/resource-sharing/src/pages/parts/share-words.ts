import type { ShareLinkKind } from '@gatehouse/share-links';
import type { Visitor } from '../../wire/visitor.js';

/** Where the files of a share are, as people call it. */
export function storageName({ words }: Visitor, kind: ShareLinkKind): string {
  return words.text(`storage.${kind}`);
}

/** What unlocking a share costs. */
export function priceText({ words }: Visitor, points: number): string {
  return points === 0 ? words.text('common.free') : words.text('titles.points', { count: points });
}
