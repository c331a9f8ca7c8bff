import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { PasswordConfirmation } from '../site/password-confirmation.js';
import { Applications } from './applications.service.js';

/** Asks owners for their password before an application gets a secret that acts for them: it is a key by another name. */
@Injectable()
export class OwnerConfirmation {
  constructor(
    private readonly applications: Applications,
    private readonly password: PasswordConfirmation,
  ) {}

  /** `toBind`: the change lets it act for its owner. Raises what PasswordConfirmation does, and NOT_FOUND. */
  async beforeChange(
    ownerId: number,
    clientId: string,
    { toBind, password }: { toBind: boolean; password: string | undefined },
    request: Request,
  ): Promise<void> {
    if (toBind && !(await this.isBound(ownerId, clientId))) await this.password.confirm(ownerId, password, request);
  }

  /** Before it gets another secret. */
  async beforeSecret(ownerId: number, clientId: string, password: string | undefined, request: Request): Promise<void> {
    if (await this.isBound(ownerId, clientId)) await this.password.confirm(ownerId, password, request);
  }

  private async isBound(ownerId: number, clientId: string): Promise<boolean> {
    return (await this.applications.ofOwner(ownerId, clientId)).boundUserId === ownerId;
  }
}
