import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { PasswordConfirmation, type Proof } from '../site/password-confirmation.js';
import type { Application, IssuedCredential } from './application-rows.js';
import { ApplicationSecrets } from './application-secrets.service.js';
import { Applications } from './applications.service.js';
import type { ApplicationChange } from './application-writes.js';

/** The user, the application and the proof of a request. */
export interface OwnerRequest {
  readonly ownerId: number;
  readonly clientId: string;
  readonly proof: Proof;
  readonly request: Request;
}

/**
 * Asks owners for their password before an application gets a secret that acts for them, because such a secret is like
 * a personal key.
 */
@Injectable()
export class OwnerConfirmation {
  constructor(
    private readonly applications: Applications,
    private readonly secrets: ApplicationSecrets,
    private readonly password: PasswordConfirmation,
  ) {}

  /** Changes the application; needs the password to make it act for its owner. @throws the errors of both steps. */
  async update({ ownerId, clientId, proof, request }: OwnerRequest, change: ApplicationChange): Promise<Application> {
    if (change.boundToOwner !== true || (await this.isBound(ownerId, clientId))) {
      return this.applications.update(ownerId, clientId, change);
    }
    return this.password.during(ownerId, proof, request, (tx) =>
      this.applications.update(ownerId, clientId, change, tx),
    );
  }

  /** Creates another secret; needs the password if the application acts for its owner. */
  async rotate(
    { ownerId, clientId, proof, request }: OwnerRequest,
    overlapSeconds: number | undefined,
  ): Promise<IssuedCredential> {
    if (!(await this.isBound(ownerId, clientId))) return this.secrets.rotate(ownerId, clientId, { overlapSeconds });
    return this.password.during(ownerId, proof, request, (tx) =>
      this.secrets.rotate(ownerId, clientId, { overlapSeconds }, tx),
    );
  }

  private async isBound(ownerId: number, clientId: string): Promise<boolean> {
    return (await this.applications.ofOwner(ownerId, clientId)).boundUserId === ownerId;
  }
}
