import type { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { ApplicationSecrets } from '../../applications/application-secrets.service.js';
import { Applications } from '../../applications/applications.service.js';
import { ServiceDays, shiftDate } from '../../quota/service-days.js';
import { ResourceSharingSettings } from '../../settings.js';
import { SiteAccounts } from '../../site/site-accounts.service.js';
import { UsageReader } from '../../usage/usage-reader.js';
import type { FormValues } from '../parts/form-values.js';
import { Html } from '../parts/markup.js';
import type { Member } from '../parts/visitor.js';
import { applicationPage } from './application.view.js';

export interface ApplicationPageState {
  /** A secret at the only time when it can be read. */
  readonly shown?: Html;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

/** The page of one application, gathered for its owner. */
@Injectable()
export class ApplicationPages {
  constructor(
    private readonly applications: Applications,
    private readonly secrets: ApplicationSecrets,
    private readonly accounts: SiteAccounts,
    private readonly usage: UsageReader,
    private readonly days: ServiceDays,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /** Raises NOT_FOUND for an application of somebody else. */
  async render(visitor: Member, clientId: string, state: ApplicationPageState): Promise<{ name: string; body: Html }> {
    const application = await this.applications.ofOwner(visitor.account.id, clientId);
    const today = this.days.at().date;
    const range = { first: shiftDate(today, -29) ?? today, last: today };
    const subject = { applicationId: application.id, credentialId: 0, userId: null };
    const [secrets, names, usage] = await Promise.all([
      this.secrets.list(visitor.account.id, clientId),
      this.accounts.namesOf(application.testUserIds),
      this.usage.read(subject, range),
    ]);
    const facts = { application, secrets, testUsers: [...names.values()], usage, timeZone: this.settings.timeZone };
    return { name: application.name, body: applicationPage(visitor, facts, state) };
  }
}
