import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Application, IssuedCredential } from './application-rows.js';
import { ApplicationSecrets } from './application-secrets.service.js';
import { Applications, type NewApplication } from './applications.service.js';

/** Registers applications together with their first secret. */
@Injectable()
export class Registration {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly applications: Applications,
    private readonly secrets: ApplicationSecrets,
  ) {}

  /**
   * Public and native applications also get a secret, which clients of the contract's token path send as `X-API-Key`. It
   * proves nothing.
   */
  async register(
    ownerId: number,
    given: NewApplication,
  ): Promise<{ application: Application; issued: IssuedCredential }> {
    return this.unitOfWork.run(async (tx) => {
      const application = await this.applications.register(ownerId, given, tx);
      const issued = await this.secrets.rotate(ownerId, application.clientId, {}, tx);
      return { application, issued };
    });
  }
}
