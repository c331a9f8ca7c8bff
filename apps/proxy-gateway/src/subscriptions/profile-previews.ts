import type { Actor } from '@gatehouse/auth';
import type { ProfilePreview } from '@gatehouse/contracts';
import { SECRET_BOX, UnitOfWork } from '@gatehouse/persistence';
import type { SecretBox } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import type { ParsedSubscription } from '@gatehouse/subscription-formats';
import { Inject, Injectable } from '@nestjs/common';
import { refusePrivateSource } from '../auth/private-source.js';
import { SubscriptionEntity } from '../data/subscription.entity.js';
import { DocumentParser } from '../documents/document-parser.js';
import { readActive } from '../profiles/active-profile.js';
import { toProfileReport } from '../profiles/profile-report.js';
import { TakeProfile } from '../profiles/take-profile.js';
import { sealUrl } from '../sealed-url.js';
import { notFound } from './refresh-subscription.js';
import { ReplyReader } from './reply-reader.js';
import type { PreviewRequest } from './subscription.dto.js';

/** Says what taking a profile would do, from an address, a stored subscription or a text. Stores nothing. */
@Injectable()
export class ProfilePreviews {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly reader: ReplyReader,
    private readonly parser: DocumentParser,
    private readonly profiles: TakeProfile,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /**
   * @throws AppError INVALID_ARGUMENT without exactly one source; NOT_FOUND; FORBIDDEN for private addresses;
   * UPSTREAM_FAILED for a source that does not answer; UNPROCESSABLE for one that is no subscription.
   */
  async preview(body: PreviewRequest, actor: Actor | null): Promise<ProfilePreview> {
    const given = [body.url, body.subscription_id, body.text].filter((source) => source !== undefined);
    if (given.length !== 1) {
      const message = 'give exactly one of url, subscription_id and text';
      throw new AppError('INVALID_ARGUMENT', `url: ${message}`, { details: [{ field: 'url', message }] });
    }
    const owner = await this.ownerOf(body, actor);
    const document = await this.read(owner, body.text);
    return this.describe(owner, document);
  }

  /** The subscription that the profile has, or would have. */
  private async ownerOf(body: PreviewRequest, actor: Actor | null): Promise<SubscriptionEntity> {
    const { subscription_id: id, url = '', allow_private: allowPrivate = false } = body;
    if (id !== undefined) {
      const found = await this.unitOfWork.run((tx) => tx.findOneBy(SubscriptionEntity, { id }));
      if (!found) throw notFound(id);
      return found;
    }
    refusePrivateSource(actor, null, { allowPrivate, sealedUrl: null });
    return Object.assign(new SubscriptionEntity(), {
      id: 0,
      name: body.name ?? URL.parse(url)?.hostname ?? 'profile',
      sealedUrl: sealUrl(this.box, 'subscriptions', 0, url),
      type: body.type ?? 'auto',
      userAgent: body.user_agent || null,
      allowPrivate,
      etag: null,
      lastModified: null,
      contentSha256: null,
      workingUserAgent: null,
    });
  }

  private async read(owner: SubscriptionEntity, text: string | undefined): Promise<ParsedSubscription> {
    const document =
      text === undefined
        ? await this.fetched(owner)
        : await this.parser.parse(Buffer.from(text), { type: owner.type, profile: true });
    const problem = document.error?.message;
    if (problem === undefined) return document;
    throw new AppError('UNPROCESSABLE', `The profile cannot be used: ${problem}.`);
  }

  private async fetched(owner: SubscriptionEntity): Promise<ParsedSubscription> {
    const attempt = await this.reader.read(Object.assign(owner, { bringRules: true }), true);
    if (attempt.kind === 'read') return attempt.read.document;
    const reason = attempt.kind === 'failed' ? attempt.failure.message : 'The provider did not send the content.';
    throw new AppError('UPSTREAM_FAILED', reason);
  }

  private describe(owner: SubscriptionEntity, document: ParsedSubscription): Promise<ProfilePreview> {
    const { nodes, skipped, format, profile } = document;
    const names = namesOf(document);
    return this.unitOfWork.run(async (tx) => {
      // A node that is not stored has no tag; no group is called like this.
      const nodeTag = (name: string): string | null => (names.has(name) ? `node,${name}` : null);
      const plan = profile ? await this.profiles.plan(tx, owner, profile, nodeTag) : null;
      const groups = (plan?.groups ?? []).map(({ name, storedAs, type, members }) => ({
        name,
        stored_as: storedAs,
        type,
        listed: members.length,
      }));
      return {
        format,
        nodes: nodes.length,
        skipped_nodes: skipped.length,
        groups,
        report: toProfileReport(plan?.report ?? { sections: [], notes: [] }),
        active_subscription_id: (await readActive(tx)).activeProfile,
      };
    });
  }
}

/** The names that mean one node; one that several nodes have means none of them. */
function namesOf({ nodes, duplicates }: ParsedSubscription): ReadonlySet<string> {
  const times = new Map<string, number>();
  for (const { node } of nodes) times.set(node.name, (times.get(node.name) ?? 0) + 1);
  for (const { name } of duplicates) if (!times.has(name)) times.set(name, 1);
  return new Set([...times].filter(([, count]) => count === 1).map(([name]) => name));
}
