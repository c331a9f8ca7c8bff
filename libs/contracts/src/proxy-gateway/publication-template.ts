import type { ItemList } from './page.js';
import type { TemplateTarget } from './publication-target.js';

/** A document of one's own, into which the nodes of publications are put, in `GET /publication-templates`. */
export interface PublicationTemplateView {
  id: number;
  name: string;
  /** The format of the document, which stays. */
  target: TemplateTarget;
  /** Characters of the text. */
  size: number;
  /** Ids of the publications that use it. */
  publication_ids: number[];
  created_at: string;
  updated_at: string;
}

/** One template with its text, which is null for callers that may not see credentials. */
export interface PublicationTemplateDetail extends PublicationTemplateView {
  text: string | null;
}

/** `GET /publication-templates`. */
export type PublicationTemplateList = ItemList<PublicationTemplateView>;

/** `DELETE /publication-templates/{id}`. */
export interface PublicationTemplateDeleted {
  id: number;
  deleted: true;
}
