import { Injectable } from '@nestjs/common';
import { ApplicationSecrets } from '../../applications/application-secrets.service.js';
import { Applications } from '../../applications/applications.service.js';
import { SiteAccounts } from '../../site/site-accounts.service.js';
import { issuerOf } from '../../oauth/issuer.js';
import { RefusedCalls } from '../../refused-calls/refused-calls.js';
import { ResourceSharingSettings } from '../../settings.js';
import { Html } from '../parts/markup.js';
import type { Member } from '../../wire/visitor.js';
import { ApplicationUsage } from './application-usage.js';
import { applicationPage, type ApplicationPageState } from './application.view.js';

const SHOWN_ERRORS = 50;

/** The content of the page of one application, for its owner. */
@Injectable()
export class ApplicationPages {
  constructor(
    private readonly applications: Applications,
    private readonly secrets: ApplicationSecrets,
    private readonly accounts: SiteAccounts,
    private readonly usage: ApplicationUsage,
    private readonly refused: RefusedCalls,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /** @throws NOT_FOUND for another owner's application. */
  async render(visitor: Member, clientId: string, state: ApplicationPageState): Promise<{ name: string; body: Html }> {
    const application = await this.applications.ofOwner(visitor.account.id, clientId);
    const [secrets, names, usage, refused] = await Promise.all([
      this.secrets.list(visitor.account.id, clientId),
      this.accounts.namesOf(application.testUserIds),
      this.usage.recent(application, state.showsTestCalls ?? false),
      this.refused.newest(application.id, SHOWN_ERRORS),
    ]);
    const facts = {
      application,
      secrets,
      testUsers: [...names.values()],
      usage,
      refused,
      base: issuerOf(this.settings),
    };
    return { name: application.name, body: applicationPage(visitor, facts, state) };
  }
}
